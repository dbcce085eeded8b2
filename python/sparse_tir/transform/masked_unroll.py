"""Unrolling of loops whose length is data, without a remainder loop: an annotation, and the pass that carries it out.

Every end of a short loop is a branch that no processor foresees. With several iterations under one branch and the last
ones masked there are fewer of them.
"""

from __future__ import annotations

from tvm import tirx
from tvm.ir import Call, Expr
from tvm.tirx import BufferLoad, BufferStore, Evaluate, For, PrimFunc, Select, SeqStmt, Stmt
from tvm_ffi import structural_map, structural_walk

from .. import errors
from .substitution import substitution, with_fresh_variables

#: Annotation of a serial loop: how many iterations its body takes; 1 leaves it as it is.
MASKED_UNROLL = "sparse_tir.masked_unroll"


def unroll_masked(func: PrimFunc) -> PrimFunc:
    """Give the loops annotated `MASKED_UNROLL` several iterations per turn.

    Before::

        for j in range(n):  # annotated with 2
            sums[k] = sums[k] + A[start + j] * ...

    After::

        for j in range((n + 1) // 2):
            sums[k] = sums[k] + A[start + 2 * j] * ...
            last = min(2 * j + 1, n - 1)
            sums[k] = select(2 * j + 1 < n, sums[k] + A[start + last] * ..., sums[k])

    An iteration that does not exist reads what the last one reads, and writes back what is there.

    Parameters
    ----------
    func : PrimFunc
        At the loop stage.

    Raises
    ------
    LegalityError
        ST421 if an annotated loop is not serial from 0, or does anything but store and prefetch.
    """
    body = structural_map(func.body, (For, _in_loop))
    return func if body.same_as(func.body) else func.with_body(body)


def _in_loop(loop: For) -> For:
    if MASKED_UNROLL not in loop.annotations:
        return loop
    count = int(loop.annotations[MASKED_UNROLL])
    annotations = {key: value for key, value in loop.annotations.items() if key != MASKED_UNROLL}
    _check(loop, count)
    if count == 1:
        return For(
            loop.loop_var,
            loop.min,
            loop.extent,
            loop.kind,
            loop.body,
            None,
            annotations,
            loop.step,
            loop.span,
        )
    turn = loop.loop_var
    parts = [substitution({turn: turn * count})(loop.body)]
    parts += [_masked(loop, turn * count + place) for place in range(1, count)]
    extent = (loop.extent + (count - 1)) // count
    return For(turn, loop.min, extent, loop.kind, SeqStmt(parts), None, annotations, loop.step, loop.span)


def _check(loop: For, count: int) -> None:
    where = f"masked unrolling of the loop {loop.loop_var}"
    if count < 1 or loop.kind != tirx.ForKind.SERIAL or not _is_zero(loop.min):
        raise errors.error(
            "ST421",
            where,
            f"a {tirx.ForKind(loop.kind).name.lower()} loop from {loop.min}, by {count}",
            "a serial loop from 0",
        )
    other: list[str] = []

    def effect(statement: Evaluate) -> None:
        if not (isinstance(statement.value, Call) and str(statement.value.op.name) == "tirx.prefetch"):
            other.append(str(statement))

    structural_walk(loop.body, ((Evaluate, effect), (tirx.While, lambda node: other.append(str(node)))))
    if other:
        raise errors.error("ST421", where, other[0].strip(), "stores and prefetches")


def _is_zero(value: Expr) -> bool:
    return isinstance(value, tirx.IntImm) and int(value) == 0


def _masked(loop: For, iteration: Expr) -> Stmt:
    """The body at an iteration that may not exist."""
    exists = iteration < loop.extent
    last = substitution({loop.loop_var: tirx.min(iteration, loop.extent - 1)})
    ahead = substitution({loop.loop_var: iteration})  # a prefetch has bounds of its own

    def store(node: BufferStore) -> BufferStore:
        kept = BufferLoad(node.buffer, node.indices)
        return BufferStore(node.buffer, Select(exists, node.value, kept), node.indices)

    def at_iteration(statement: Stmt) -> Stmt:
        if isinstance(statement, SeqStmt):
            return SeqStmt([at_iteration(part) for part in statement.seq])
        if isinstance(statement, Evaluate):
            return ahead(statement)
        return structural_map(last(with_fresh_variables(statement)), (BufferStore, store))

    return at_iteration(loop.body)
