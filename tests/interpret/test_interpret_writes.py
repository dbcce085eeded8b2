"""Laws 3, 4, 9 and 10: which elements are written, where they start, and in which order."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from interpreted import code_of, csr_program, f32, i32, program

from sparse_tir.interpret import OutOfRangeWriteWarning, interpret

NAN = np.nan


def test_a_stored_buffer_is_written_at_its_own_positions_only() -> None:
    func = csr_program(
        "I, J",
        """
        with S.iter([I, J], "SS", "scale") as [i, j]:
            Y[i, j] = A[i, j] * X[j]
        """,
    )
    y = f32(7, 7, 7)
    interpret(func, f32(1, 2, 3), f32(10, 100), y, i32(1, 2, 3), i32(0, 1, 0), 2, 2, 3)
    assert y.tolist() == [7, 200, 30]


def test_a_write_out_of_range_is_reported_and_not_performed() -> None:
    func = program(
        "y",
        "n r",
        """
        I = S.dense_fixed(n)
        R = S.dense_fixed(r)
        Y = S.match_sparse_buffer(y, (R,), "float32")
        with S.iter([I], "S", "spread") as [i]:
            with S.init():
                Y[i * 2 - 2] = T.float32(1)
            Y[i * 2 - 2] = Y[i * 2 - 2] + T.float32(4)
        """,
    )
    y = f32(7, 7, 7)
    with pytest.warns(OutOfRangeWriteWarning, match=r"2 elements out of range.*Y\[-2\]"):
        interpret(func, y, 4, 3)
    assert y.tolist() == [5, 7, 5]


def test_rows_without_entries_start_too_whatever_the_axis_order() -> None:
    for order, kinds in (("I, J, K", "SRS"), ("K, I, J", "SSR"), ("I, K, J", "SSR")):
        names = ", ".join(name.lower() for name in order.split(", "))
        func = program(
            "a b c indptr indices",
            "m n f nnz",
            f"""
            I = S.dense_fixed(m)
            J = S.sparse_variable(I, (n, nnz), (indptr, indices))
            D = S.dense_fixed(n)
            K = S.dense_fixed(f)
            A = S.match_sparse_buffer(a, (I, J), "float32")
            B = S.match_sparse_buffer(b, (D, K), "float32")
            C = S.match_sparse_buffer(c, (I, K), "float32")
            with S.iter([{order}], "{kinds}", "spmm") as [{names}]:
                with S.init():
                    C[i, k] = T.float32(0)
                C[i, k] = C[i, k] + A[i, j] * B[j, k]
            """,
        )
        c = np.full((3, 2), NAN, "float32")
        interpret(func, f32(2, 3), f32(1, 10, 5, 50).reshape(2, 2), c, i32(0, 0, 2, 2), i32(0, 1), 3, 2, 2, 2)
        assert c.tolist() == [[0, 0], [17, 170], [0, 0]], order


def test_the_output_domain_of_a_listed_row_axis_is_the_whole_range_of_rows() -> None:
    func = program(
        "a y rows indptr indices",
        "m n r nnz",
        """
        O = S.sparse_fixed(None, (m, r), rows)
        J = S.sparse_variable(O, (n, nnz), (indptr, indices))
        I = S.dense_fixed(m)
        A = S.match_sparse_buffer(a, (O, J), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([O, J], "SR", "sums") as [o, j]:
            with S.init():
                Y[o] = T.float32(-1)
            Y[o] = Y[o] + A[o, j]
        """,
    )
    y = np.full(4, NAN, "float32")
    interpret(func, f32(1, 2, 4), y, i32(1, 3), i32(0, 2, 3), i32(0, 1, 0), 4, 2, 2, 3)
    assert y.tolist() == [-1, 2, -1, 3]


def test_an_init_of_a_stored_output_covers_its_positions() -> None:
    func = csr_program(
        "I, J",
        """
        K = S.dense_fixed(2)
        with S.iter([I, J, K], "SSR", "twice") as [i, j, k]:
            with S.init():
                Y[i, j] = X[j]
            Y[i, j] = Y[i, j] + A[i, j]
        """,
    )
    y = f32(7, 7, 7)
    interpret(func, f32(1, 2, 3), f32(10, 100), y, i32(1, 1, 3), i32(0, 0, 1), 2, 2, 3)
    assert y.tolist() == [7, 14, 106]


def test_an_init_value_may_depend_on_the_element() -> None:
    func = csr_program(
        "D",
        """
        with S.iter([I, J], "RS", "columns") as [i, j]:
            with S.init():
                Y[j] = X[j] + T.float32(1)
            Y[j] = Y[j] + A[i, j]
        """,
    )
    y = f32(NAN, NAN, NAN)
    interpret(func, f32(1, 2), f32(10, 20, 30), y, i32(0, 1, 2), i32(1, 1), 2, 3, 2)
    assert y.tolist() == [11, 24, 31]


def test_elements_outside_of_the_image_keep_their_value() -> None:
    func = program(
        "x y",
        "m r",
        """
        I = S.dense_fixed(m)
        R = S.dense_fixed(r)
        X = S.match_sparse_buffer(x, (I,), "float32")
        Y = S.match_sparse_buffer(y, (R,), "float32")
        with S.iter([I], "R", "pool") as [i]:
            with S.init():
                Y[i // 2 + 1] = T.float32(100)
            Y[i // 2 + 1] = Y[i // 2 + 1] + X[i]
        """,
    )
    y = f32(7, 7, 7, 7)
    interpret(func, f32(1, 2, 4), y, 3, 4)
    assert y.tolist() == [7, 103, 104, 7]


def test_without_init_a_fold_starts_from_what_is_there() -> None:
    func = csr_program(
        "I",
        """
        with S.iter([I, J], "SR", "add") as [i, j]:
            Y[i] = Y[i] + A[i, j]
        """,
    )
    y = f32(100, 200)
    interpret(func, f32(1, 2), f32(0, 0), y, i32(0, 2, 2), i32(0, 1), 2, 2, 2)
    assert y.tolist() == [103, 200]


def test_with_all_axes_spatial_an_element_starts_and_folds_once() -> None:
    func = csr_program(
        "I, D",
        """
        with S.iter([I, J], "SS", "place") as [i, j]:
            with S.init():
                Y[i, j] = T.float32(-1)
            Y[i, j] = Y[i, j] + A[i, j]
        """,
    )
    y = np.full((2, 2), NAN, "float32")
    interpret(func, f32(5), f32(0, 0), y, i32(0, 0, 1), i32(1), 2, 2, 1)
    assert y.tolist() == [[-1, -1], [-1, 4]]


def test_a_position_dependent_subscript_takes_its_image_from_the_positions() -> None:
    func = program(  # scatter through a stored map: the default of the map is no place of its own
        "p y indptr indices",
        "m n nnz r",
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        R = S.dense_fixed(r)
        P = S.match_sparse_buffer(p, (I, J), "int32")
        Y = S.match_sparse_buffer(y, (R,), "float32")
        with S.iter([I, J], "RR", "count") as [i, j]:
            with S.init():
                Y[P[i, j]] = T.float32(0)
            Y[P[i, j]] = Y[P[i, j]] + T.float32(1)
        """,
    )
    y = f32(7, 7, 7, 7)
    interpret(func, i32(3, 1, 3), y, i32(0, 1, 3), i32(2, 0, 1), 2, 3, 3, 4)
    assert y.tolist() == [7, 1, 7, 2]


def test_subtracting_and_adding_terms_is_a_sum() -> None:
    func = csr_program(
        "I",
        """
        with S.iter([I, J], "SR", "sums") as [i, j]:
            Y[i] = X[j] + Y[i] - A[i, j]
        """,
    )
    y = f32(100)
    interpret(func, f32(1, 2), f32(10, 20), y, i32(0, 2), i32(0, 1), 1, 2, 2)
    assert y.tolist() == [127]


def test_the_written_element_may_be_read_twice() -> None:
    func = csr_program(
        "I, J",
        """
        with S.iter([I, J], "SS", "square") as [i, j]:
            Y[i, j] = Y[i, j] * Y[i, j] + A[i, j]
        """,
    )
    y = f32(2, 3)
    interpret(func, f32(1, 1), f32(0, 0), y, i32(0, 2), i32(0, 1), 1, 2, 2)
    assert y.tolist() == [5, 10]


def test_statements_and_inner_iterations_run_in_order() -> None:
    func = program(
        "a w y indptr indices",
        "m n nnz",
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        A = S.match_sparse_buffer(a, (I, J), "float32")
        M = S.match_sparse_buffer(w, (I,), "float32")
        Y = S.match_sparse_buffer(y, (I, J), "float32")
        with S.iter([I], "S", "rows") as [i]:
            with S.iter([J], "R", "largest") as [j]:
                with S.init():
                    M[i] = T.float32("-inf")
                M[i] = T.max(M[i], A[i, j])
            with S.iter([J], "S", "shifted") as [j]:
                Y[i, j] = A[i, j] - M[i]
        with S.iter([I, J], "SS", "again") as [i, j]:
            Y[i, j] = Y[i, j] * T.float32(2)
        """,
    )
    w, y = f32(NAN, NAN, NAN), f32(7, 7, 7)
    out = interpret(func, f32(1, 4, 9), w, y, i32(0, 2, 2, 3), i32(0, 1, 0), 3, 2, 3)
    assert w.tolist() == [4, -np.inf, 9]
    assert y.tolist() == [-6, 0, 0]
    assert out["M"] is w
    assert out["Y"] is y


@pytest.mark.parametrize(
    ("code", "y", "statements"),
    [
        ("ST402", "D", 'with S.iter([D], "S", "w") as [j]:\n    Y[j] = A[0, j]'),
        ("ST403", "I, J", 'with S.iter([I, D], "SS", "w") as [i, j]:\n    Y[i, j] = X[j]'),
        ("ST404", "I, J", 'with S.iter([I, J], "SR", "w") as [i, j]:\n    Y[i, j] = X[j]'),
        ("ST207", "D", 'with S.iter([J], "S", "w") as [j]:\n    Y[j] = X[j]'),
    ],
)
def test_the_interpreter_runs_nothing_without_a_meaning(
    code: str, y: str, statements: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_verifier(monkeypatch, "script.parser", "interpret.interpreter")
    func = csr_program(y, statements, flags=", unique=False")
    y_array = np.zeros(2 if y == "D" else 1, "float32")
    assert code_of(lambda: interpret(func, f32(1), f32(2, 3), y_array, i32(0, 1), i32(1), 1, 2, 1)) == code


@pytest.mark.parametrize("statement", ["Y[i] = P[i]", "P[i] = Y[i]"])
def test_arrays_that_are_no_sparse_buffers_are_refused(
    statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_verifier(monkeypatch, "script.parser", "interpret.interpreter")
    func = program(
        "y",
        "P:Buffer((2,),'int32')",
        f"""
        I = S.dense_fixed(2)
        Y = S.match_sparse_buffer(y, (I,), "int32")
        with S.iter([I], "S", "copy") as [i]:
            {statement}
        """,
    )
    assert code_of(lambda: interpret(func, i32(1, 2), i32(3, 4))) == "ST411"


def test_the_laws_are_verified_before_a_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    race = """
    with S.iter([I, J], "SS", "race") as [i, j]:
        Y[j] = Y[j] + A[i, j]
    """
    with monkeypatch.context() as patch:
        _without_verifier(patch, "script.parser")
        func = csr_program("D", race)
    assert code_of(lambda: interpret(func, f32(1), f32(2), f32(3), i32(0, 1), i32(0), 1, 1, 1)) == "ST408"


def _without_verifier(patch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        patch.setattr(importlib.import_module(f"sparse_tir.{module}"), "verify", lambda func: None)
