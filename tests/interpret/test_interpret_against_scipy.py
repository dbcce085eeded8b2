"""Common kernels on awkward patterns: the interpreter against SciPy and dense NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreted import csr_program, i32, program
from numpy.typing import NDArray

from sparse_tir.interpret import interpret

SMALL = settings(derandomize=True, deadline=None, max_examples=25)

SPMV = csr_program(
    "I",
    """
    with S.iter([I, J], "SR", "spmv") as [i, j]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j] * X[j]
    """,
)
CSC = csr_program(  # the transpose: J holds rows, the rows of the pattern are columns
    "D",
    """
    with S.iter([I, J], "RS", "csc_spmv") as [i, j]:
        with S.init():
            Y[j] = T.float32(0)
        Y[j] = Y[j] + A[i, j]
    """,
)
SEARCH = csr_program(
    "I",
    """
    with S.iter([I, D], "SR", "search") as [i, j]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j] * X[j]
    """,
    flags=", sorted=False",
)
SPMM = program(
    "a b c indptr indices",
    "m n f nnz",
    """
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    D = S.dense_fixed(n)
    K = S.dense_fixed(f)
    A = S.match_sparse_buffer(a, (I, J), "float32")
    B = S.match_sparse_buffer(b, (D, K), "float32")
    C = S.match_sparse_buffer(c, (I, K), "float32")
    with S.iter([I, J, K], "SRS", "spmm") as [i, j, k]:
        with S.init():
            C[i, k] = T.float32(0)
        C[i, k] = C[i, k] + A[i, j] * B[j, k]
    """,
)
BSR = program(
    "a b c indptr indices",
    "m n f nnz s",
    """
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    D = S.dense_fixed(n)
    P = S.dense_fixed(s)
    Q = S.dense_fixed(s)
    K = S.dense_fixed(f)
    A = S.match_sparse_buffer(a, (I, J, P, Q), "float32")
    B = S.match_sparse_buffer(b, (D, Q, K), "float32")
    C = S.match_sparse_buffer(c, (I, P, K), "float32")
    with S.iter([I, P, Q, K, J], "SSRSR", "bsr_spmm") as [i, p, q, k, j]:
        with S.init():
            C[i, p, k] = T.float32(0)
        C[i, p, k] = C[i, p, k] + A[i, j, p, q] * B[j, q, k]
    """,
)
DCSR = program(
    "a x y rows indptr indices",
    "m n r nnz",
    """
    O = S.sparse_fixed(None, (m, r), rows)
    J = S.sparse_variable(O, (n, nnz), (indptr, indices))
    I = S.dense_fixed(m)
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (O, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([O, J], "SR", "dcsr_spmv") as [o, j]:
        with S.init():
            Y[o] = T.float32(0)
        Y[o] = Y[o] + A[o, j] * X[j]
    """,
)
ELL = program(
    "a x y indices",
    "m n w",
    """
    I = S.dense_fixed(m)
    J = S.sparse_fixed(I, (n, w), indices)
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I, J], "SR", "ell_spmv") as [i, j]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j] * X[j]
    """,
)
SEGMENTS = program(
    "x y indptr",
    "s length nnz f",
    """
    I = S.dense_fixed(s)
    L = S.dense_variable(I, (length, nnz), indptr)
    F = S.dense_fixed(f)
    X = S.match_sparse_buffer(x, (I, L, F), "float32")
    Y = S.match_sparse_buffer(y, (I, F), "float32")
    with S.iter([I, F, L], "SSR", "segment_max") as [i, q, l]:
        with S.init():
            Y[i, q] = T.float32(-100)
        Y[i, q] = T.max(Y[i, q], X[i, l, q])
    """,
)


@dataclass(frozen=True)
class Pattern:
    """A CSR pattern with a dead head that holds garbage."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    n: int

    @property
    def m(self) -> int:
        return self.indptr.size - 1

    @property
    def nnz(self) -> int:
        return self.indices.size

    def values(self, *block: int) -> NDArray[np.float32]:
        """Small integers, so that float32 sums are exact; NaN in the dead head."""
        shape = (self.nnz, *block)
        values = (np.arange(np.prod(shape)) % 7 - 3).astype("float32").reshape(shape)
        values[: self.indptr[0]] = np.nan
        return values

    def dense(self) -> NDArray[np.float32]:
        """What the pattern and `values` mean."""
        start = int(self.indptr[0])
        live = self.values()[start:], self.indices[start:], self.indptr - start
        return sp.csr_array(live, shape=(self.m, self.n)).toarray()


@st.composite
def patterns(draw: Any) -> Pattern:
    n = draw(st.integers(0, 5))
    full = st.just(list(range(n)))  # a hub row
    some = st.lists(st.integers(0, n - 1), unique=True, max_size=3) if n else st.just([])
    rows = [sorted(row) for row in draw(st.lists(st.one_of(some, full), max_size=5))]
    head = draw(st.integers(0, 2))
    indptr = np.cumsum([head, *map(len, rows)]).astype("int32")
    indices = np.array([-9] * head + [column for row in rows for column in row], "int32")
    return Pattern(indptr, indices, n)


def operand(*shape: int) -> NDArray[np.float32]:
    return (np.arange(np.prod(shape)) % 5 - 2).astype("float32").reshape(shape)


def blank(*shape: int) -> NDArray[np.float32]:
    return np.full(shape, np.nan, "float32")


@SMALL
@given(patterns())
def test_spmv_and_its_transpose(p: Pattern) -> None:
    x, y, columns = operand(p.n), blank(p.m), blank(p.n)
    interpret(SPMV, p.values(), x, y, p.indptr, p.indices, p.m, p.n, p.nnz)
    np.testing.assert_array_equal(y, p.dense() @ x)
    interpret(CSC, p.values(), x, columns, p.indptr, p.indices, p.m, p.n, p.nnz)
    np.testing.assert_array_equal(columns, p.dense().sum(0))


@SMALL
@given(patterns())
def test_spmv_by_search_of_unsorted_rows(p: Pattern) -> None:
    x, y = operand(p.n), blank(p.m)
    values, indices = p.values(), p.indices.copy()
    for begin, end in zip(p.indptr[:-1], p.indptr[1:], strict=True):
        values[begin:end], indices[begin:end] = (
            values[begin:end][::-1].copy(),
            indices[begin:end][::-1].copy(),
        )
    interpret(SEARCH, values, x, y, p.indptr, indices, p.m, p.n, p.nnz)
    np.testing.assert_array_equal(y, p.dense() @ x)


@SMALL
@given(patterns(), st.integers(0, 2))
def test_spmm(p: Pattern, f: int) -> None:
    b, c = operand(p.n, f), blank(p.m, f)
    interpret(SPMM, p.values(), b, c, p.indptr, p.indices, p.m, p.n, f, p.nnz)
    np.testing.assert_array_equal(c, p.dense() @ b)


@SMALL
@given(patterns(), st.integers(1, 2))
def test_bsr_spmm(p: Pattern, s: int) -> None:
    a, b, c = p.values(s, s), operand(p.n, s, 2), blank(p.m, s, 2)
    expected = np.zeros_like(c)
    for row in range(p.m):
        for place in range(p.indptr[row], p.indptr[row + 1]):
            expected[row] += a[place] @ b[p.indices[place]]
    interpret(BSR, a, b, c, p.indptr, p.indices, p.m, p.n, 2, p.nnz, s)
    np.testing.assert_array_equal(c, expected)


@SMALL
@given(patterns())
def test_dcsr_spmv(p: Pattern) -> None:
    rows = 2 * np.arange(p.m, dtype="int32") + 1
    x, y = operand(p.n), blank(2 * p.m + 2)
    interpret(DCSR, p.values(), x, y, rows, p.indptr, p.indices, y.size, p.n, p.m, p.nnz)
    expected = np.zeros_like(y)
    expected[rows] = p.dense() @ x
    np.testing.assert_array_equal(y, expected)


@SMALL
@given(patterns(), st.integers(0, 2))
def test_ell_spmv(p: Pattern, spare: int) -> None:
    width = int(np.diff(p.indptr).max(initial=0)) + spare
    indices = np.full((p.m, width), p.n, "int32")
    values = np.full((p.m, width), np.nan, "float32")
    for row, (begin, end) in enumerate(zip(p.indptr[:-1], p.indptr[1:], strict=True)):
        indices[row, : end - begin] = p.indices[begin:end]
        values[row, : end - begin] = p.values()[begin:end]
    x, y = operand(p.n), blank(p.m)
    interpret(ELL, values, x, y, indices.ravel(), p.m, p.n, width)
    np.testing.assert_array_equal(y, p.dense() @ x)


@SMALL
@given(patterns())
def test_segment_maximum(p: Pattern) -> None:
    x, y = p.values(2), blank(p.m, 2)
    interpret(SEGMENTS, x, y, p.indptr, p.m, p.n, p.nnz, 2)
    for row in range(p.m):
        segment = x[p.indptr[row] : p.indptr[row + 1]]
        np.testing.assert_array_equal(y[row], segment.max(0, initial=-100))


def test_a_pattern_of_no_rows_leaves_everything_alone() -> None:
    y = blank(0)
    interpret(SPMV, operand(1), operand(0), y, i32(1), i32(5), 0, 0, 1)
    assert y.size == 0
