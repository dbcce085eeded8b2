"""The coordinate stage: sparse iterations, run as the laws of the language say (simple and slow)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray
from tvm.ir import TensorLoad
from tvm.tirx import BufferStore, PrimFunc, Stmt

from .. import errors
from ..ir import SparseBuffer, SparseIteration, outermost_statements, statements
from .arguments import Arguments
from .axes import AxisBinder
from .elements import ElementCompiler, Frame, Place, Scope, Walker
from .expressions import Expressions, Thunk, dtype_of, identity, loads_in, unknown, variables_in, wide_of
from .folds import COMBINERS, Fold, match_fold


class CoordinateInterpreter:
    """Runs one call of a function of the coordinate stage.

    Attributes
    ----------
    out_of_range
        The writes outside the range of an axis, which were not performed (law 3), in order.
    """

    def __init__(self, arguments: Arguments, binder: AxisBinder, buffers: Sequence[SparseBuffer]) -> None:
        self.out_of_range: dict[str, None] = {}
        self._arrays = arguments.arrays
        self._where = arguments.where
        self._buffers = {identity(buffer.buffer): buffer for buffer in buffers}
        self._bind = binder.bind
        #: Identity of a scalar or iterator -> its value: the coordinate of an iterator.
        self._values = dict(arguments.scalars)
        #: Identity of an iterator -> its position.
        self._positions: dict[int, int] = {}
        self._elements = ElementCompiler(self._positions, binder.bind)

    def run(self, func: PrimFunc) -> None:
        """Execute the outermost iterations in order (law 10)."""
        for stmt in outermost_statements(func):
            self._statement(stmt, Scope())()

    # ---- statements
    def _statement(self, stmt: Stmt, scope: Scope) -> Thunk:
        iteration = SparseIteration.of(stmt)
        if iteration is not None:
            return self._iteration(iteration, scope)
        if isinstance(stmt, BufferStore) and scope.frames:
            return self._store(stmt, scope)
        raise unknown(stmt, "a statement")

    def _iteration(self, iteration: SparseIteration, scope: Scope) -> Thunk:
        starts = list(statements(iteration.init)) if iteration.init is not None else []
        frame = Frame(self._walkers(iteration, scope), frozenset(identity(start.buffer) for start in starts))
        inner = scope.enter(frame)
        inits = [self._init(start, frame, scope) for start in starts]
        body = [self._statement(stmt, inner) for stmt in statements(iteration.body)]
        visit = self._visit(frame.walkers, body)

        def run() -> None:
            for (
                init
            ) in inits:  # law 4: every element of the output domain starts before the first contribution
                init()
            visit()
            self._convert_back(frame)

        return run

    def _walkers(self, iteration: SparseIteration, scope: Scope) -> tuple[Walker, ...]:
        walkers: list[Walker] = []
        for iterator in iteration.iterators:
            wanted, parent = iterator.axis.parent, None
            if wanted is not None:
                around = [*scope.walkers(), *walkers]
                parent = next((w for w in reversed(around) if w.axis.axis.same_as(wanted)), None)
                if parent is None:
                    raise errors.error(
                        "ST207",
                        iteration.name,
                        f"axis `{iterator.axis.name}` without its parent",
                        "parents before children",
                    )
            walkers.append(Walker(iterator.var, self._bind(iterator.axis), iterator.is_reduction, parent))
        return tuple(walkers)

    def _visit(self, walkers: Sequence[Walker], body: Sequence[Thunk]) -> Thunk:
        """Law 1: the body once per stored position, the first iterator outermost."""

        def run_body() -> None:
            for thunk in body:
                thunk()

        run: Thunk = run_body
        for walker in reversed(walkers):
            run = self._walk(walker, run) if walker.has_position else self._cover(walker, run)
        return run

    def _walk(self, walker: Walker, inner: Thunk) -> Thunk:
        key, number, axis = walker.key, dtype_of(walker.var).type, walker.axis
        parent = walker.parent.key if walker.parent is not None else None

        def run() -> None:
            for position, coordinate in axis.stored_under(0 if parent is None else self._positions[parent]):
                self._positions[key], self._values[key] = position, number(coordinate)
                inner()

        return run

    def _cover(self, walker: Walker, inner: Thunk) -> Thunk:
        key, number, length = walker.key, dtype_of(walker.var).type, walker.axis.length

        def run() -> None:
            for coordinate in range(length):
                self._values[key] = number(coordinate)
                inner()

        return run

    # ---- init
    def _init(self, start: BufferStore, frame: Frame, scope: Scope) -> Thunk:
        """Law 4: start every element of the output domain."""
        domain = self._domain(start, frame, scope)
        inner, key = scope.enter(Frame(domain)), identity(start.buffer)
        memory, place, report = self._element(start, inner)
        narrow = memory.dtype != wide_of(memory.dtype)
        value = self._expressions(inner).widened(narrow).compile(start.value)

        def start_element() -> None:
            found = place()
            if found is None:
                report()
            else:
                _forget(scope, key, found)
                (frame.pending.setdefault(key, {}) if narrow else memory)[found] = value()

        return self._visit(domain, [start_element])

    def _domain(self, start: BufferStore, frame: Frame, scope: Scope) -> tuple[Walker, ...]:
        """The iterators that select the element: over positions where a stored axis is subscripted by its own
        iterator, in the element or in a load that a subscript does; over all coordinates elsewhere."""
        inner = scope.enter(frame)
        accesses = [(start.buffer, start.indices)]
        accesses += [(load.source, load.indices) for index in start.indices for load in loads_in(index)]
        positional: set[int] = set()
        for source, indices in accesses:
            buffer = self._buffers.get(identity(source))
            if buffer is not None:
                positional |= {walker.key for walker in inner.own(buffer, indices) if walker is not None}
        selecting = set().union(*(variables_in(index) for index in start.indices))
        domain: dict[int, Walker] = {}
        for walker in frame.walkers:
            if walker.key in selecting:
                parent = domain.get(walker.parent.key, walker.parent) if walker.parent is not None else None
                has_position = walker.key in positional or not walker.axis.axis.is_stored
                domain[walker.key] = replace(walker, parent=parent, has_position=has_position)
        return tuple(domain.values())

    # ---- stores
    def _element(
        self, store: BufferStore, scope: Scope
    ) -> tuple[NDArray[Any], Callable[[], Place | None], Callable[[], None]]:
        """The value array of a written element, its place, and how to report a write out of range (law 3)."""
        buffer = self._buffers.get(identity(store.buffer))
        if buffer is None:
            raise errors.error("ST411", self._where, f"a write to `{store.buffer.name}`", "a sparse buffer")
        expressions = self._expressions(scope)
        coordinates = [expressions.integer(index) for index in store.indices]
        name = store.buffer.name

        def report() -> None:
            self.out_of_range[f"{name}[{', '.join(str(coordinate()) for coordinate in coordinates)}]"] = None

        for axis, own in zip(buffer.axes, scope.own(buffer, store.indices), strict=True):
            found = f"an element of `{name}` along stored axis `{axis.name}`"
            if axis.is_stored and own is None:
                raise errors.error("ST403", self._where, found, "selected by the axis's own iterator")
            if axis.is_stored and own is not None and own.is_reduction:
                raise errors.error("ST404", self._where, found, "selected by a spatial iterator")
        place = self._elements.place(buffer, store.indices, scope, expressions)
        return self._arrays[identity(store.buffer)], place, report

    def _store(self, store: BufferStore, scope: Scope) -> Thunk:
        fold = match_fold(store)
        if fold is not None:
            return self._fold(store, fold, scope)
        memory, place, report = self._element(store, scope)
        value, key = self._expressions(scope).compile(store.value), identity(store.buffer)

        def run() -> None:
            found = place()
            if found is None:
                report()
                return
            memory[found] = value()
            _forget(scope, key, found)

        return run

    def _fold(self, store: BufferStore, fold: Fold, scope: Scope) -> Thunk:
        """Law 9: combine the contribution with what the element holds, in the wide dtype (law 7)."""
        memory, place, report = self._element(store, scope)
        wide, frame, key = wide_of(memory.dtype), scope.folding_frame(store.buffer), identity(store.buffer)
        narrow, combine = memory.dtype != wide, COMBINERS[fold.combiner]
        contribution = fold.contribution(self._expressions(scope).widened(narrow), wide)

        def run() -> None:
            found = place()
            if found is None:
                report()
            elif narrow:
                held = _pending(scope, key, found)
                held = memory[found].astype(wide) if held is None else held
                frame.pending.setdefault(key, {})[found] = combine(held, contribution())
            else:
                memory[found] = combine(memory[found], contribution())

        return run

    def _convert_back(self, frame: Frame) -> None:
        """Law 7: the elements that an iteration has folded, converted once when it ends."""
        for key, elements in frame.pending.items():
            memory = self._arrays[key]
            for place, value in elements.items():
                memory[place] = value.astype(memory.dtype)
        frame.pending.clear()

    # ---- loads
    def _expressions(self, scope: Scope) -> Expressions:
        return Expressions(self._values, partial(self._load, scope))

    def _load(self, scope: Scope, load: TensorLoad) -> Thunk:
        """Law 2: the stored value at a coordinate, or the default of the buffer."""
        buffer = self._buffers.get(identity(load.source))
        if buffer is None:
            raise errors.error("ST411", self._where, f"a load of `{load.source.name}`", "a sparse buffer")
        expressions, key = self._expressions(scope), identity(load.source)
        memory, default = self._arrays[key], expressions.compile(buffer.default_value)
        place = self._elements.place(buffer, load.indices, scope, expressions)

        def value() -> Any:
            found = place()
            if found is None:
                return default()
            held = _pending(scope, key, found)
            return memory[found] if held is None else held.astype(memory.dtype)

        return value


def _pending(scope: Scope, key: int, place: Place) -> Any:
    """The wide value of an element whose fold is not complete, or None."""
    for frame in reversed(scope.frames):
        if place in frame.pending.get(key, ()):
            return frame.pending[key][place]
    return None


def _forget(scope: Scope, key: int, place: Place) -> None:
    """An element was overwritten: what was folded into it before does not count."""
    for frame in scope.frames:
        frame.pending.get(key, {}).pop(place, None)
