"""`Pattern`: the structure arrays of a sparse matrix, checked once, and what is derived from them."""

from __future__ import annotations

import hashlib
import operator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import compact
from sparse_tir.runtime.structure import (
    as_structure,
    check_declared,
    check_length,
    counting_order,
    live_start,
    measure_sorted_unique,
    rows_of_positions,
    validate_indices,
    validate_indptr,
)

__all__ = [
    "POLICIES",
    "CanonicalForm",
    "Pattern",
    "RowStatistics",
    "check_declared",
    "check_policy",
    "check_shape",
    "measure_sorted_unique",
    "validate_csr",
    "validate_indices",
    "validate_indptr",
]

POLICIES = ("trust", "validate", "canonicalize")
_LONGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class RowStatistics:
    """Row lengths of a pattern in numbers: entries per row, and how many rows have none."""

    longest: int
    mean: float
    std: float
    n_empty: int


@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """A pattern with sorted, unique columns and no dead head, and the way of values into it.

    Attributes
    ----------
    pattern
        The canonical pattern.
    start
        First position of the source that belongs to a row.
    order : (n_live,) int64 or None
        Source position of each live entry in canonical order; None where they are in order.
    groups : (pattern.nnz,) int64 or None
        First entry in that order of each canonical entry; None where none repeats.
    """

    pattern: Pattern
    start: int = 0
    order: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values (nnz,) of the source pattern in canonical order, repeats added up in their own dtype."""
        moved = values[self.start :] if self.order is None else values[self.order]
        return moved if self.groups is None else _sum_groups(moved, self.groups)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Immutable CSR structure of an (m, n) matrix. The arrays may be the user's own and must not change.

    Attributes
    ----------
    shape
        ``(m, n)``.
    indptr : (m + 1,) int32 or int64
        Row i owns the positions ``indptr[i]`` to ``indptr[i + 1]``. ``indptr[0]`` may be above 0 (a row
        slice): the positions before it are a dead head, counted in `nnz` and never read.
    indices : (nnz,) int32 or int64
        Column of each position; the width is independent of that of indptr.
    is_validated
        Whether the content was checked; False under the policy ``trust``.

    Examples
    --------
    >>> import numpy as np
    >>> p = validate_csr(np.array([0, 2, 2]), np.array([1, 0]), (2, 3), where="example")
    >>> p.nnz, p.is_sorted, p.is_unique, p.rows.n_empty
    (2, False, True, 1)
    """

    shape: tuple[int, int]
    indptr: NDArray[Any] = field(repr=False)
    indices: NDArray[Any] = field(repr=False)
    is_validated: bool = False
    known_flags: tuple[bool, bool] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "indptr", compact(self.indptr))
        object.__setattr__(self, "indices", compact(self.indices))

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_cols(self) -> int:
        return self.shape[1]

    @property
    def nnz(self) -> int:
        """Stored entries, explicit zeros and dead head included."""
        return int(self.indices.size)

    @property
    def n_live(self) -> int:
        """Stored entries that belong to a row."""
        return self.nnz - live_start(self.indptr, self.nnz)

    @property
    def is_sorted(self) -> bool:
        """Whether the columns ascend (repeats allowed) within every row."""
        return self._flags[0]

    @property
    def is_unique(self) -> bool:
        """Whether no column occurs twice in a row."""
        return self._flags[1]

    @property
    def is_canonical(self) -> bool:
        """Sorted, unique, and without dead head."""
        return self.n_live == self.nnz and self.is_sorted and self.is_unique

    @cached_property
    def _flags(self) -> tuple[bool, bool]:
        return self.known_flags or measure_sorted_unique(self.indptr, self.indices)

    @property
    def row_lengths(self) -> NDArray[Any]:
        """Stored entries of each row, (m,) int64."""
        return np.diff(self.indptr.astype(np.int64, copy=False))

    @cached_property
    def rows(self) -> RowStatistics:
        """Statistics of the row lengths; all zero for a matrix without rows."""
        lengths = self.row_lengths
        if lengths.size == 0:
            return RowStatistics(0, 0.0, 0.0, 0)
        n_empty = int(np.count_nonzero(lengths == 0))
        return RowStatistics(int(lengths.max()), float(lengths.mean()), float(lengths.std()), n_empty)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits: a hash of shape, index widths and structure, without the dead head."""
        start = live_start(self.indptr, self.nnz)
        text = f"{self.shape} {self.indptr.dtype.str} {self.indices.dtype.str} {start}"
        digest = hashlib.blake2b(text.encode(), digest_size=16)
        digest.update(self.indptr.data)
        digest.update(self.indices[start:].data)
        return digest.hexdigest()

    def validated(self, where: str) -> Pattern:
        """This pattern if it was checked, else a checked one on the same arrays. Errors as `validate_csr`."""
        if self.is_validated:
            return self
        return validate_csr(self.indptr, self.indices, self.shape, where=where)

    @property
    def canonical(self) -> CanonicalForm:
        """The sorted pattern without repeats (linear time, once), and how values get there.

        Raises
        ------
        DataError
            As `validate_csr`, if a trusted pattern turns out to be broken.
        """
        if self.is_validated and self.is_canonical:
            return CanonicalForm(self)  # not remembered: a reference to itself would delay its release
        return self._canonical

    @cached_property
    def _canonical(self) -> CanonicalForm:
        return _canonical_form(self.validated("Pattern.canonical"))


def validate_csr(indptr: Any, indices: Any, shape: Any, *, where: str, policy: str = "validate") -> Pattern:
    """The pattern of two arrays, kept without copying where they are plain int32 or int64 arrays.

    Parameters
    ----------
    indptr : (m + 1,)
        Row pointer: monotone, from any number >= 0 up to nnz. Any integer dtype.
    indices : (nnz,)
        Columns in ``[0, n)``, in any order, repeats allowed. Any integer dtype.
    shape
        ``(m, n)``.
    where
        The call and argument, for error messages.
    policy
        ``"trust"`` checks dtype, dimension and the length of indptr only; ``"validate"`` and
        ``"canonicalize"`` check everything (this function never reorders).

    Returns
    -------
    Pattern

    Raises
    ------
    DataError
        ST101 shape; ST102 length; ST103 negative or decreasing indptr; ST104 end of indptr; ST105 column
        out of range; ST107 dtype or dimension; ST109 unknown policy.
    """
    check_policy(policy, where)
    n_rows, n_cols = check_shape(shape, where)
    columns = as_structure(indices, where=where, name="indices")
    if policy == "trust":
        pointers = as_structure(indptr, where=where, name="indptr")
        check_length(pointers, n_rows, where)
        return Pattern((n_rows, n_cols), pointers, columns)
    pointers = validate_indptr(indptr, n_rows, columns.size, where)
    columns = validate_indices(columns, n_cols, where, start=int(pointers[0]))
    return Pattern((n_rows, n_cols), pointers, columns, is_validated=True)


def check_policy(policy: str, where: str) -> None:
    """ST109 unless the policy is one of `POLICIES`."""
    if not isinstance(policy, str) or policy not in POLICIES:
        raise errors.error("ST109", f"{where}: policy", repr(policy), f"one of {', '.join(POLICIES)}")


def check_shape(shape: Any, where: str) -> tuple[int, int]:
    """The shape as two Python integers; ST101 unless they are two sizes from 0 on."""
    try:
        n_rows, n_cols = (operator.index(size) for size in shape)
    except (TypeError, ValueError):
        n_rows = n_cols = -1
    if min(n_rows, n_cols) < 0 or max(n_rows, n_cols) > _LONGEST:
        expected = "two integers (m, n), from 0 to 2**63 - 1"
        raise errors.error("ST101", f"{where}: shape", f"shape {shape!r}", expected)
    return n_rows, n_cols


def _canonical_form(pattern: Pattern) -> CanonicalForm:
    if pattern.is_canonical:
        return CanonicalForm(pattern)
    start = int(pattern.indptr[0])
    columns = pattern.indices[start:]
    rows = rows_of_positions(pattern.indptr, pattern.nnz)[start:]
    order: NDArray[Any] | None = None
    if not pattern.is_sorted:
        by_column = counting_order(columns)
        order = by_column[counting_order(rows[by_column])]
        columns = columns[order]
        order += start
    groups: NDArray[Any] | None = None
    if not pattern.is_unique:  # rows are ascending before and after the sort, so `rows` stands as it is
        is_new = np.ones(columns.size, dtype=bool)
        is_new[1:] = (columns[1:] != columns[:-1]) | (rows[1:] != rows[:-1])
        groups = np.flatnonzero(is_new)
        columns, rows = columns[groups], rows[groups]
    indptr = np.zeros_like(pattern.indptr)
    np.cumsum(np.bincount(rows, minlength=pattern.n_rows), out=indptr[1:])
    canonical = Pattern(pattern.shape, indptr, columns, is_validated=True, known_flags=(True, True))
    return CanonicalForm(canonical, start, order, groups)


def _sum_groups(values: NDArray[Any], groups: NDArray[Any]) -> NDArray[Any]:
    """Sums of runs of values in their own dtype; half precision is accumulated in float32, bool is "or"."""
    if values.dtype == np.bool_:
        return np.logical_or.reduceat(values, groups)
    is_half = values.dtype.itemsize <= 2 and values.dtype.kind not in "iu"
    wide = np.dtype(np.float32) if is_half else values.dtype
    with np.errstate(over="ignore", invalid="ignore"):  # as IEEE has it: Inf - Inf is NaN
        sums: NDArray[Any] = np.add.reduceat(values.astype(wide, copy=False), groups, dtype=wide)
        return sums.astype(values.dtype, copy=False)
