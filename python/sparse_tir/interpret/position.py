"""The position stage and plain loops: TVM functions over physical arrays, every loop executed in order.

At the position stage an init means once per iteration, before its loops (starts.py), and a store in a block
annotated ``sparse_tir.combine`` means a combination with what the element holds. Without a stage an init has
TVM's meaning, and a combine block is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tvm.ir import Expr, TensorLoad, Var
from tvm.s_tir import SBlock, SBlockRealize
from tvm.tirx import (
    AllocBuffer,
    AssertStmt,
    AttrStmt,
    Bind,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
)

from .. import errors
from ..ir import names
from .arguments import Arguments
from .expressions import DType, Expressions, Thunk, as_dtype, dtype_of, identity, unknown
from .folds import COMBINERS
from .starts import Branch, Nest, StartCompiler, is_hoisted, starts_above


def _poison(dtype: DType) -> Any:
    """What a new array holds, so that a read of an element that was not written shows."""
    return False if dtype.kind == "b" else np.iinfo(dtype).min if dtype.kind in "iu" else np.nan


class PositionInterpreter:
    """Runs one call of a function of the position stage, or of a later one.

    Parameters
    ----------
    arguments
        The arrays and scalars of the call.
    once_per_iteration
        True at the position stage. False where init has TVM's own meaning: at the first value of all
        reduction iterators of its block.
    """

    def __init__(self, arguments: Arguments, once_per_iteration: bool) -> None:
        self._where, self._once = arguments.where, once_per_iteration
        self._values, self._arrays = dict(arguments.scalars), dict(arguments.arrays)
        #: Identities of buffers that combine blocks allocate: into these they do not accumulate.
        self._scratch: set[int] = set()
        self._expressions = Expressions(self._values, self._load)
        self._starts = StartCompiler(self._values, self._expressions, self._iterator, self._statement)

    def run(self, func: PrimFunc) -> None:
        """Execute the body."""
        self._statement(func.body, Nest())()

    # ---- statements
    def _statement(self, stmt: Stmt, nest: Nest, combiner: str | None = None) -> Thunk:
        """The function that executes ``stmt``, which stands in ``nest`` and in a block of that combiner."""
        if isinstance(stmt, BufferStore):
            return self._store(stmt, combiner)
        if isinstance(stmt, SBlockRealize):
            return self._block(stmt, nest)
        if isinstance(stmt, For):
            return self._for(stmt, nest, combiner)
        if isinstance(stmt, SeqStmt):
            return self._sequence([self._statement(inner, nest, combiner) for inner in stmt.seq])
        if isinstance(stmt, IfThenElse):
            return self._if(stmt, nest, combiner)
        if isinstance(stmt, AttrStmt):
            return self._statement(stmt.body, nest, combiner)
        if isinstance(stmt, AllocBuffer):
            return self._allocate([stmt.buffer])
        if isinstance(stmt, While):
            return self._while(stmt, nest, combiner)
        return self._leaf(stmt)

    def _leaf(self, stmt: Stmt) -> Thunk:
        if isinstance(stmt, Evaluate):
            return self._expressions.compile(stmt.value)
        if isinstance(stmt, Bind):
            key, value = identity(stmt.var), self._expressions.compile(stmt.value)
            return lambda: self._values.__setitem__(key, value())
        if isinstance(stmt, AssertStmt):
            return self._assert(stmt)
        raise unknown(stmt, "a statement")

    def _sequence(self, thunks: Sequence[Thunk]) -> Thunk:
        def run() -> None:
            for thunk in thunks:
                thunk()

        return run

    def _if(self, stmt: IfThenElse, nest: Nest, combiner: str | None) -> Thunk:
        condition = self._expressions.compile(stmt.condition)
        yes = self._statement(stmt.then_case, nest.enter(Branch(stmt.condition, True)), combiner)
        no = self._sequence([])
        if stmt.else_case is not None:
            no = self._statement(stmt.else_case, nest.enter(Branch(stmt.condition, False)), combiner)
        return lambda: yes() if condition() else no()

    def _while(self, stmt: While, nest: Nest, combiner: str | None) -> Thunk:
        condition = self._expressions.compile(stmt.condition)
        body = self._statement(stmt.body, nest.enter(stmt), combiner)

        def run() -> None:
            while condition():
                body()

        return run

    def _assert(self, stmt: AssertStmt) -> Thunk:
        condition = self._expressions.compile(stmt.condition)

        def run() -> None:
            if not condition():
                raise errors.error("ST900", self._where, f"an assertion that fails: {stmt.condition}", "true")

        return run

    def _for(self, loop: For, nest: Nest, combiner: str | None) -> Thunk:
        """A loop of any kind, in order; at the position stage the inits that belong above it come first."""
        inits = starts_above(loop, nest) if self._once else []
        starts = [self._starts.compile(init, len(nest.nodes)) for init in inits]
        key, number = identity(loop.loop_var), dtype_of(loop.loop_var).type
        begin, extent = self._expressions.integer(loop.min), self._expressions.integer(loop.extent)
        step = self._expressions.integer(loop.step) if loop.step is not None else lambda: 1
        body = self._statement(loop.body, nest.enter(loop), combiner)

        def run() -> None:
            for start in starts:
                start()
            first = begin()
            for value in range(first, first + extent(), step()):
                self._values[key] = number(value)
                body()

        return run

    # ---- blocks
    def _block(self, realize: SBlockRealize, nest: Nest) -> Thunk:
        block = realize.block
        if block.match_buffers:
            raise unknown(f"block `{block.name_hint}` with match_buffers", "a block")
        inner, combiner = nest.enter(realize), self._combiner_of(block)
        if combiner is not None:
            self._scratch |= {identity(buffer) for buffer in block.alloc_buffers}
        predicate = self._expressions.compile(realize.predicate)
        bind = self._sequence(
            [self._iterator(v, value) for v, value in zip(block.iter_vars, realize.iter_values, strict=True)]
        )
        enter = self._allocate(block.alloc_buffers)
        init = self._init(realize, inner)
        body = self._statement(block.body, inner, combiner)

        def run() -> None:
            if predicate():
                for thunk in (bind, enter, init, body):
                    thunk()

        return run

    def _combiner_of(self, block: SBlock) -> str | None:
        combiner = block.annotations.get(names.COMBINE)
        if combiner is None:
            return None
        where = f"{self._where}: block `{block.name_hint}`"
        if not self._once:
            raise errors.error("ST420", where, f"a combine block `{combiner}`", "the position stage")
        if combiner not in COMBINERS:
            raise errors.error("ST900", where, f"combiner {combiner!r}", ", ".join(COMBINERS))
        return str(combiner)

    def _init(self, realize: SBlockRealize, inner: Nest) -> Thunk:
        """The init where it stands in the block, if it is executed there."""
        block = realize.block
        if block.init is None or (self._once and is_hoisted(inner)):
            return self._sequence([])
        init = self._statement(block.init, inner)
        if self._once:
            return init
        reductions = [
            (identity(iter_var.var), self._expressions.integer(iter_var.dom.min))
            for iter_var in block.iter_vars
            if iter_var.iter_type == IterVar.CommReduce
        ]

        def run() -> None:
            if all(self._values[key] == first() for key, first in reductions):
                init()

        return run

    def _iterator(self, iter_var: IterVar, value: Expr) -> Thunk:
        """Bind a block iterator; a value outside of its domain is a bug of a pass."""
        key, number, name = identity(iter_var.var), dtype_of(iter_var.var).type, iter_var.var.name
        bound, begin = self._expressions.integer(value), self._expressions.integer(iter_var.dom.min)
        extent = self._expressions.integer(iter_var.dom.extent)

        def bind() -> None:
            found, first = bound(), begin()
            if not first <= found < first + extent():
                expected = f"a value in [{first}, {first + extent()})"
                raise errors.error("ST900", f"{self._where}: block iterator {name}", found, expected)
            self._values[key] = number(found)

        return bind

    def _allocate(self, buffers: Sequence[Var]) -> Thunk:
        shapes = [[self._expressions.integer(extent) for extent in buffer.ty.shape] for buffer in buffers]

        def run() -> None:
            for buffer, shape in zip(buffers, shapes, strict=True):
                dtype = as_dtype(buffer.ty.dtype.dtype, buffer.name)
                extents = [extent() for extent in shape]
                self._arrays[identity(buffer)] = np.full(extents, _poison(dtype), dtype)

        return run

    # ---- physical arrays
    def _access(
        self, buffer: Var, indices: Sequence[Expr]
    ) -> Callable[[], tuple[NDArray[Any], tuple[int, ...]]]:
        """The array of a buffer and a place in it; a place outside of the array is a bug of a pass."""
        key, subscripts = identity(buffer), [self._expressions.integer(index) for index in indices]

        def access() -> tuple[NDArray[Any], tuple[int, ...]]:
            if key not in self._arrays:
                raise errors.error(
                    "ST900", f"{self._where}: {buffer.name}", "a buffer without an array", "one"
                )
            array, place = self._arrays[key], tuple(subscript() for subscript in subscripts)
            inside = all(0 <= index < length for index, length in zip(place, array.shape, strict=False))
            if len(place) != array.ndim or not inside:
                where = f"{self._where}: {buffer.name}[{', '.join(map(str, place))}]"
                raise errors.error("ST900", where, "an access outside of the array", f"shape {array.shape}")
            return array, place

        return access

    def _load(self, load: TensorLoad) -> Thunk:
        access = self._access(load.source, load.indices)

        def value() -> Any:
            array, place = access()
            return array[place]

        return value

    def _store(self, store: BufferStore, combiner: str | None) -> Thunk:
        access = self._access(store.buffer, store.indices)
        value = self._expressions.compile(store.value)
        accumulates = combiner is not None and identity(store.buffer) not in self._scratch
        combine = COMBINERS[combiner] if accumulates and combiner is not None else lambda held, new: new

        def run() -> None:
            array, place = access()
            array[place] = combine(array[place], value())

        return run
