"""`asarray`: every sparse object comes in with its meaning, its arrays untouched, or is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from border import attempt, code_of, dense, raw
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.matrix import asarray
from sparse_tir.runtime.pattern import validate_csr


def test_csr_arrays_are_kept_themselves() -> None:
    given_matrix = sp.random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(0))
    matrix = asarray(given_matrix)
    assert matrix.indptr is given_matrix.indptr
    assert matrix.indices is given_matrix.indices
    assert matrix.data is given_matrix.data


def test_unsorted_columns_are_fine_and_are_not_reordered() -> None:
    arrays = [np.array([0, 3, 5, 6], np.int32), np.array([5, 0, 3, 4, 1, 2], np.int32), np.arange(1.0, 7.0)]
    before = [array.tobytes() for array in arrays]
    for policy in ("trust", "validate", "canonicalize"):
        matrix = asarray((arrays[2], arrays[1], arrays[0]), shape=(3, 6), policy=policy)
        assert dense(matrix)[1] == [0, 5, 0, 0, 4, 0]
        assert matrix.pattern.is_sorted == (policy == "canonicalize")
    assert [array.tobytes() for array in arrays] == before


def test_repeats_may_make_a_row_longer_than_the_matrix_is_wide() -> None:
    matrix = asarray(raw([0, 5], [1, 1, 1, 1, 1], [0, 1, 2, 3, 4], (1, 3)))
    assert matrix.nnz == 5
    assert dense(matrix) == [[0, 10, 0]]


def test_a_row_slice_shows_only_its_own_entries() -> None:
    matrix = asarray(raw([2, 4, 4, 7], [0, 3, 1, 2, 0, 1, 3], [np.nan, np.nan, 1, 2, 3, 4, 5], (3, 4)))
    expected = [[0, 1, 2, 0], [0, 0, 0, 0], [3, 4, 0, 5]]
    assert matrix.nnz == 7
    assert dense(matrix) == dense(matrix.canonical) == matrix.to_scipy().toarray().tolist() == expected
    assert matrix.canonical.nnz == 5


def test_read_only_arrays_at_any_offset_come_in_unchanged() -> None:
    memory = np.arange(6, dtype=np.float32)
    arrays = [memory[1:], np.array([3, 0, 2, 1, 3], np.int32), np.array([0, 2, 4, 5], np.int32)]
    for array in arrays:
        array.flags.writeable = False
    matrix = asarray(tuple(arrays), shape=(3, 4))
    assert np.shares_memory(matrix.data, memory)
    assert dense(matrix.canonical) == dense(matrix) == [[2, 0, 0, 1], [0, 4, 3, 0], [0, 0, 0, 5]]


@pytest.mark.parametrize(("pointers", "columns"), [("i8", "i4"), ("i4", "i8"), ("i8", "i8")])
def test_index_widths_may_be_mixed(pointers: str, columns: str) -> None:
    indptr, indices = np.array([0, 2, 2, 3], pointers), np.array([4, 1, 0], columns)
    matrix = asarray(raw(indptr, indices, [1, 2, 3], (3, 5)))
    assert (matrix.indptr.dtype, matrix.indices.dtype) == (np.dtype(pointers), np.dtype(columns))
    for policy in ("validate", "canonicalize"):
        chosen = asarray(matrix, policy=policy)
        assert (chosen.indptr.dtype, chosen.indices.dtype) == (np.dtype(pointers), np.dtype(columns))
        assert dense(chosen) == [[0, 2, 0, 0, 1], [0] * 5, [3, 0, 0, 0, 0]]
    assert matrix.to_scipy().toarray().tolist() == dense(matrix)


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u1", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("policy", ["trust", "validate", "canonicalize"])
def test_the_dtype_of_the_values_is_kept(dtype: Any, policy: str) -> None:
    data = np.array([1, 0, 1], dtype=dtype)
    matrix = asarray((data, np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2), policy=policy)
    assert matrix.dtype == np.dtype(dtype)
    column_major = sp.csc_array((3, 1), dtype=np.float32)
    column_major.indptr, column_major.indices, column_major.data = np.array([0, 3]), np.array([2, 0, 1]), data
    assert asarray(column_major).dtype == np.dtype(dtype)


def test_foreign_byte_order_and_strides_of_values_are_copied_right() -> None:
    data = np.array([1.5, 9, 2.5, 9], dtype=">f4")[::2]
    matrix = asarray((data, np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert matrix.data.dtype.isnative
    assert matrix.data.flags.c_contiguous
    assert dense(matrix) == [[1.5, 2.5]]


def test_a_pattern_with_values_is_a_matrix() -> None:
    pattern = validate_csr(np.array([0, 1]), np.array([1]), (1, 2), where="test")
    matrix = asarray((pattern, np.array([5.0])))
    assert matrix.pattern is pattern
    assert matrix.with_data(np.array([7])).data.tolist() == [7]
    assert code_of(lambda: matrix.with_data(np.array([7, 8]))) == "ST106"


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        (np.bool_, [False, True, True], [True]),
        (np.int8, [127, 127, 1], [-1]),
        (np.uint8, [200, 100, 0], [44]),
        (np.int64, [2**53, 1, 2**62], [2**62 + 2**53 + 1]),
        (np.float16, [2048, 1, 1], [2050]),
        (ml_dtypes.bfloat16, [256, 1, 1], [258]),
        (np.float16, [60000, 60000, 0], [np.inf]),
        (np.float32, [np.inf, 1, 2], [np.inf]),
        (np.complex64, [1 + 2j, 3, -1j], [4 + 1j]),
    ],
)
def test_repeats_add_up_in_the_dtype_of_the_values(dtype: Any, data: Any, expected: Any) -> None:
    given_data = np.array(data, dtype=dtype)
    matrix = asarray((given_data, np.zeros(3, int), np.array([0, 3])), shape=(1, 1), policy="canonicalize")
    assert matrix.data.tolist() == np.array(expected, dtype=dtype).tolist()


def test_infinities_of_both_signs_add_up_to_nan_without_a_warning() -> None:
    data = np.array([np.inf, -np.inf])
    matrix = asarray((data, np.zeros(2, int), np.array([0, 2])), shape=(1, 1), policy="canonicalize")
    assert np.isnan(matrix.data).tolist() == [True]


def test_sorting_keeps_nan_and_the_sign_of_zero_with_their_place() -> None:
    matrix = asarray(raw([0, 3], [2, 0, 1], [np.nan, -0.0, np.inf], (1, 3)), policy="canonicalize")
    assert np.signbit(matrix.data[0])
    assert np.isinf(matrix.data[1])
    assert np.isnan(matrix.data[2])


def test_a_hub_row_is_sorted_and_summed() -> None:
    columns = np.random.default_rng(0).permutation(np.repeat(np.arange(13161, dtype=np.int32), 3))
    data = np.ones(columns.size, dtype=np.int64)
    matrix = asarray((data, columns, np.array([0, columns.size])), shape=(1, 13161), policy="canonicalize")
    assert matrix.indices.tolist() == list(range(13161))
    assert set(matrix.data.tolist()) == {3}


def test_a_validated_matrix_costs_nothing_again() -> None:
    matrix = asarray(sp.eye_array(3, format="csr"))
    assert asarray(matrix) is matrix
    assert asarray(matrix, policy="trust") is matrix
    assert asarray(matrix, policy="canonicalize") is matrix


def test_the_checked_and_the_canonical_copy_are_made_once() -> None:
    trusted = asarray(raw([0, 2], [1, 0], [1, 2], (1, 2)), policy="trust")
    assert asarray(trusted, policy="trust") is trusted
    checked = asarray(trusted)
    assert checked is not trusted
    assert checked.pattern.is_validated
    assert asarray(trusted) is checked
    canonical = asarray(checked, policy="canonicalize")
    assert canonical.indices.tolist() == [0, 1]
    assert asarray(checked, policy="canonicalize") is canonical
    assert asarray(canonical, policy="canonicalize") is canonical
    assert checked.with_data(np.array([3.0, 4.0])).canonical.pattern is canonical.pattern


def test_trust_reads_nothing_and_a_later_check_still_refuses() -> None:
    broken = asarray(raw([0, 9, 3], [7, -1, 0], [1, 2, 3], (2, 3)), policy="trust")
    assert code_of(lambda: asarray(broken)) == "ST103"
    assert code_of(lambda: asarray(broken, policy="canonicalize")) == "ST103"
    assert code_of(broken.to_scipy) == "ST103"


def test_the_scipy_view_cannot_reorder_the_arrays_of_the_user() -> None:
    given_matrix = raw([0, 2], [1, 0], [1, 2], (1, 2))
    shared = asarray(given_matrix).to_scipy()
    with pytest.raises(ValueError, match="read-only"):
        shared.sort_indices()
    free = asarray(given_matrix).to_scipy(copy=True)
    free.sort_indices()
    assert free.indices.tolist() == [0, 1]
    assert given_matrix.indices.tolist() == [1, 0]


@pytest.mark.parametrize("bad", [np.eye(2), [[1, 0]], None, 3, "A", (1, 2), (), {}], ids=repr)
def test_what_is_not_sparse_is_refused_with_a_way_out(bad: Any) -> None:
    with pytest.raises(errors.DataError, match=r"scipy\.sparse\.csr_array") as caught:
        asarray(bad)
    assert caught.value.code == "ST101"


def test_an_unknown_policy_is_refused_also_for_a_known_matrix() -> None:
    matrix = asarray(sp.eye_array(2, format="csr"))
    with pytest.raises(errors.DataError, match="trust, validate, canonicalize") as caught:
        asarray(matrix, policy="sort")
    assert caught.value.code == "ST109"


def test_a_tuple_needs_its_shape_and_a_matrix_must_have_the_shape_given() -> None:
    arrays = (np.ones(1), np.array([0]), np.array([0, 1]))
    with pytest.raises(errors.DataError, match="shape="):
        asarray(arrays)
    assert asarray(arrays, shape=(1, 4)).shape == (1, 4)
    assert asarray(sp.eye_array(2, format="csr"), shape=(2, 2)).shape == (2, 2)
    assert code_of(lambda: asarray(sp.eye_array(2, format="csr"), shape=(2, 3))) == "ST101"


def test_one_dimensional_sparse_arrays_are_refused() -> None:
    assert code_of(lambda: asarray(sp.coo_array(np.array([1, 0, 2])))) == "ST101"


def test_values_and_columns_of_different_length_are_refused() -> None:
    with pytest.raises(errors.DataError, match="3 column indices against 2 values") as caught:
        asarray(raw([0, 3], [0, 1, 2], [1, 2], (1, 3)))
    assert caught.value.code == "ST106"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (np.array([1], dtype=object), "ST156"),
        (np.array(["x"]), "ST156"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "ST156"),
        (np.array([[1.0]]), "ST151"),
        (np.array(1.0), "ST151"),
        ("x", "ST150"),
        (None, "ST150"),
    ],
)
def test_values_that_are_no_vector_of_numbers_are_refused(data: Any, code: str) -> None:
    assert code_of(lambda: asarray((data, np.array([0]), np.array([0, 1])), shape=(1, 1))) == code


indices_strategy = st.lists(st.integers(0, 2) | st.sampled_from([-1, 3, 2**31 - 1, -(2**31)]), max_size=6)


@st.composite
def rough_matrix(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    indices = np.array(draw(indices_strategy | st.lists(st.integers(0, 2), max_size=6)), dtype=np.int32)
    good = sorted(draw(st.lists(st.integers(0, indices.size), min_size=3, max_size=3)))
    indptr = np.array([*good, indices.size], dtype=np.int32)
    if draw(st.booleans()) and draw(st.booleans()):
        indptr = np.array(draw(st.lists(st.integers(-1, 7) | st.just(2**31 - 1), max_size=5)), dtype=np.int32)
    n_values = indices.size + draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
    return indptr, indices, np.arange(1, max(n_values, 0) + 1, dtype=np.float64)


def plain_reading(indptr: Any, indices: Any, data: Any, n_minor: int) -> list[list[float]] | None:
    if len(indptr) != 4 or indptr[0] < 0 or indptr[3] != len(indices) or len(data) != len(indices):
        return None
    lines = [[0.0] * n_minor for _ in range(3)]
    for i in range(3):
        if indptr[i] > indptr[i + 1]:
            return None
        for p in range(indptr[i], indptr[i + 1]):
            if not 0 <= indices[p] < n_minor:
                return None
            lines[i][indices[p]] += data[p]
    return lines


@settings(derandomize=True, deadline=None, max_examples=300)
@given(rough_matrix(), st.sampled_from(["csr", "csc"]), st.sampled_from(["validate", "canonicalize"]))
def test_any_assigned_arrays_mean_what_a_plain_reading_says_or_are_refused(
    arrays: Any, layout: str, policy: str
) -> None:
    indptr, indices, data = arrays
    matrix = sp.coo_array((3, 3), dtype=np.float64).asformat(layout)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    before = [array.tobytes() for array in arrays]
    expected = plain_reading(indptr.tolist(), indices.tolist(), data.tolist(), 3)
    result, code = attempt(lambda: asarray(matrix, policy=policy))
    if expected is None:
        assert code in {"ST102", "ST103", "ST104", "ST105", "ST106"}
        return
    assert result is not None, code
    by_rows = expected if layout == "csr" else [list(row) for row in zip(*expected, strict=True)]
    assert dense(result) == by_rows
    assert result.to_scipy().toarray().tolist() == by_rows
    assert result.pattern.is_canonical or policy == "validate"
    assert [array.tobytes() for array in arrays] == before
