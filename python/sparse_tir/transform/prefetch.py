"""Prefetch of gathered operands: annotations that schedules leave, and the pass that carries them out.

The rows that a sparse loop gathers lie anywhere, so no hardware foresees them; but their numbers stand in an
array, and those of later iterations can be read now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tvm import tirx
from tvm.ir import Expr, TensorLoad, Var
from tvm.s_tir import SBlockRealize
from tvm.tirx import BufferLoad, For, IntImm, PrimFunc
from tvm_ffi import structural_equal, structural_map, structural_walk

from .. import errors
from .substitution import substitution

#: Annotation of a loop: how many iterations ahead its gathered operands are fetched; 0 means not at all.
PREFETCH = "sparse_tir.prefetch"
#: Annotation beside it: how many cache lines of each operand, one by default; hardware may bring the others.
LINES = "sparse_tir.prefetch_lines"

# The arguments of LLVM's prefetch: read, keep in all caches, data.
_READ, _ALL_CACHES, _DATA = 0, 3, 1
_LINE_BYTES = 64


def insert_prefetch(func: PrimFunc) -> PrimFunc:
    """Put prefetches at the head of every loop annotated `PREFETCH`, for each operand that it gathers.

    Before::

        for j in range(n):  # annotated with 16
            ... B[indices[start + j], k] ...

    After::

        for j in range(n):
            prefetch(&B[indices[min(start + j + 16, nnz - 1)], k])
            ... B[indices[start + j], k] ...

    Only the index array is read, within its bounds, and a prefetch never faults: results do not change. The
    first line is that of the first element that one iteration reads.

    Parameters
    ----------
    func : PrimFunc
        At the loop stage.
    """
    body = structural_map(func.body, (For, _in_loop))
    return func if body.same_as(func.body) else func.with_body(body)


def _in_loop(loop: For) -> For:
    if PREFETCH not in loop.annotations:
        return loop
    ahead, lines = int(loop.annotations[PREFETCH]), int(loop.annotations.get(LINES, 1))
    _check(loop, ahead, lines)
    fetches = [tirx.Evaluate(fetch) for load in _gathers(loop, ahead) for fetch in _fetches(load, lines)]
    annotations = {key: value for key, value in loop.annotations.items() if key not in (PREFETCH, LINES)}
    body = tirx.SeqStmt([*fetches, loop.body]) if ahead and fetches else loop.body
    head = (loop.loop_var, loop.min, loop.extent, loop.kind)
    return For(*head, body, loop.thread_binding, annotations, loop.step, loop.span)


def _check(loop: For, ahead: int, lines: int) -> None:
    if ahead < 0 or lines < 1:
        found = f"{ahead} iterations ahead, {lines} lines"
        raise errors.error("ST421", f"prefetch in the loop {loop.loop_var}", found, "from 0 and from 1 on")


def _fetches(load: TensorLoad, lines: int) -> Iterator[Expr]:
    """Prefetches of the lines from an element on, at most to the end of its row."""
    *outer, last = load.indices
    elements = _LINE_BYTES // np.dtype(str(load.source.ty.dtype.dtype)).itemsize
    size = load.source.ty.shape[-1]
    for line in range(lines):
        if line and not (isinstance(size, IntImm) and line * elements < int(size)):
            return
        address = tirx.address_of(BufferLoad(load.source, [*outer, last + line * elements]))
        yield tirx.call_intrin("void", "tirx.prefetch", address, _READ, _ALL_CACHES, _DATA)


def _gathers(loop: For, ahead: int) -> Iterator[TensorLoad]:
    """The loads whose indices are loaded, each once, as they will be ``ahead`` iterations later."""
    first = _first_iteration(loop)
    later = substitution({loop.loop_var: loop.loop_var + ahead})
    seen: list[TensorLoad] = []
    loads: list[TensorLoad] = []
    structural_walk(loop.body, (TensorLoad, loads.append))
    for load in loads:
        indices = [first(index) for index in load.indices]
        moved = [structural_map(index, (TensorLoad, lambda inner: _moved(inner, later))) for index in indices]
        gather = BufferLoad(load.source, moved)
        is_gather = any(not structural_equal(a, b) for a, b in zip(indices, moved, strict=True))
        if is_gather and not any(structural_equal(gather, other) for other in seen):
            seen.append(gather)
            yield gather


def _moved(inner: TensorLoad, later: Callable[[Any], Any]) -> TensorLoad:
    """An index array's element of a later iteration; its last one where there is none."""
    moved = [later(index) for index in inner.indices]
    if all(a.same_as(b) for a, b in zip(moved, inner.indices, strict=True)):
        return inner
    shape = inner.source.ty.shape
    bounded = [
        tirx.max(tirx.min(e, tirx.Cast(e.ty, size) - 1), tirx.const(0, e.ty.dtype))
        for e, size in zip(moved, shape, strict=True)
    ]
    return BufferLoad(inner.source, bounded)


def _first_iteration(loop: For) -> Callable[[Any], Any]:
    """Expresses what is inside by the variables outside; inner loops stand at their start."""
    values: dict[Var, Expr] = {}
    inner: list[For] = []
    blocks: list[SBlockRealize] = []
    structural_walk(loop.body, ((For, inner.append), (SBlockRealize, blocks.append)))
    starts = substitution({nested.loop_var: nested.min for nested in inner})
    for realize in blocks:
        for iterator, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
            values[iterator.var] = starts(value)
    bound = substitution(values)
    return lambda expr: starts(bound(expr))
