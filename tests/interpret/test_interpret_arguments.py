"""How arguments are matched to parameters, and which arguments are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from interpreted import code_of, csr_program, f32, i32, program

from sparse_tir.interpret import interpret
from sparse_tir.interpret.axes import storage_dims
from sparse_tir.ir import iterations

SPMV = csr_program(
    "I",
    """
    with S.iter([I, J], "SR", "spmv") as [i, j]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j] * X[j]
    """,
)
BSR = program(
    "a y indptr indices",
    "m n nnz b",
    """
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    P = S.dense_fixed(b)
    Q = S.dense_fixed(b)
    A = S.match_sparse_buffer(a, (I, J, P, Q), "float32")
    Y = S.match_sparse_buffer(y, (I, P), "float32")
    with S.iter([I, J, P, Q], "SRSR", "sums") as [i, j, p, q]:
        with S.init():
            Y[i, p] = T.float32(0)
        Y[i, p] = Y[i, p] + A[i, j, p, q]
    """,
)


def arguments(**changes: Any) -> dict[str, Any]:
    """A good call of SPMV: 2 x 3 with 3 entries, with some arguments replaced."""
    good = {
        "A": f32(1, 2, 3), "X": f32(1, 10, 100), "Y": f32(7, 7),
        "indptr": i32(0, 2, 3), "indices": i32(0, 2, 1), "m": 2, "n": 3, "nnz": 3,
    }  # fmt: skip
    return good | changes


def test_arguments_match_in_order_by_name_and_by_handle() -> None:
    expected = [201, 30]
    by_name = arguments()
    out = interpret(SPMV, **by_name)
    assert out["Y"] is by_name["Y"]
    assert list(out) == ["Y"]
    assert by_name["Y"].tolist() == expected
    in_order = list(arguments().values())
    interpret(SPMV, *in_order)
    assert in_order[2].tolist() == expected
    mixed = arguments()
    interpret(SPMV, mixed.pop("A"), x=mixed.pop("X"), y=mixed.pop("Y"), **mixed)


def test_operands_that_are_not_outputs_are_unchanged() -> None:
    call, before = arguments(), arguments()
    interpret(SPMV, **call)
    for name in ("A", "X", "indptr", "indices"):
        assert np.array_equal(call[name], before[name])


def test_storage_dimensions_are_those_of_the_buffers() -> None:
    for func in (SPMV, BSR):
        for buffer in iterations(func)[0].buffers:
            extents = [dim.extent for dim in storage_dims(buffer.axes)]
            assert len(extents) == len(buffer.storage_shape)
            assert all(map(tvm_ffi.structural_equal, extents, buffer.storage_shape))


def test_value_arrays_may_be_flat_or_in_storage_shape() -> None:
    values = np.arange(8, dtype="float32")
    for a in (values, values.reshape(2, 2, 2)):
        for y in (np.zeros(4, "float32"), np.zeros((2, 2), "float32")):
            interpret(BSR, a, y, i32(0, 1, 2), i32(0, 0), 2, 1, 2, 2)
            assert y.ravel().tolist() == [1, 5, 9, 13]


def test_strided_arrays_are_written_in_place() -> None:
    y = np.full(8, 7, "float32")
    interpret(BSR, np.ones(8, "float32"), y[::2], i32(0, 1, 2), i32(0, 0), 2, 1, 2, 2)
    assert y.tolist() == [2, 7, 2, 7, 2, 7, 2, 7]


def test_an_extent_that_is_no_parameter_comes_from_the_arrays() -> None:
    func = program(
        "x y",
        "",
        """
        n = T.int32()
        I = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (I,), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I], "S", "copy") as [i]:
            Y[i] = X[i]
        """,
    )
    y = f32(0, 0)
    interpret(func, f32(1, 2), y)
    assert y.tolist() == [1, 2]
    assert code_of(lambda: interpret(func, f32(1, 2), f32(0))) == "ST151"


def test_a_scalar_may_be_a_float() -> None:
    func = program(
        "y",
        "n alpha:float32",
        """
        I = S.dense_fixed(n)
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I], "S", "scale") as [i]:
            Y[i] = Y[i] * alpha
        """,
    )
    y = f32(1, 2)
    interpret(func, y, np.int64(2), 1.5)
    assert y.tolist() == [1.5, 3]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("ST150", {"A": [1.0, 2.0, 3.0]}),
        ("ST151", {"X": f32(1, 10)}),
        ("ST151", {"Y": np.zeros((1, 2), "float32")}),
        ("ST151", {"m": -1}),
        ("ST152", {"A": np.zeros(3, "float64")}),
        ("ST152", {"indptr": np.array([0, 2, 3], "int64")}),
        ("ST158", {"m": 2.0}),
        ("ST158", {"m": 2**31}),
        ("ST157", {"B": f32(1)}),
        ("ST102", {"indptr": i32(0, 3)}),
        ("ST102", {"indices": i32(0, 1)}),
        ("ST103", {"indptr": i32(-1, 2, 3)}),
        ("ST103", {"indptr": i32(4, 2, 3)}),
        ("ST104", {"indptr": i32(0, 1, 2)}),
        ("ST105", {"indices": i32(0, 3, 1)}),
        ("ST105", {"indices": i32(0, 2, -1)}),
        ("ST108", {"indices": i32(2, 0, 1)}),
        ("ST108", {"indices": i32(2, 2, 1)}),
    ],
)
def test_a_bad_argument_is_refused_with_its_code(code: str, changes: dict[str, Any]) -> None:
    call = arguments(**changes)
    assert code_of(lambda: interpret(SPMV, **call)) == code
    assert np.all(arguments()["Y"] == 7)


def test_missing_surplus_and_repeated_arguments_are_refused() -> None:
    good = arguments()
    assert code_of(lambda: interpret(SPMV, good["A"])) == "ST157"
    assert code_of(lambda: interpret(SPMV, *good.values(), 0)) == "ST157"
    assert code_of(lambda: interpret(SPMV, *good.values(), m=2)) == "ST157"


def test_an_output_must_be_writable_and_have_memory_of_its_own() -> None:
    read_only = f32(7, 7)
    read_only.flags.writeable = False
    assert code_of(lambda: interpret(SPMV, **arguments(Y=read_only))) == "ST153"
    shared = f32(1, 10, 100)
    assert code_of(lambda: interpret(SPMV, **arguments(X=shared, Y=shared[:2]))) == "ST154"


def _ragged(rows: int, length: int) -> Callable[[], Any]:
    func = program(
        "y indptr",
        "b length nnz",
        """
        B = S.dense_fixed(b)
        L = S.dense_variable(B, (length, nnz), indptr)
        Y = S.match_sparse_buffer(y, (B, L), "float32")
        with S.iter([B, L], "SS", "ones") as [i, l]:
            Y[i, l] = T.float32(1)
        """,
    )
    return lambda: interpret(func, np.zeros(rows, "float32"), i32(0, rows), 1, length, rows)


def test_a_ragged_row_longer_than_the_axis_is_refused() -> None:
    _ragged(3, 3)()
    assert code_of(_ragged(3, 2)) == "ST105"


def test_rows_that_no_iteration_can_reach_are_not_checked() -> None:
    func = program(  # the first entry of J is a dead head, so the rows under it are dead too
        "a y p i1 q i2",
        "m",
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (4, 2), (p, i1))
        K = S.sparse_variable(J, (4, 4), (q, i2))
        A = S.match_sparse_buffer(a, (I, J, K), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I, J, K], "SRR", "sums") as [i, j, k]:
            with S.init():
                Y[i] = T.float32(0)
            Y[i] = Y[i] + A[i, j, k]
        """,
    )
    y = f32(7)
    interpret(func, f32(9, 9, 1, 2), y, i32(1, 2), i32(-5, 3), i32(0, 2, 4), i32(8, 8, 1, 3), 1)
    assert y.tolist() == [3]


def test_what_is_not_one_function_is_refused() -> None:
    assert code_of(lambda: interpret(3)) == "ST159"  # type: ignore[arg-type]
    assert code_of(lambda: interpret(SPMV.with_attr("sparse_tir.stage", "elsewhere"))) == "ST420"
