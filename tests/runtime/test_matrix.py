"""`asarray`: every sparse object comes in with its meaning, its arrays untouched, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.matrix import SparseMatrix, asarray
from sparse_tir.runtime.pattern import validate_csr

LAYOUTS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def dense(matrix: SparseMatrix) -> list[list[Any]]:
    """The meaning of a matrix in plain Python: repeats add up, the dead head is not read."""
    rows = [[0] * matrix.shape[1] for _ in range(matrix.shape[0])]
    for i in range(matrix.shape[0]):
        for p in range(int(matrix.indptr[i]), int(matrix.indptr[i + 1])):
            rows[i][int(matrix.indices[p])] += matrix.data[p].item()
    return rows


def raw(
    indptr: Any, indices: Any, data: Any, shape: tuple[int, int], dtype: Any = np.float32
) -> sp.csr_array:
    """A SciPy CSR object with these very arrays, however broken, as users make them by assignment."""
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.indptr = np.array(indptr, dtype=np.int32) if isinstance(indptr, list) else indptr
    matrix.indices = np.array(indices, dtype=np.int32) if isinstance(indices, list) else indices
    matrix.data = np.array(data, dtype=dtype) if isinstance(data, list) else data
    return matrix


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(errors.DataError) as caught:
        call()
    return caught.value.code


def attempt(call: Callable[[], SparseMatrix]) -> tuple[SparseMatrix | None, str | None]:
    """The result and no code, or the code of the refusal."""
    try:
        return call(), None
    except errors.DataError as refusal:
        return None, refusal.code


# ---- what comes in


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
    diagonals = sp.dia_array((np.array([[1.0, 2.0, 0.0], [9.0, 5.0, 6.0]]), [0, 1]), shape=(2, 3))
    assert asarray(diagonals).nnz == 4
    assert dense(asarray(diagonals)) == [[1, 5, 0], [0, 2, 6]]


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


# ---- canonical form


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        (np.bool_, [True, False, True], [True]),
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


# ---- what is remembered


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


# ---- what is refused


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


def broken(layout: str, **attributes: Any) -> Any:
    matrix = sp.coo_array(np.arange(1.0, 7.0).reshape(2, 3)).asformat(layout)
    for name, value in attributes.items():
        setattr(matrix, name, value)
    return matrix


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


def test_layouts_that_are_converted_are_checked_also_when_trusted() -> None:
    assert code_of(lambda: asarray(broken("csc", indices=np.full(6, 10**9)), policy="trust")) == "ST105"


def test_diagonals_at_absurd_offsets_are_outside() -> None:
    limits = np.iinfo(np.int64)
    diagonals = broken("dia", offsets=np.array([limits.min, 0, limits.max]), data=np.ones((3, 3)))
    assert dense(asarray(diagonals)) == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("n_rows", [2**62, 2**63 - 1])
def test_rows_that_no_memory_can_hold_are_refused(n_rows: int) -> None:
    coo = sp.coo_array((np.ones(1), (np.array([5]), np.array([0]))), shape=(n_rows, 1))
    assert code_of(lambda: asarray(coo)) == "ST102"


# ---- PyTorch


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
    assert code_of(lambda: asarray(torch.eye(2, device="meta").to_sparse_csr())) == "ST155"


# ---- any garbage: the same as a plain reference, or refused


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
