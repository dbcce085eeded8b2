"""Laws 1, 2 and 6: which positions a body visits and what a subscript reads."""

from __future__ import annotations

import numpy as np
import pytest
from interpreted import code_of, csr_program, f32, i32, program

from sparse_tir.interpret import interpret

NAN, INF = np.nan, np.inf
SPMV = """
with S.iter([I, J], "SR", "spmv") as [i, j]:
    with S.init():
        Y[i] = T.float32(0)
    Y[i] = Y[i] + A[i, j] * X[j]
"""
DENSIFY = """
with S.iter([I, D], "SS", "densify") as [i, j]:
    Y[i, j] = A[i, j]
"""


def test_a_repeated_coordinate_runs_the_body_once_per_position() -> None:
    func = csr_program("I", SPMV, flags=", unique=False")
    y = f32(NAN, NAN)
    interpret(func, f32(1, 2, 4, 8), f32(10, 100), y, i32(0, 3, 4), i32(1, 1, 1, 0), 2, 2, 4)
    assert y.tolist() == [700, 80]


def test_a_dead_head_is_never_touched() -> None:
    y = f32(NAN, NAN)
    interpret(csr_program("I", SPMV), f32(NAN, INF, 3), f32(1, 2), y, i32(2, 3, 3), i32(-7, 99, 1), 2, 2, 3)
    assert y.tolist() == [6, 0]


def test_a_search_finds_hits_and_gives_the_default_at_misses() -> None:
    func = csr_program("I, D", DENSIFY, default=", default=-1")
    y = np.full((2, 3), 7, "float32")
    interpret(func, f32(5, 6), f32(0, 0, 0), y, i32(0, 2, 2), i32(0, 2), 2, 3, 2)
    assert y.tolist() == [[5, -1, 6], [-1, -1, -1]]


def test_a_search_works_on_an_unsorted_axis() -> None:
    func = csr_program("I, D", DENSIFY, flags=", sorted=False")
    y = np.full((1, 4), 7, "float32")
    interpret(func, f32(1, 2, 3), f32(0, 0, 0, 0), y, i32(0, 3), i32(3, 0, 2), 1, 4, 3)
    assert y.tolist() == [[2, 0, 3, 1]]


def test_a_search_on_an_axis_that_is_not_unique_is_refused() -> None:
    assert code_of(lambda: csr_program("I, D", DENSIFY, flags=", unique=False")) == "ST402"


def test_a_default_that_is_not_a_number_obeys_ieee() -> None:
    func = csr_program(
        "I, D",
        """
        with S.iter([I, D], "SS", "scale") as [i, j]:
            Y[i, j] = A[i, j] * X[j]
        """,
        default=', default=T.float32("nan")',
    )
    y = np.zeros((1, 2), "float32")
    interpret(func, f32(0), f32(0, INF), y, i32(0, 1), i32(1), 1, 2, 1)
    assert np.isnan(y).all()  # NaN * 0 at the miss, 0 * Inf at the hit


@pytest.mark.parametrize("shift", [-4, -1, 1, 4])
def test_a_read_outside_the_range_of_a_dense_axis_gives_the_default(shift: int) -> None:
    func = program(
        "x y",
        "n by",
        """
        I = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (I,), "float32", default=-9)
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I], "S", "shift") as [i]:
            Y[i] = X[i + by]
        """,
    )
    y = f32(0, 0, 0)
    interpret(func, f32(1, 2, 3), y, 3, shift)
    assert y.tolist() == [[1, 2, 3][i + shift] if 0 <= i + shift < 3 else -9 for i in range(3)]


def test_a_ragged_row_ends_where_the_next_begins() -> None:
    func = program(
        "x y indptr",
        "b length nnz",
        """
        B = S.dense_fixed(b)
        L = S.dense_variable(B, (length, nnz), indptr)
        X = S.match_sparse_buffer(x, (B, L), "float32", default=-5)
        Y = S.match_sparse_buffer(y, (B, L), "float32")
        with S.iter([B, L], "SS", "shift") as [i, l]:
            Y[i, l] = X[i, l + 1]
        """,
    )
    y = f32(0, 0, 0)
    interpret(func, f32(1, 2, 3), y, i32(0, 2, 2, 3), 3, 2, 3)
    assert y.tolist() == [2, -5, -5]


def test_an_own_iterator_under_another_parent_is_searched() -> None:
    func = csr_program(
        "I, J",
        """
        with S.iter([I, J], "SS", "mirror") as [i, j]:
            Y[i, j] = A[m - 1 - i, j]
        """,
    )
    y = f32(7, 7, 7)
    interpret(func, f32(1, 2, 3), f32(0, 0), y, i32(0, 2, 3), i32(0, 1, 1), 2, 2, 3)
    assert y.tolist() == [0, 3, 2]


def test_padding_is_not_visited_and_not_found() -> None:
    func = program(
        "a x y d indices",
        "m n",
        """
        I = S.dense_fixed(m)
        J = S.sparse_fixed(I, (n, 2), indices)
        D = S.dense_fixed(n)
        A = S.match_sparse_buffer(a, (I, J), "float32")
        X = S.match_sparse_buffer(x, (D,), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        Z = S.match_sparse_buffer(d, (I,), "float32")
        with S.iter([I, J], "SR", "ell_spmv") as [i, j]:
            with S.init():
                Y[i] = T.float32(0)
            Y[i] = Y[i] + A[i, j] * X[j]
        with S.iter([I], "S", "beyond") as [i]:
            Z[i] = A[i, n]
        """,
    )
    y, z = f32(NAN, NAN), f32(7, 7)
    interpret(func, a=f32(3, NAN, NAN, INF), x=f32(10, INF), y=y, Z=z, indices=i32(0, 2, 2, 2), m=2, n=2)
    assert y.tolist() == [30, 0]
    assert z.tolist() == [0, 0]


def test_an_explicit_zero_contributes() -> None:
    y = f32(7, 7)
    interpret(csr_program("I", SPMV), f32(0, 1), f32(INF, 2), y, i32(0, 1, 2), i32(0, 1), 2, 2, 2)
    assert np.isnan(y[0])
    assert y[1] == 2


def test_a_pattern_shared_by_heads_has_one_run_of_values_per_head() -> None:
    func = program(
        "a y indptr indices",
        "h m n nnz",
        """
        H = S.dense_fixed(h)
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int64")
        A = S.match_sparse_buffer(a, (H, I, J), "float32")
        Y = S.match_sparse_buffer(y, (I, H), "float32")
        with S.iter([I, J, H], "SRS", "sums") as [i, j, q]:
            with S.init():
                Y[i, q] = T.float32(0)
            Y[i, q] = Y[i, q] + A[q, i, j]
        """,
    )
    y = np.full((2, 2), NAN, "float32")
    structure = np.array([0, 2, 3]), np.array([0, 1, 0])
    interpret(func, f32(1, 2, 3, 10, 20, 30).reshape(2, 3), y, *structure, 2, 2, 2, 3)
    assert y.tolist() == [[3, 30], [3, 30]]


def test_slots_of_a_fixed_axis_apart_from_its_parent_select_by_slot() -> None:
    func = program(  # row tile, group of the tile, row in the tile, slot of the group
        "a y indptr cols",
        "t g n",
        """
        R = S.dense_fixed(t)
        G = S.dense_variable(R, (g, g), indptr)
        P = S.dense_fixed(2)
        L = S.sparse_fixed(G, (n, 2), cols)
        A = S.match_sparse_buffer(a, (R, G, P, L), "float32")
        Y = S.match_sparse_buffer(y, (R, P), "float32")
        with S.iter([R, G, P, L], "SRSR", "rows") as [r, q, p, l]:
            with S.init():
                Y[r, p] = T.float32(0)
            Y[r, p] = Y[r, p] + A[r, q, p, l]
        """,
    )
    y = np.full((1, 2), NAN, "float32")
    a = f32(1, 2, 3, 4, 10, 99, 30, 99).reshape(2, 2, 2)  # the second group has one entry
    interpret(func, a, y, i32(0, 2), i32(0, 3, 1, 5), 1, 2, 5)
    assert y.tolist() == [[13, 37]]
