"""Structure arrays at the border: what is kept, what is converted, what is refused, and what is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.pattern import (
    Pattern,
    check_declared,
    measure_sorted_unique,
    validate_csr,
    validate_indices,
    validate_indptr,
)
from sparse_tir.runtime.structure import counting_order

WHERE = "st.asarray(A)"
I64 = np.iinfo(np.int64)


def csr(indptr: Any, indices: Any, shape: tuple[int, int], policy: str = "validate") -> Pattern:
    def as_array(numbers: Any) -> Any:
        return np.array(numbers, dtype=np.int32) if isinstance(numbers, list) else numbers

    return validate_csr(as_array(indptr), as_array(indices), shape, where=WHERE, policy=policy)


@pytest.mark.parametrize(
    ("indptr", "indices", "shape", "code", "words"),
    [
        ([123, 0], [], (1, 1), "ST103", ["indptr decreases (123 then 0)", "row 0"]),
        ([0, 0, 0], [1, 2, 0], (2, 3), "ST104", ["indptr ends at 0 but 3 entries are stored"]),
        ([0, 1, 2], [0, 1], (3, 3), "ST102", ["indptr has 3 numbers, 3 rows need 4"]),
        ([0, -1, 2], [0, 1], (2, 3), "ST103", ["indptr holds -1", "position 1"]),
        ([0, 3, 1, 4], [0, 1, 2, 0], (3, 3), "ST103", ["indptr decreases (3 then 1) at row 1"]),
        ([0, 2, 9], [0, 1, 2], (2, 3), "ST104", ["indptr ends at 9 but 3 entries are stored"]),
        ([0, 2], [-1, 0], (1, 3), "ST105", ["column index -1 (first entry) is outside the 3 columns"]),
        ([0, 1, 2], [1001, 555], (2, 1000), "ST105", ["column index 1001 (first entry)", "the 1000 columns"]),
        ([0, 3], [0, 1, 3], (1, 3), "ST105", ["column index 3 (entry at position 2)", "[0, 3)"]),
        ([0, 1], [0], (1, 0), "ST105", ["column index 0", "the 0 columns"]),
        ([], [], (0, 3), "ST102", ["indptr has 0 numbers, 0 rows need 1"]),
        ([5, 5], [0], (1, 1), "ST104", ["indptr ends at 5 but 1 entries"]),
    ],
)
def test_broken_arrays_are_refused_by_name_number_and_position(
    indptr: Any, indices: Any, shape: Any, code: str, words: list[str]
) -> None:
    with pytest.raises(errors.DataError) as caught:
        csr(indptr, indices, shape)
    assert caught.value.code == code
    for word in [*words, WHERE, "indices" if code == "ST105" else "indptr"]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        np.array([0.0, 1.0]),
        np.array([False, True]),
        np.array([0, 1], dtype=object),
        np.array([0, 1], dtype="m8[s]"),
        np.array(["0", "1"]),
        np.array([[0, 1]]),
        np.array(1),
        np.array([0, 2**63], dtype=np.uint64),
        np.ma.masked_array([0, 1], mask=[True, False]),
        np.zeros(2, dtype=[("a", "i4")]),
        [0, 1],
        None,
        "01",
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["indptr", "indices"])
@pytest.mark.parametrize("policy", ["trust", "validate"])
def test_what_is_no_integer_vector_is_refused_under_every_policy(bad: Any, name: str, policy: str) -> None:
    arrays = {"indptr": np.array([0, 1]), "indices": np.array([0])} | {name: bad}
    with pytest.raises(errors.DataError, match=name) as caught:
        validate_csr(arrays["indptr"], arrays["indices"], (1, 2), where=WHERE, policy=policy)
    assert caught.value.code == "ST107"


def test_the_position_of_a_number_beyond_int64_is_named() -> None:
    with pytest.raises(errors.DataError, match=r"9223372036854775809.*position 1"):
        csr(np.array([0, 2**63 + 1], dtype=np.uint64), [0], (1, 1))


@pytest.mark.parametrize("extremes", [[I64.min, I64.max], [I64.max, I64.min], [0, I64.max], [I64.max, 0]])
def test_differences_that_overflow_int64_do_not_fool_the_check(extremes: list[int]) -> None:
    with pytest.raises(errors.DataError) as caught:
        csr(np.array(extremes), [0], (1, 1))
    assert caught.value.code in ("ST103", "ST104")


@pytest.mark.parametrize("pointer_type", [np.int32, np.int64])
@pytest.mark.parametrize("column_type", [np.int32, np.int64])
def test_plain_arrays_are_kept_themselves_in_mixed_widths(pointer_type: Any, column_type: Any) -> None:
    indptr, indices = np.array([0, 1, 3], pointer_type), np.array([4, 1, 0], column_type)
    indptr.flags.writeable = indices.flags.writeable = False
    pattern = csr(indptr, indices, (2, 5))
    assert pattern.indptr is indptr
    assert pattern.indices is indices


@pytest.mark.parametrize(
    ("dtype", "target"),
    [
        *[("i1", "i4"), ("u1", "i4"), ("i2", "i4"), ("u2", "i4"), ("u4", "i8"), ("u8", "i8")],
        *[(">i4", "i4"), (">i8", "i8"), (">u8", "i8"), (">u2", "i4")],
    ],
)
def test_other_integers_are_converted_without_loss(dtype: str, target: str) -> None:
    pattern = csr(np.array([0, 2], dtype), np.array([100, 7], dtype), (1, 101))
    assert pattern.indptr.dtype == pattern.indices.dtype == np.dtype(target)
    assert pattern.indices.tolist() == [100, 7]


def test_strided_reversed_and_misaligned_arrays_are_copied_once() -> None:
    raw = np.zeros(4 * 8 + 1, dtype=np.uint8)
    misaligned = raw[1:].view(np.int64)
    misaligned[:] = [0, 1, 1, 3]
    strided = np.array([2, -9, 0, -9, 1])[::2]
    pattern = csr(misaligned, strided, (3, 3))
    assert pattern.indptr.tolist() == [0, 1, 1, 3]
    assert pattern.indices.tolist() == [2, 0, 1]
    assert pattern.indptr.flags.aligned
    assert pattern.indices.flags.c_contiguous
    assert csr([0, 3], np.array([2, 1, 0])[::-1], (1, 3)).indices.tolist() == [0, 1, 2]


def test_a_row_slice_never_looks_at_its_dead_head() -> None:
    pattern = csr([2, 4, 4, 7], [-77, 10**6, 1, 2, 0, 1, 3], (3, 4))
    assert (pattern.nnz, pattern.n_live) == (7, 5)
    assert (pattern.is_sorted, pattern.is_unique, pattern.is_canonical) == (True, True, False)
    assert pattern.rows.longest == 3
    assert pattern.rows.n_empty == 1
    form = pattern.canonical
    assert form.pattern.indptr.tolist() == [0, 2, 2, 5]
    assert form.pattern.indices.tolist() == [1, 2, 0, 1, 3]
    assert form.apply(np.arange(7)).tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("shape", [(0, 0), (0, 10), (3, 0), (3, 10)])
def test_matrices_without_entries_and_without_extent_are_ordinary(shape: tuple[int, int]) -> None:
    pattern = csr(np.zeros(shape[0] + 1, np.int32), [], shape)
    assert pattern.nnz == 0
    assert pattern.is_canonical
    assert pattern.rows.n_empty == shape[0]
    assert pattern.rows.mean == 0
    assert len(pattern.fingerprint) == 32


@pytest.mark.parametrize("shape", [(-1, 2), (1,), (1, 2, 3), (1.5, 2), None, "ab", (1, 2**63), 7])
def test_a_shape_that_is_not_two_sizes_is_refused(shape: Any) -> None:
    with pytest.raises(errors.DataError) as caught:
        csr([0], [], shape)
    assert caught.value.code == "ST101"


def test_statistics_agree_with_a_plain_count() -> None:
    pattern = csr([1, 1, 4, 5, 5], [0, 1, 2, 3, 0], (4, 4))
    lengths = [0, 3, 1, 0]
    assert pattern.row_lengths.tolist() == lengths
    assert pattern.rows.longest == 3
    assert pattern.rows.mean == pytest.approx(np.mean(lengths))
    assert pattern.rows.std == pytest.approx(np.std(lengths))
    assert pattern.rows.n_empty == 2


def test_the_fingerprint_depends_on_shape_structure_and_width_only() -> None:
    base = csr([1, 2, 3], [7, 1, 0], (2, 3))
    assert csr([1, 2, 3], [7, 1, 0], (2, 3)).fingerprint == base.fingerprint
    assert csr([1, 2, 3], [-5, 1, 0], (2, 3)).fingerprint == base.fingerprint  # the dead head
    others = [
        csr([1, 2, 3], [7, 1, 0], (2, 4)),
        csr([1, 3, 3], [7, 1, 0], (2, 3)),
        csr([1, 2, 3], [7, 1, 1], (2, 3)),
        csr(np.array([1, 2, 3]), [7, 1, 0], (2, 3)),
        csr([0, 1, 2], [1, 0], (2, 3)),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 6


def test_a_pattern_cannot_be_assigned_to() -> None:
    with pytest.raises(AttributeError):
        csr([0], [], (0, 0)).shape = (1, 1)  # type: ignore[misc]


def test_trust_checks_dtype_and_length_but_no_content() -> None:
    pattern = csr([9, -4, 3], [-1, 2**30], (2, 3), policy="trust")
    assert not pattern.is_validated
    assert isinstance(pattern.is_unique, bool)
    assert isinstance(pattern.rows.longest, int)
    assert len(pattern.fingerprint) == 32
    with pytest.raises(errors.DataError, match="ST102"):
        csr([0, 1], [0], (2, 3), policy="trust")
    with pytest.raises(errors.DataError, match="ST103"):
        _ = pattern.canonical
    with pytest.raises(errors.DataError, match="ST109"):
        csr([0], [], (0, 0), policy="hope")


def test_padding_is_legal_only_where_it_is_allowed() -> None:
    slots = np.array([0, 3, 3, 1], dtype=np.int32)
    assert validate_indices(slots, 3, "kernel.J", allow_padding=True) is slots
    with pytest.raises(errors.DataError, match="ST105"):
        validate_indices(slots, 3, "kernel.J")
    with pytest.raises(errors.DataError, match="or 3 in a padded slot"):
        validate_indices(np.array([4]), 3, "kernel.J", allow_padding=True)


def test_an_index_can_be_compared_with_a_length_beyond_its_width() -> None:
    assert validate_indices(np.array([2**31 - 1], np.int32), 2**40, "kernel.J").size == 1
    with pytest.raises(errors.DataError, match="ST105"):
        validate_indices(np.array([2**40]), 2**40, "kernel.J")


def test_errors_name_the_array_and_the_axis_of_a_kernel() -> None:
    with pytest.raises(
        errors.DataError, match=r"kernel\.J_indptr.*\n.*J_indptr decreases \(2 then 1\) at tile 0"
    ):
        validate_indptr(np.array([2, 1]), 1, 1, "kernel", name="J_indptr", parent="tile")


@pytest.mark.parametrize(
    ("indptr", "indices", "expected"),
    [
        ([0, 2, 3], [0, 1, 0], (True, True)),
        ([0, 2, 3], [1, 0, 0], (False, True)),
        ([0, 2, 3], [1, 1, 0], (True, False)),
        ([0, 3], [1, 0, 1], (False, False)),
        ([0, 0, 0], [], (True, True)),
        ([2, 2, 3], [5, 1, 0], (True, True)),
        ([1, 3], [0, 0, 1], (True, True)),
        ([0, 2], [10**12, 5], (False, True)),
        ([0, 3], [10**12, 5, 10**12], (False, False)),
    ],
)
def test_order_and_uniqueness_are_measured_within_rows(indptr: Any, indices: Any, expected: Any) -> None:
    assert measure_sorted_unique(np.array(indptr), np.array(indices, dtype=np.int64)) == expected


def test_padded_slots_may_repeat() -> None:
    indptr, indices = np.array([0, 3, 6]), np.array([0, 4, 4, 2, 2, 4])
    assert measure_sorted_unique(indptr[:2], indices[:3], padding=4) == (True, True)
    assert measure_sorted_unique(indptr, indices, padding=4) == (True, False)
    check_declared(indptr[:2], indices[:3], "kernel.J", is_sorted=True, is_unique=True, padding=4)


def test_arrays_that_break_what_the_axis_declares_are_refused() -> None:
    indptr, indices = np.array([0, 1, 4]), np.array([3, 5, 0, 5])
    with pytest.raises(errors.DataError, match=r"5 then 0 in row 1.*position 1") as caught:
        check_declared(indptr, indices, "kernel.J", is_sorted=True, is_unique=False)
    assert caught.value.code == "ST108"
    with pytest.raises(errors.DataError, match=r"5 twice in row 1.*position 3") as caught:
        check_declared(indptr, indices, "kernel.J", is_sorted=False, is_unique=True)
    assert caught.value.code == "ST108"
    check_declared(indptr, indices, "kernel.J", is_sorted=False, is_unique=False)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.integers(-3, 9) | st.sampled_from([I64.min, I64.max, 10**9])))
def test_the_counting_order_is_the_stable_order(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.int64)
    assert counting_order(array).tolist() == np.argsort(array, kind="stable").tolist()


# ---- any garbage: the same as a plain reference, or refused


def integer_arrays(numbers: st.SearchStrategy[int], max_size: int) -> st.SearchStrategy[NDArray[Any]]:
    """Vectors of any width, byte order, stride and protection; some not integer, some not 1-D."""

    @st.composite
    def draw_array(draw: st.DrawFn) -> NDArray[Any]:
        dtype = np.dtype(
            draw(st.sampled_from(["i4", "i8", "i4", "i8", "u1", "i2", "u8", ">i4", ">i8", "f8", "?"]))
        )
        values = draw(st.lists(numbers, max_size=max_size))
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            values = [min(max(value, int(limits.min)), int(limits.max)) for value in values]
        array = np.array(values, dtype=dtype)
        form = draw(
            st.sampled_from(["plain", "plain", "strided", "reversed", "read-only", "2-D", "misaligned"])
        )
        if form == "strided":
            array = np.repeat(array, 2)[::2]
        elif form == "reversed":
            array = array[::-1].copy()[::-1]
        elif form == "read-only":
            array.flags.writeable = False
        elif form == "2-D":
            array = array[None]
        elif form == "misaligned":
            array = np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(dtype)
        return array

    return draw_array()


extreme = st.sampled_from([I64.min, I64.max, I64.min + 1, 2**31, -(2**31), 2**64 - 1, -1])


@st.composite
def rough_csr(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
    """Arrays that are a CSR structure about every second time."""
    n_rows, n_cols = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    indices = draw(integer_arrays(st.integers(0, max(n_cols - 1, 0)) | st.integers(-1, 5) | extreme, 6))
    if draw(st.integers(0, 3)) == 0:
        return draw(integer_arrays(st.integers(-1, 6) | extreme, 6)), indices, (n_rows, n_cols)
    cuts = sorted(draw(st.lists(st.integers(0, indices.size), min_size=n_rows, max_size=n_rows)))
    indptr = np.array([*cuts, indices.size], dtype=draw(st.sampled_from(["i4", "i8", ">i8", "u8"])))
    return indptr, indices, (n_rows, n_cols)


def attempt(indptr: Any, indices: Any, shape: Any, policy: str) -> tuple[Pattern | None, str | None]:
    """The pattern and no code, or the code of the refusal."""
    try:
        return validate_csr(indptr, indices, shape, where=WHERE, policy=policy), None
    except errors.DataError as refusal:
        return None, refusal.code


def reference_entries(indptr: Any, indices: Any, shape: tuple[int, int]) -> list[tuple[int, int, int]] | None:
    """(row, column, position) of every entry in plain Python, or None if the arrays are no CSR structure."""
    for array in (indptr, indices):
        if array.ndim != 1 or array.dtype.kind not in "iu" or any(int(number) > I64.max for number in array):
            return None
    starts, columns = [int(number) for number in indptr], [int(number) for number in indices]
    if len(starts) != shape[0] + 1 or starts[0] < 0 or starts[-1] != len(columns):
        return None
    entries = []
    for row in range(shape[0]):
        if starts[row] > starts[row + 1]:
            return None
        entries += [(row, columns[p], p) for p in range(starts[row], starts[row + 1])]
    return entries if all(0 <= column < shape[1] for _, column, _ in entries) else None


@settings(derandomize=True, deadline=None, max_examples=400)
@given(rough_csr())
def test_any_arrays_mean_what_a_plain_reading_says_or_are_refused(drawn: Any) -> None:
    indptr, indices, shape = drawn
    before = indptr.tobytes(), indices.tobytes()
    entries = reference_entries(indptr, indices, shape)
    pattern, code = attempt(indptr, indices, shape, "validate")
    if entries is None:
        assert code in {"ST102", "ST103", "ST104", "ST105", "ST107"}
        return
    assert pattern is not None, code
    rows = [[column for r, column, _ in entries if r == row] for row in range(shape[0])]
    assert pattern.row_lengths.tolist() == [len(row) for row in rows]
    assert pattern.is_sorted == all(row == sorted(row) for row in rows)
    assert pattern.is_unique == all(len(row) == len(set(row)) for row in rows)
    form = pattern.canonical
    assert form.pattern.indptr.tolist() == [
        0,
        *np.cumsum([len(set(row)) for row in rows], dtype=int).tolist(),
    ]
    assert form.pattern.indices.tolist() == [column for row in rows for column in sorted(set(row))]
    sums: dict[tuple[int, int], int] = {}
    for row, column, position in entries:
        sums[row, column] = sums.get((row, column), 0) + 2**position
    assert form.apply(2 ** np.arange(indices.size)).tolist() == [sums[key] for key in sorted(sums)]
    assert (indptr.tobytes(), indices.tobytes()) == before


@settings(derandomize=True, deadline=None, max_examples=200)
@given(rough_csr())
def test_a_trusted_pattern_of_garbage_can_be_asked_anything(drawn: Any) -> None:
    indptr, indices, shape = drawn
    pattern, code = attempt(indptr, indices, shape, "trust")
    assert code in {None, "ST102", "ST107"}
    if pattern is None:
        return
    assert {pattern.is_sorted, pattern.is_unique} <= {True, False}
    assert 0 <= pattern.n_live <= pattern.nnz
    assert pattern.rows.longest <= I64.max
    assert len(pattern.fingerprint) == 32
