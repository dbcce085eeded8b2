"""Which element a subscript list selects: iterators in scope, own positions, searches and storage places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvm.ir import Expr, Var

from .. import errors
from ..ir import SparseBuffer
from .axes import BoundAxis, storage_dims
from .expressions import Expressions, identity

Place = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Walker:
    """An iterator in scope.

    Attributes
    ----------
    var, axis, is_reduction
        As declared; ``axis`` with the arrays of the call.
    parent
        The iterator that delivers the position of the parent axis.
    has_position
        False while only a coordinate is known: in an init that covers the full range of a stored axis.
    """

    var: Var
    axis: BoundAxis
    is_reduction: bool
    parent: Walker | None
    has_position: bool = True

    @property
    def key(self) -> int:
        """Identity of the variable."""
        return identity(self.var)


@dataclass(frozen=True, eq=False)
class Frame:
    """One iteration in scope.

    Attributes
    ----------
    walkers
        Its iterators, outermost first.
    started
        Identities of the buffers that its init starts.
    pending
        Buffer -> place -> value in the wide dtype, of elements that are converted back when it ends (law 7).
    """

    walkers: tuple[Walker, ...]
    started: frozenset[int] = frozenset()
    pending: dict[int, dict[Place, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """The iterations around a statement, outermost first."""

    frames: tuple[Frame, ...] = ()

    def enter(self, frame: Frame) -> Scope:
        """The scope inside of one more iteration."""
        return Scope((*self.frames, frame))

    def walkers(self) -> list[Walker]:
        """All iterators, outermost first."""
        return [walker for frame in self.frames for walker in frame.walkers]

    def walker_of(self, expr: Expr) -> Walker | None:
        """The iterator that a subscript is."""
        if not isinstance(expr, Var):
            return None
        return next((walker for walker in self.walkers() if walker.var.same_as(expr)), None)

    def folding_frame(self, buffer: Var) -> Frame:
        """The iteration at whose end a fold into ``buffer`` is complete.

        The one that starts the buffer; else the outermost one with a reduction; else the innermost.
        """
        for frame in reversed(self.frames):
            if identity(buffer) in frame.started:
                return frame
        reducing = (f for f in self.frames if any(walker.is_reduction for walker in f.walkers))
        return next(reducing, self.frames[-1])

    def own(self, buffer: SparseBuffer, indices: Sequence[Expr]) -> list[Walker | None]:
        """For each subscript the iterator of that very axis under the matching parent, or None."""
        found: list[Walker | None] = []
        for number, index in enumerate(indices):
            walker, axis = self.walker_of(index), buffer.axes[number]
            if walker is not None and not (walker.has_position and walker.axis.axis.same_as(axis)):
                walker = None
            if walker is not None and walker.parent is not None:
                walker = walker if found[parent_number(buffer, number)] is walker.parent else None
            found.append(walker)
        return found


def parent_number(buffer: SparseBuffer, number: int) -> int:
    """Where the parent of an axis stands in the list of the buffer."""
    parent = buffer.axes[number].parent
    return next(n for n, axis in enumerate(buffer.axes) if axis.same_as(parent))


@dataclass(frozen=True)
class ElementCompiler:
    """Compiles subscript lists to places in value arrays.

    Attributes
    ----------
    positions
        Identity of an iterator -> its position now.
    bind
        The axis with the arrays of the call.
    """

    positions: dict[int, int]
    bind: Callable[[Any], BoundAxis]

    def place(
        self, buffer: SparseBuffer, indices: Sequence[Expr], scope: Scope, expressions: Expressions
    ) -> Callable[[], Place | None]:
        """The function that finds the element: None out of range and where nothing is stored (law 2)."""
        steps = [
            self._step(buffer, number, own, expressions.integer(indices[number]))
            for number, own in enumerate(scope.own(buffer, indices))
        ]
        select = self._select(buffer)

        def find() -> Place | None:
            found: list[int] = []
            for step in steps:
                position = step(found)
                if position is None:
                    return None
                found.append(position)
            return select(found)

        return find

    def _step(
        self, buffer: SparseBuffer, number: int, own: Walker | None, coordinate: Callable[[], int]
    ) -> Callable[[list[int]], int | None]:
        """Position along one axis, from those along the axes before it."""
        axis = self.bind(buffer.axes[number])
        if own is not None:
            key = own.key
            return lambda found: self.positions[key]
        if not axis.axis.is_stored:
            return lambda found: value if 0 <= (value := coordinate()) < axis.length else None
        if not axis.axis.unique:
            found = f"`{buffer.buffer.name}` is searched along axis `{axis.axis.name}`"
            raise errors.error(
                "ST402", "interpret", found, "a search on a unique axis, or the axis's own iterator"
            )
        parent = parent_number(buffer, number) if axis.parent else None
        return lambda found: axis.search(0 if parent is None else found[parent], coordinate())

    def _select(self, buffer: SparseBuffer) -> Callable[[list[int]], Place]:
        """Positions along the axes -> place in the value array."""
        parts: list[tuple[int, int | None, int]] = []
        for dim in storage_dims(buffer.axes):
            parent = parent_number(buffer, dim.axis) if dim.is_slot else None
            parts.append((dim.axis, parent, self.bind(buffer.axes[dim.axis]).width or 0))

        def select(found: list[int]) -> Place:
            return tuple(
                found[axis] if parent is None else found[axis] - found[parent] * width
                for axis, parent, width in parts
            )

        return select
