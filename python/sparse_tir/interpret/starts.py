"""Where an init is executed at the position stage: once per iteration, before the loops of its reduction.

The place of an init is above the outermost loop that carries a reduction iterator of its block or of an
enclosing block, no further out than the block that allocates the buffer. There the loops that carry spatial
iterators only are executed around it; loops that carry a reduction are not, whatever their extent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tvm_ffi
from tvm.ir import Expr, Var, prim
from tvm.s_tir import SBlockRealize
from tvm.tirx import AttrStmt, BufferStore, For, IfThenElse, IterVar, SeqStmt, Stmt, While

from .. import errors
from .expressions import Expressions, Thunk, dtype_of, identity, unknown, variables_in


@dataclass(frozen=True, eq=False)
class Branch:
    """One of the two cases of an IfThenElse."""

    condition: Expr
    is_then: bool


@dataclass(frozen=True, eq=False)
class Nest:
    """The loops, branches and blocks around a statement, outermost first."""

    nodes: tuple[Any, ...] = ()

    def enter(self, node: Stmt | Branch) -> Nest:
        """The nest inside of one more node."""
        return Nest((*self.nodes, node))

    def carriers(self) -> set[int]:
        """Identities of the variables that carry a reduction iterator of a block in the nest."""
        found: set[int] = set()
        for node in self.nodes:
            if not isinstance(node, SBlockRealize):
                continue
            for iter_var, value in zip(node.block.iter_vars, node.iter_values, strict=True):
                if iter_var.iter_type == IterVar.CommReduce:
                    found |= variables_in(value)
        return found

    def start_depth(self) -> int | None:
        """The number of the loop above which the init of the innermost block belongs; None if it stays."""
        started = _stored_buffers(self.nodes[-1].block.init)
        first, carriers = 0, self.carriers()
        for number, node in enumerate(self.nodes):
            if isinstance(node, SBlockRealize) and started & {identity(b) for b in node.block.alloc_buffers}:
                first = number + 1
        loops = (n for n, node in enumerate(self.nodes) if n >= first and isinstance(node, For))
        return next((number for number in loops if identity(self.nodes[number].loop_var) in carriers), None)


def _stored_buffers(init: Stmt) -> set[int]:
    found: set[int] = set()
    tvm_ffi.structural_walk(init, (BufferStore, lambda store: found.add(identity(store.buffer))))
    return found


def is_hoisted(nest: Nest) -> bool:
    """Whether the init of the innermost block of a nest is executed above a loop."""
    return nest.start_depth() is not None


def starts_above(loop: For, nest: Nest) -> list[Nest]:
    """For each init whose place is right above ``loop``: the whole nest, down to its block."""
    return [found for found in init_nests(loop, nest) if found.start_depth() == len(nest.nodes)]


def init_nests(stmt: Stmt, nest: Nest) -> Iterator[Nest]:
    """The nests of the blocks with an init in ``stmt``."""
    if isinstance(stmt, SeqStmt):
        for inner in stmt.seq:
            yield from init_nests(inner, nest)
    elif isinstance(stmt, AttrStmt):
        yield from init_nests(stmt.body, nest)
    elif isinstance(stmt, IfThenElse):
        for case, is_then in ((stmt.then_case, True), (stmt.else_case, False)):
            if case is not None:
                yield from init_nests(case, nest.enter(Branch(stmt.condition, is_then)))
    elif isinstance(stmt, For | While):
        yield from init_nests(stmt.body, nest.enter(stmt))
    elif isinstance(stmt, SBlockRealize):
        inside = nest.enter(stmt)
        if stmt.block.init is not None:
            yield inside
        yield from init_nests(stmt.block.body, inside)


class StartCompiler:
    """Compiles inits at their place.

    Parameters
    ----------
    values, expressions
        Of the interpreter.
    bind_iterator, statement
        How it binds a block iterator and how it compiles a statement.
    """

    def __init__(
        self,
        values: dict[int, Any],
        expressions: Expressions,
        bind_iterator: Callable[[IterVar, Expr], Thunk],
        statement: Callable[[Stmt, Nest], Thunk],
    ) -> None:
        self._values, self._expressions = values, expressions
        self._bind_iterator, self._statement = bind_iterator, statement

    def compile(self, init: Nest, depth: int) -> Thunk:
        """The init of the innermost block of ``init``, over its loops from number ``depth`` inwards."""
        return self._node(init, depth, frozenset())

    def _node(self, init: Nest, number: int, reducing: frozenset[int]) -> Thunk:
        """Node ``number`` of the nest; ``reducing`` are the variables that follow a reduction."""
        if number == len(init.nodes):
            return self._start(init, reducing)
        node = init.nodes[number]
        if isinstance(node, For):
            return self._for(node, init, number, reducing)
        if isinstance(node, SBlockRealize):
            return self._block(node, init, number, reducing)
        if isinstance(node, Branch):
            condition = node.condition if node.is_then else prim.Not(node.condition)
            return self._guarded(condition, reducing, self._node(init, number + 1, reducing))
        raise unknown(node, "a nest around an init")

    def _start(self, init: Nest, reducing: frozenset[int]) -> Thunk:
        block = init.nodes[-1].block
        self._require_free(block.init, reducing, f"the init of block `{block.name_hint}`")
        return self._statement(block.init, init)

    def _require_free(self, node: Any, reducing: frozenset[int], what: str) -> None:
        if variables_in(node) & reducing:
            raise errors.error(
                "ST900", "interpret", f"{what} depends on a reduction", "spatial iterators only"
            )

    def _for(self, loop: For, init: Nest, number: int, reducing: frozenset[int]) -> Thunk:
        key = identity(loop.loop_var)
        if key in init.carriers():
            return self._node(init, number + 1, reducing | {key})
        name = loop.loop_var.name
        for bound in (loop.min, loop.extent):
            self._require_free(bound, reducing, f"loop {name}, which an init needs,")
        begin, extent = self._expressions.integer(loop.min), self._expressions.integer(loop.extent)
        inner, dtype = self._node(init, number + 1, reducing), dtype_of(loop.loop_var)

        def run() -> None:
            first = begin()
            for value in range(first, first + extent()):
                self._values[key] = dtype.type(value)
                inner()

        return run

    def _guarded(self, condition: Expr, reducing: frozenset[int], inner: Thunk) -> Thunk:
        """Conditions go along, except the terms that follow a reduction."""
        kept = [term for term in _conjuncts(condition) if not variables_in(term) & reducing]
        tests = [self._expressions.compile(term) for term in kept]

        def run() -> None:
            if all(test() for test in tests):
                inner()

        return run

    def _block(self, realize: SBlockRealize, init: Nest, number: int, reducing: frozenset[int]) -> Thunk:
        pairs = list(zip(realize.block.iter_vars, realize.iter_values, strict=True))
        following = {
            identity(iter_var.var)
            for iter_var, value in pairs
            if iter_var.iter_type == IterVar.CommReduce and variables_in(value) & reducing
        }
        run = self._node(init, number + 1, reducing | following)
        for iter_var, value in reversed(pairs):
            if identity(iter_var.var) in following:
                continue
            if variables_in(value) & reducing:
                run = self._enumerate(iter_var, value, reducing, run)
            else:
                run = _after(self._bind_iterator(iter_var, value), run)
        return self._guarded(realize.predicate, reducing, run)

    def _enumerate(self, iter_var: IterVar, value: Expr, reducing: frozenset[int], inner: Thunk) -> Thunk:
        """A spatial iterator that shares a loop with a reduction: everything that it can take.

        That is its domain; where other loops fix a part of its value, every bounded term of the rest.
        """
        dom, key, dtype = iter_var.dom, identity(iter_var.var), dtype_of(iter_var.var)
        begin, extent = self._expressions.integer(dom.min), self._expressions.integer(dom.extent)
        terms = _linear_terms(value, 1)
        fixed = [(f, self._expressions.integer(t)) for f, t in terms if not variables_in(t) & reducing]
        shared = [(factor, term) for factor, term in terms if variables_in(term) & reducing]
        choices = (
            [[factor * c for c in range(_bound(iter_var.var, t))] for factor, t in shared] if fixed else []
        )

        def run() -> None:
            first = begin()
            domain: Sequence[int] = range(first, first + extent())
            if fixed:
                base = sum(factor * term() for factor, term in fixed)
                sums = {base + sum(choice) for choice in itertools.product(*choices)}
                domain = sorted(sums.intersection(domain))
            for number in domain:
                self._values[key] = dtype.type(number)
                inner()

        return run


def _after(first: Thunk, second: Thunk) -> Thunk:
    def run() -> None:
        first()
        second()

    return run


def _conjuncts(condition: Expr) -> list[Expr]:
    if isinstance(condition, prim.And):
        return _conjuncts(condition.a) + _conjuncts(condition.b)
    return [condition]


def _linear_terms(expr: Expr, factor: int) -> list[tuple[int, Expr]]:
    """(factor, term) whose products add up to ``expr``; casts between integers are looked through."""
    if isinstance(expr, prim.Cast):
        return _linear_terms(expr.value, factor)
    if isinstance(expr, prim.Add):
        return _linear_terms(expr.a, factor) + _linear_terms(expr.b, factor)
    if isinstance(expr, prim.Mul) and isinstance(expr.b, prim.IntImm):
        return _linear_terms(expr.a, factor * int(expr.b.value))
    return [(factor, expr)]


def _bound(var: Var, term: Expr) -> int:
    """How many values a term takes, from 0 on."""
    if isinstance(term, prim.FloorMod) and isinstance(term.b, prim.IntImm):
        return int(term.b.value)
    found = f"block iterator {var.name} shares a loop with a reduction in a term without a bound"
    raise errors.error("ST421", "interpret", found, "a term `e % c`", "place the inits first")
