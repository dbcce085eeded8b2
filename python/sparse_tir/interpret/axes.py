"""Axes with their arrays: which positions lie under a position, and which coordinate each has.

Everything follows from four properties of an axis: its parent, indptr, indices and width.

=======  ======  =======  =====  ===============================  ==========================
parent   indptr  indices  width  positions under parent position  kind
=======  ======  =======  =====  ===============================  ==========================
no       no      no       no     0 .. length                      dense_fixed
yes      yes     no       no     indptr[p] .. indptr[p + 1]       dense_variable
yes      yes     yes      no     indptr[p] .. indptr[p + 1]       sparse_variable
any      no      yes      yes    p * width .. (p + 1) * width     sparse_fixed, p = 0 if root
yes      no      yes      no     p                                one entry per parent
=======  ======  =======  =====  ===============================  ==========================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from tvm.ir import Expr, Var

from .. import errors
from ..ir import Axis
from .expressions import identity


@dataclass(frozen=True)
class BoundAxis:
    """An axis of one call.

    Attributes
    ----------
    axis
        The declaration.
    parent
        The bound parent, or None for a root.
    length
        Coordinates lie in ``[0, length)``.
    size
        Positions in all, a dead head and padded slots included.
    indptr, indices, width
        What the kind has of these, else None. ``indptr`` has parent.size + 1 numbers, ``indices`` has size.
    """

    axis: Axis
    parent: BoundAxis | None
    length: int
    size: int
    indptr: list[int] | None
    indices: list[int] | None
    width: int | None

    def positions_under(self, parent: int) -> range:
        """All positions under a position of the parent (0 for a root), padded slots included."""
        if self.indptr is not None:
            return range(self.indptr[parent], self.indptr[parent + 1])
        if self.width is not None:
            return range(parent * self.width, (parent + 1) * self.width)
        return range(parent, parent + 1) if self.parent else range(self.length)

    def coordinate(self, position: int, parent: int) -> int:
        """The coordinate of a position under ``parent``; ``length`` in a padded slot."""
        if self.indices is not None:
            return self.indices[position]
        return position - self.indptr[parent] if self.indptr is not None else position

    def stored_under(self, parent: int) -> Iterator[tuple[int, int]]:
        """The stored (position, coordinate) pairs under a position of the parent: law 1."""
        for position in self.positions_under(parent):
            coordinate = self.coordinate(position, parent)
            if self.width is None or coordinate != self.length:
                yield position, coordinate

    def search(self, parent: int, coordinate: int) -> int | None:
        """The position of a coordinate under ``parent``, or None if it is not stored: law 2."""
        for position, found in self.stored_under(parent):
            if found == coordinate:
                return position
        return None

    def reachable(self) -> Iterator[int]:
        """The stored positions that an iteration can visit."""
        for parent in self.parent.reachable() if self.parent else [0]:
            for position, _ in self.stored_under(parent):
                yield position


@dataclass(frozen=True)
class StorageDim:
    """One dimension of a value array.

    Attributes
    ----------
    axis
        Number, in the buffer's list, of the axis that selects along it.
    is_slot
        Whether the slot in the row selects, not the position.
    extent
        How long the dimension is.
    """

    axis: int
    is_slot: bool
    extent: Expr


def storage_dims(axes: Sequence[Axis]) -> list[StorageDim]:
    """How the positions of ``axes`` select in the value array.

    A dense axis, a root and a fixed-width axis have a dimension each; an axis with an indptr takes the place
    of its ancestors; an axis with one entry per parent has none.
    """
    dims: list[StorageDim] = []
    for number, axis in enumerate(axes):
        width = getattr(axis, "width", None)
        if hasattr(axis, "indptr"):
            while dims and _is_ancestor(axes[dims[-1].axis], axis):
                dims.pop()
            dims.append(StorageDim(number, False, axis.nnz))
        elif axis.parent is None:
            dims.append(StorageDim(number, False, axis.length if width is None else width))
        elif width is not None:
            dims.append(StorageDim(number, True, width))
    return dims


def _is_ancestor(candidate: Axis, axis: Axis) -> bool:
    parent = axis.parent
    return parent is not None and (candidate.same_as(parent) or _is_ancestor(candidate, parent))


class AxisBinder:
    """Binds axes to the arrays of a call and refuses arrays that break what the axes declare."""

    def __init__(
        self, where: str, integer: Callable[[Expr], int], array_of: Callable[[Var], NDArray[Any]]
    ) -> None:
        self._where, self._integer, self._array_of = where, integer, array_of
        self._bound: dict[int, BoundAxis] = {}

    def bind(self, axis: Axis) -> BoundAxis:
        """The axis with its arrays, checked once.

        Raises
        ------
        DataError
            ST102 length of a structure array; ST103, ST104 indptr; ST105 an index out of range; ST108 order
            or uniqueness; ST151 a negative extent.
        """
        key = identity(axis)
        if key not in self._bound:
            self._bound[key] = self._checked(axis)
        return self._bound[key]

    def _checked(self, axis: Axis) -> BoundAxis:
        parent = self.bind(axis.parent) if axis.parent is not None else None
        length = self._extent(axis, "length")
        width = self._extent(axis, "width") if hasattr(axis, "width") else None
        rows = parent.size if parent else 1
        if hasattr(axis, "indptr"):
            size = self._extent(axis, "nnz")
        else:
            size = rows * width if width is not None else rows if parent else length
        indptr = self._structure(axis, "indptr", rows + 1)
        if indptr is not None:
            self._check_indptr(f"{self._where}: {axis.indptr.name}", indptr, size)
        indices = self._structure(axis, "indices", size)
        bound = BoundAxis(axis, parent, length, size, indptr, indices, width)
        self._check_rows(bound)
        return bound

    def _extent(self, axis: Axis, field: str) -> int:
        value = self._integer(getattr(axis, field))
        if value < 0:
            raise errors.error(
                "ST158", f"{self._where}: {field} of axis `{axis.name}`", value, "a number from 0 on"
            )
        return value

    def _structure(self, axis: Axis, field: str, size: int) -> list[int] | None:
        if not hasattr(axis, field):
            return None
        param = getattr(axis, field)
        array = self._array_of(param)
        if array.ndim != 1 or array.size != size:
            found = f"{field} of axis `{axis.name}` with shape {array.shape}"
            raise errors.error("ST102", f"{self._where}: {param.name}", found, f"{size} numbers")
        numbers: list[int] = array.tolist()
        return numbers

    def _check_indptr(self, where: str, indptr: list[int], size: int) -> None:
        if indptr[0] < 0:
            raise errors.error("ST103", where, f"it begins with {indptr[0]}", "numbers from 0 on")
        for row, (begin, end) in enumerate(itertools.pairwise(indptr)):
            if end < begin:
                found = f"it decreases from {begin} to {end} at row {row}"
                raise errors.error("ST103", where, found, "every number at least the one before it")
        if indptr[-1] != size:
            raise errors.error(
                "ST104", where, f"it ends at {indptr[-1]}, {size} entries are stored", f"{size}"
            )

    def _check_rows(self, bound: BoundAxis) -> None:
        """Range, order and uniqueness, in the rows that an iteration can reach: a dead head is exempt."""
        if bound.indices is None and bound.indptr is None:
            return
        for row in bound.parent.reachable() if bound.parent else [0]:
            self._check_range(bound, row)
            coordinates = [bound.coordinate(position, row) for position in bound.positions_under(row)]
            at, declared = f"{self._where}: axis `{bound.axis.name}`", "the axis declares"
            if bound.axis.sorted and coordinates != sorted(coordinates):
                raise errors.error(
                    "ST108", at, f"row {row} holds {coordinates}", f"ascending numbers, as {declared}"
                )
            stored = [coordinate for _, coordinate in bound.stored_under(row)]
            if bound.axis.unique and len(set(stored)) != len(stored):
                raise errors.error(
                    "ST108", at, f"row {row} holds {stored}", f"every number once, as {declared}"
                )

    def _check_range(self, bound: BoundAxis, row: int) -> None:
        at = f"{self._where}: axis `{bound.axis.name}`"
        for position, coordinate in bound.stored_under(row):
            if 0 <= coordinate < bound.length:
                continue
            if bound.indices is None:
                found = f"row {row} with {len(bound.positions_under(row))} entries"
                raise errors.error("ST105", at, found, f"at most {bound.length} entries in a row")
            found = f"index {coordinate} at position {position} (row {row})"
            raise errors.error("ST105", at, found, f"numbers in [0, {bound.length})")
