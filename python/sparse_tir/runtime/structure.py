"""Checks of single structure arrays: ``indptr`` and ``indices`` of any axis.

Everything here is vectorised, takes linear time and survives any content: no difference is formed that could
overflow, and nothing is used as an address before its range is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import as_operand, compact

__all__ = [
    "as_structure",
    "check_declared",
    "counting_order",
    "measure_sorted_unique",
    "rows_of_positions",
    "validate_indices",
    "validate_indptr",
]

_BUCKETS_PER_KEY = 4  # counting sort up to this many buckets per key, comparison sort beyond
_BUCKETS_FREE = 1 << 20


def as_structure(array: Any, *, where: str, name: str) -> NDArray[Any]:
    """The array as one-dimensional, C-contiguous, aligned, native int32 or int64.

    Such an array is returned itself (an empty one: one like it); any other integer array is copied once,
    int32 if its dtype fits, else int64.

    Raises
    ------
    DataError
        ST107 if it is not a one-dimensional integer array, or holds a number beyond int64; ST155 if it is on
        another device.

    Examples
    --------
    >>> import numpy as np
    >>> as_structure(np.array([0, 2], dtype="uint8"), where="st.asarray(A)", name="indptr").dtype
    dtype('int32')
    """
    at = f"{where}.{name}"
    wanted = "a one-dimensional array of int32 or int64"
    try:
        view = as_operand(array, name=name, where=where)
    except errors.DataError as reason:
        if reason.code != "ST150":
            raise
        found = f"{name} is an object of type {type(array).__name__}"
        raise errors.error("ST107", at, found, wanted, f"pass np.asarray({name}, dtype='int32')") from reason
    if view.ndim != 1:
        found = f"{name} has {view.ndim} dimensions (shape {view.shape})"
        raise errors.error("ST107", at, found, wanted)
    if view.dtype.kind not in "iu":
        raise errors.error("ST107", at, f"{name} has dtype {view.dtype}", wanted)
    native = view.dtype.newbyteorder("=")
    target = np.dtype(np.int32) if np.can_cast(native, np.int32) else np.dtype(np.int64)
    if native == np.uint64:
        beyond = view > np.iinfo(np.int64).max
        if beyond.any():
            position = int(beyond.argmax())
            found = f"{name} holds {view[position]} ({_entry(position)})"
            raise errors.error("ST107", at, found, "numbers that int64 can hold")
    return compact(view if native == target else view.astype(target))


def validate_indptr(
    array: Any, n_parents: int, nnz: int, where: str, *, name: str = "indptr", parent: str = "row"
) -> NDArray[Any]:
    """The array as `as_structure` gives it, if it is a row pointer of n_parents rows over nnz entries.

    ``array[0]`` may be above 0: the positions before it belong to no row.

    Raises
    ------
    DataError
        ST107 as `as_structure`; ST102 length is not ``n_parents + 1``; ST103 negative or decreasing; ST104
        the last number is not ``nnz``.

    Examples
    --------
    >>> import numpy as np
    >>> validate_indptr(np.array([1, 1, 3]), 2, 3, "st.asarray(A)")
    array([1, 1, 3])
    """
    indptr = as_structure(array, where=where, name=name)
    check_length(indptr, n_parents, where, name=name, parent=parent)
    at = f"{where}.{name}"
    if indptr.min() < 0:
        position = int((indptr < 0).argmax())
        raise errors.error(
            "ST103", at, f"{name} holds {indptr[position]} (at position {position})", "numbers from 0 on"
        )
    decreasing = indptr[1:] < indptr[:-1]
    if decreasing.any():
        row = int(decreasing.argmax())
        found = f"{name} decreases ({indptr[row]} then {indptr[row + 1]}) at {parent} {row}"
        raise errors.error("ST103", at, found, "every number at least the one before it")
    if indptr[-1] != nnz:
        found = f"{name} ends at {indptr[-1]} but {nnz} entries are stored"
        raise errors.error("ST104", at, found, f"{nnz} as the last number (position {n_parents})")
    return indptr


def check_length(
    indptr: NDArray[Any], n_parents: int, where: str, *, name: str = "indptr", parent: str = "row"
) -> None:
    """ST102 unless there is one number more than rows."""
    if indptr.size != n_parents + 1:
        found = f"{name} has {indptr.size} numbers, {n_parents} {parent}s need {n_parents + 1}"
        raise errors.error("ST102", f"{where}.{name}", found, f"{n_parents + 1} numbers")


def validate_indices(
    array: Any,
    length: int,
    where: str,
    allow_padding: bool = False,
    *,
    name: str = "indices",
    what: str = "column",
    start: int = 0,
) -> NDArray[Any]:
    """The array as `as_structure` gives it, if its numbers from ``start`` on lie in ``[0, length)``.

    Parameters
    ----------
    array, length
        Coordinates along an axis of that length.
    where, name, what
        For error messages: the call, the array and what its numbers select.
    allow_padding
        Whether ``length`` itself is legal: the mark of a padded slot.
    start
        First position that belongs to a row (``indptr[0]``).

    Raises
    ------
    DataError
        ST107 as `as_structure`; ST105 a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> validate_indices(np.array([2, 3]), 3, "st.asarray(A)", allow_padding=True)
    array([2, 3])
    """
    indices = as_structure(array, where=where, name=name)
    live = indices[start:]
    highest = length if allow_padding else length - 1
    if live.size and (live.min() < 0 or live.max() > highest):
        first = int(((live < 0) | (live > highest)).argmax())
        found = f"{what} index {live[first]} ({_entry(start + first)}) is outside the {length} {what}s"
        expected = f"numbers in [0, {length})"
        if allow_padding:
            expected += f", or {length} in a padded slot"
        raise errors.error("ST105", f"{where}.{name}", found, expected)
    return indices


def measure_sorted_unique(
    indptr: NDArray[Any], indices: NDArray[Any], *, padding: int | None = None
) -> tuple[bool, bool]:
    """Whether the coordinates ascend within every row, and whether none occurs twice in a row.

    Linear in nnz (except for coordinates spread over far more than nnz values: then one sort). ``padding``
    is the number that marks padded slots, which are exempt from uniqueness. Safe on arrays that were not
    validated.

    Examples
    --------
    >>> import numpy as np
    >>> measure_sorted_unique(np.array([0, 2, 3]), np.array([4, 1, 0]))
    (False, True)
    """
    if _first_descent(indptr, indices) is not None:
        return False, _first_repeat(indptr, indices, padding) is None
    equal = _pairs_within_rows(indptr, indices.size) & (indices[1:] == indices[:-1])
    if padding is not None:
        equal &= indices[1:] != padding
    return True, not equal.any()


def check_declared(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    where: str,
    *,
    is_sorted: bool,
    is_unique: bool,
    padding: int | None = None,
    name: str = "indices",
) -> None:
    """ST108 if validated arrays break the order or the uniqueness that their axis declares.

    A fixed-width axis passes ``indptr = np.arange(n_parents + 1) * width`` and its length as ``padding``.
    """
    at = f"{where}.{name}"
    descent = _first_descent(indptr, indices) if is_sorted else None
    if descent is not None:
        before, after = indices[descent], indices[descent + 1]
        found = f"{name} holds {before} then {after} in row {_row_of(indptr, descent)} (position {descent})"
        raise errors.error(
            "ST108", at, found, "ascending numbers in every row (the axis declares sorted=True)", _DECLARE
        )
    repeat = _first_repeat(indptr, indices, padding) if is_unique else None
    if repeat is not None:
        found = f"{name} holds {indices[repeat]} twice in row {_row_of(indptr, repeat)} (position {repeat})"
        raise errors.error(
            "ST108", at, found, "every number once in a row (the axis declares unique=True)", _DECLARE
        )


_DECLARE = "declare the axis as the arrays are, or pass arrays made with policy='canonicalize'"


def counting_order(keys: NDArray[Any]) -> NDArray[Any]:
    """The stable ascending order of integer keys: a counting sort while the keys are dense enough.

    Examples
    --------
    >>> import numpy as np
    >>> counting_order(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    size = keys.size
    if size == 0 or keys.min() < 0 or keys.max() >= size * _BUCKETS_PER_KEY + _BUCKETS_FREE:
        return np.argsort(keys, kind="stable")
    # One row whose columns are the keys: its transpose lists the positions bucket by bucket.
    row = sp.csr_array((np.arange(size), keys, np.array([0, size])), shape=(1, int(keys.max()) + 1))
    order: NDArray[Any] = row.tocsc().data
    return order


def rows_of_positions(indptr: NDArray[Any], size: int) -> NDArray[Any]:
    """The row of each of ``size`` positions (int64); those of the dead head count to row 0."""
    ends = np.clip(indptr[1:], 0, size)
    rows: NDArray[Any] = np.bincount(ends, minlength=size + 1)[:size].cumsum()
    return rows


def live_start(indptr: NDArray[Any], size: int) -> int:
    """``indptr[0]``, kept inside the array also where nothing was validated."""
    return min(max(int(indptr[0]), 0), size) if indptr.size else 0


def _entry(position: int) -> str:
    return "first entry" if position == 0 else f"entry at position {position}"


def _row_of(indptr: NDArray[Any], position: int) -> int:
    return int(np.searchsorted(indptr, position, side="right")) - 1


def _pairs_within_rows(indptr: NDArray[Any], size: int) -> NDArray[Any]:
    """For each position but the last: whether the next one lies in the same row."""
    within: NDArray[Any] = np.ones(max(size - 1, 0), dtype=bool)
    within[: live_start(indptr, size)] = False
    within[indptr[(indptr > 0) & (indptr < size)] - 1] = False
    return within


def _first_descent(indptr: NDArray[Any], indices: NDArray[Any]) -> int | None:
    descents = _pairs_within_rows(indptr, indices.size) & (indices[1:] < indices[:-1])
    return int(descents.argmax()) if descents.any() else None


def _first_repeat(indptr: NDArray[Any], indices: NDArray[Any], padding: int | None) -> int | None:
    """The first position whose coordinate occurred before in its row."""
    start = live_start(indptr, indices.size)
    order = counting_order(indices[start:]) + start
    # Stable: the positions of one coordinate stay in order, so those of one row are neighbours.
    columns, rows = indices[order], rows_of_positions(indptr, indices.size)[order]
    repeated = (columns[1:] == columns[:-1]) & (rows[1:] == rows[:-1])
    if padding is not None:
        repeated &= columns[1:] != padding
    return int(order[1:][repeated].min()) if repeated.any() else None
