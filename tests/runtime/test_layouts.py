"""Foreign sparse objects: each layout keeps its meaning, and broken ones are refused before they crash."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from border import LAYOUTS, attempt, code_of, dense, raw
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_tir import errors
from sparse_tir.runtime.matrix import asarray


def broken(layout: str, **attributes: Any) -> Any:
    matrix = sp.coo_array(np.arange(1.0, 7.0).reshape(2, 3)).asformat(layout)
    for name, value in attributes.items():
        setattr(matrix, name, value)
    return matrix


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("shape", [(4, 6), (0, 4), (4, 0), (1, 1)])
def test_every_scipy_layout_keeps_its_meaning(layout: str, kind: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    full = rng.integers(-3, 4, shape).astype(np.float32)
    given_matrix = kind(full).asformat(layout)
    matrix = asarray(given_matrix)
    assert dense(matrix) == full.tolist()
    assert matrix.shape == shape
    assert matrix.dtype == np.float32
    assert matrix.pattern.is_validated
    assert matrix.indptr.dtype == matrix.indices.dtype == np.int32
    assert matrix.to_scipy().toarray().tolist() == full.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_a_matrix_without_entries_have_the_strides_that_kernels_check(layout: str) -> None:
    matrix = asarray(sp.coo_array((3, 4), dtype=np.float32).asformat(layout))
    sliced = asarray(raw([2, 2], [9, 9], [1, 2], (1, 3)))
    for array in (matrix.indices, matrix.data, sliced.canonical.indices, sliced.canonical.data):
        assert array.shape == (0,)
        assert array.strides == (array.dtype.itemsize,)


def test_coo_keeps_its_repeats_and_their_order() -> None:
    coo = sp.coo_array((np.array([1.0, 2.0, 3.0, 4.0]), ([1, 0, 1, 1], [2, 0, 2, 0])), shape=(2, 3))
    matrix = asarray(coo)
    assert matrix.data.tolist() == [2, 1, 3, 4]
    assert matrix.indices.tolist() == [0, 2, 2, 0]
    assert dense(matrix.canonical) == [[2, 0, 0], [4, 0, 4]]


def test_coo_in_row_order_is_not_copied() -> None:
    coo = sp.coo_array((np.array([1.0, 2.0]), ([0, 1], [2, 0])), shape=(2, 3))
    matrix = asarray(coo)
    assert np.shares_memory(matrix.data, coo.data)
    assert np.shares_memory(matrix.indices, coo.col)


def test_explicit_zeros_are_stored_except_the_fill_of_diagonals() -> None:
    zero = sp.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    for layout in ("csr", "csc", "coo", "bsr", "lil"):
        assert asarray(zero.asformat(layout)).nnz == 2, layout
    diagonals = sp.dia_array((np.array([[1.0, 0.0, 0.0], [9.0, 5.0, 6.0]]), [0, 1]), shape=(2, 3))
    assert asarray(diagonals).nnz == 3
    assert dense(asarray(diagonals)) == [[1, 5, 0], [0, 0, 6]]


def test_blocks_behind_a_dead_head_are_read() -> None:
    bsr = sp.bsr_array(np.arange(24.0).reshape(4, 6), blocksize=(2, 3))
    bsr.indptr = np.array([1, 2, 4], dtype=np.int32)
    full = [[3, 4, 5, 0, 0, 0], [9, 10, 11, 0, 0, 0], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]
    bsr.indices = np.array([99, 0, 0, 1], dtype=np.int32)
    assert dense(asarray(bsr)) == full


def test_columns_behind_a_dead_head_are_read() -> None:
    csc = sp.csc_array((2, 2), dtype=np.float64)
    csc.indptr, csc.indices = np.array([1, 2, 3]), np.array([-9, 1, 0])
    csc.data = np.array([np.nan, 1.0, 2.0])
    assert dense(asarray(csc)) == [[0, 2], [1, 0]]


def test_diagonals_at_absurd_offsets_are_outside() -> None:
    limits = np.iinfo(np.int64)
    diagonals = broken("dia", offsets=np.array([limits.min, 0, limits.max]), data=np.ones((3, 3)))
    assert dense(asarray(diagonals)) == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("n_rows", [2**62, 2**63 - 1])
def test_rows_that_no_memory_can_hold_are_refused(n_rows: int) -> None:
    coo = sp.coo_array((np.ones(1), (np.array([5]), np.array([0]))), shape=(n_rows, 1))
    assert code_of(lambda: asarray(coo)) == "ST102"


def test_layouts_that_are_converted_are_checked_also_when_trusted() -> None:
    assert code_of(lambda: asarray(broken("csc", indices=np.full(6, 10**9)), policy="trust")) == "ST105"


@pytest.mark.parametrize(
    ("matrix", "code", "words"),
    [
        (broken("csr", indptr=np.array([0, 9, 6])), "ST103", "9 then 6"),
        (broken("csr", indices=None), "ST107", "indices"),
        (broken("csc", indptr=np.array([0, 2, 1, 6])), "ST103", "at column 1"),
        (broken("csc", indptr=np.array([0, 6])), "ST102", "3 columns need 4"),
        (broken("csc", indices=np.array([0, 1, 0, 1, 0, 2])), "ST105", "row index 2 .* the 2 rows"),
        (broken("csc", data=np.ones(5)), "ST106", "6 row indices against 5 values"),
        (broken("coo", coords=(np.array([0, 9]), np.array([0, 0]))), "ST105", "row index 9"),
        (broken("coo", coords=(np.array([0, 1]), np.array([0, -3]))), "ST105", "column index -3"),
        (broken("coo", coords=(np.array([0, 1]), np.array([0]))), "ST102", "2 row indices against 1"),
        (broken("coo", data=np.ones(2)), "ST106", "6 column indices against 2 values"),
        (broken("bsr", indices=np.array([0, 7] + [0] * 4)), "ST105", "column index 7"),
        (broken("bsr", data=np.ones((2, 0, 3))), "ST101", "blocks of shape"),
        (broken("bsr", data=np.ones((1, 2, 2))), "ST101", "c divides n"),
        (broken("bsr", data=np.ones(6)), "ST101", "blocks of shape"),
        (broken("dia", offsets=np.array([0])), "ST106", "1 offsets against"),
        (broken("dia", offsets=np.array([0.5])), "ST107", "offsets"),
        (broken("lil", rows=np.array([[0, 1], [5]], dtype=object)), "ST101", "differ in length"),
        (broken("lil", rows=np.array([[0, 1, 5], [0, 1, 2]], dtype=object)), "ST105", "column index 5"),
        (broken("lil", rows=np.array([[0, 1, 0.5], [0, 1, 2]], dtype=object)), "ST107", "float64"),
        (broken("lil", rows=None), "ST101", "LIL"),
        (broken("dok", _dict={(0, 7): 1.0}), "ST105", "column index 7"),
        (broken("dok", _dict={(-1, 0): 1.0}), "ST105", "row index -1"),
        (broken("dok", _dict={(0, 0.5): 1.0}), "ST107", "float64"),
        (broken("dok", _dict={(0, 0): "x"}), "ST101", "DOK"),
    ],
)
def test_broken_scipy_objects_are_refused_before_anything_walks_them(
    matrix: Any, code: str, words: str
) -> None:
    for policy in ("validate", "canonicalize"):
        with pytest.raises(errors.DataError, match=words) as caught:
            asarray(matrix, policy=policy)
        assert caught.value.code == code


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=8),
    st.sampled_from(["validate", "canonicalize"]),
)
def test_any_triplets_mean_what_a_plain_reading_says_or_are_refused(
    places: list[tuple[int, int]], policy: str
) -> None:
    coo = sp.coo_array((3, 3), dtype=np.int64)
    coo.coords = tuple(np.array(places, dtype=np.int32).reshape(-1, 2).T)
    coo.data = 2 ** np.arange(len(places))
    inside = all(0 <= i < 3 and 0 <= j < 3 for i, j in places)
    result, code = attempt(lambda: asarray(coo, policy=policy))
    assert code == (None if inside else "ST105")
    if result is None:
        return
    expected = [[0] * 3 for _ in range(3)]
    for p, (i, j) in enumerate(places):
        expected[i][j] += 2**p
    assert dense(result) == expected
    assert result.nnz == (len(places) if policy == "validate" else len(set(places)))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_come_in_and_csr_is_not_copied() -> None:
    torch = pytest.importorskip("torch")
    full = torch.tensor([[0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0]])
    csr = full.to_sparse_csr()
    matrix = asarray(csr)
    assert np.shares_memory(matrix.data, csr.values().numpy())
    assert np.shares_memory(matrix.indices, csr.col_indices().numpy())
    assert dense(matrix) == full.tolist()
    for tensor in (full.to_sparse_csc(), full.to_sparse_coo(), full.to_sparse_bsr((1, 2))):
        assert dense(asarray(tensor)) == full.tolist()
    repeated = torch.sparse_coo_tensor([[1, 1], [2, 2]], [1.0, 2.0], (2, 3), requires_grad=True)
    assert asarray(repeated).nnz == 2
    assert dense(asarray(repeated)) == [[0, 0, 0], [0, 0, 3]]
    half = asarray(full.to(torch.bfloat16).to_sparse_csr())
    assert half.dtype == ml_dtypes.bfloat16
    assert dense(half) == full.tolist()


@pytest.mark.filterwarnings("ignore:Sparse")
def test_broken_and_foreign_tensors_are_refused() -> None:
    torch = pytest.importorskip("torch")

    def csr(indptr: list[int], indices: list[int]) -> Any:
        values = torch.ones(len(indices))
        return torch.sparse_csr_tensor(indptr, indices, values, (2, 3), check_invariants=False)

    assert code_of(lambda: asarray(csr([0, 5, 2], [0, 1]))) == "ST103"
    assert code_of(lambda: asarray(csr([0, 1, 2], [0, 3]))) == "ST105"
    assert code_of(lambda: asarray(torch.eye(2))) == "ST101"
    assert code_of(lambda: asarray(torch.ones(2, 2, 2).to_sparse_csr())) == "ST101"
    assert code_of(lambda: asarray(torch.ones(2, 2).to_sparse(1))) == "ST101"
    elsewhere = torch.empty(2, 2, layout=torch.sparse_coo, device="meta")
    assert code_of(lambda: asarray(elsewhere)) == "ST155"
