"""Streaming stores: an annotation that schedules leave, and the pass that carries it out.

A store to a line that is not in the cache reads the line first, and drives another one out. Where the output is
larger than the cache and written once, whole vectors can go to memory past it: half the traffic of the output,
and the operands stay where they are.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any

import numpy as np
from tvm import tirx
from tvm.ir import Call, Expr, StringImm, TensorLoad
from tvm.s_tir import SBlockRealize
from tvm.sym import Analyzer
from tvm.tirx import BufferLoad, BufferStore, For, IntImm, PrimFunc, SeqStmt, Stmt
from tvm_ffi import structural_map, structural_walk

from .. import errors
from .llvm_functions import call, define, with_functions
from .substitution import substitution

#: Annotation of a vectorised loop that only copies: its vector is stored past the cache. 0 means not at all.
STREAMING = "sparse_tir.streaming"

_PREFIX = "sparse_tir_stream"
_FENCE = f"{_PREFIX}_fence"
_LAUNCH = "pragma_parallel_launch_point"
#: LLVM's names, where they are not the letter and the bits.
_LLVM_TYPES = {"float16": "half", "float32": "float", "float64": "double", "int32": "i32", "int64": "i64"}


def stream_stores(func: PrimFunc) -> PrimFunc:
    """Store the vectors of the loops annotated `STREAMING` past the cache.

    Before::

        for k in vectorized(16):  # annotated with 1
            C[i, k] = sums[k]

    After::

        stream(&C[i, 0], sums[0:16])  # an ordinary store where the address is no multiple of the vector

    Streaming stores are not ordered with others, so every thread ends with a fence.

    Parameters
    ----------
    func : PrimFunc
        At the loop stage.

    Raises
    ------
    LegalityError
        ST421 if an annotated loop is no copy of one vector of a dtype that LLVM stores so.
    """
    vectors: set[tuple[str, int]] = set()
    body = structural_map(func.body, (For, lambda loop: _without_streaming(loop, vectors)))
    if not vectors:
        return func.with_body(body) if not body.same_as(func.body) else func
    return func.with_body(with_functions(_with_fences(body), _library(vectors)))


def _without_streaming(loop: For, vectors: set[tuple[str, int]]) -> Stmt:
    if STREAMING not in loop.annotations:
        return loop
    if int(loop.annotations[STREAMING]) and _is_vector(loop.extent):
        return _streamed(loop, vectors)
    annotations = {key: value for key, value in loop.annotations.items() if key != STREAMING}
    head = (loop.loop_var, loop.min, loop.extent, loop.kind)
    return For(*head, loop.body, loop.thread_binding, annotations, loop.step, loop.span)


def _is_vector(extent: Expr) -> bool:
    """Whether so many elements are a vector that a machine stores at once; others are stored as usual."""
    return isinstance(extent, IntImm) and int(extent) > 1 and int(extent).bit_count() == 1


def _streamed(loop: For, vectors: set[tuple[str, int]]) -> Stmt:
    """The call that stores the vector of the loop."""
    store, bound = _copy_of(loop)
    dtype, lanes = str(store.buffer.ty.dtype.dtype), int(loop.extent)
    if dtype not in _LLVM_TYPES:
        raise errors.error("ST421", "streaming stores", f"values of dtype {dtype}", ", ".join(_LLVM_TYPES))
    for indices in (store.indices, store.value.indices):
        _check_advance(loop, [bound(index) for index in indices])
    vectors.add((dtype, lanes))
    first = substitution({loop.loop_var: loop.min})
    target = BufferLoad(store.buffer, [first(bound(index)) for index in store.indices])
    load = store.value
    *outer, last = [first(bound(index)) for index in load.indices]
    vector = BufferLoad(load.source, [*outer, tirx.Ramp(last, tirx.const(1, str(last.ty.dtype)), lanes)])
    return call(_name(dtype, lanes), tirx.address_of(target), vector)


def _check_advance(loop: For, indices: list[Expr]) -> None:
    """Refuses subscripts that are not one element further from iteration to iteration."""
    following = substitution({loop.loop_var: loop.loop_var + 1})
    analyzer = Analyzer()
    for place, index in enumerate(indices):
        step = analyzer.simplify(following(index) - index)
        wanted = 1 if place == len(indices) - 1 else 0
        if not (isinstance(step, IntImm) and int(step) == wanted):
            found = f"the subscript {index} in the loop {loop.loop_var}"
            raise errors.error("ST421", "streaming stores", found, "consecutive elements of one row")


def _copy_of(loop: For) -> tuple[BufferStore, Any]:
    """The store that the loop repeats, and what expresses its indices by loop variables."""
    body, values, is_guarded = loop.body, {}, False
    if isinstance(body, SBlockRealize):
        block, is_guarded = body.block, not _is_true(body.predicate)
        values = {i.var: v for i, v in zip(block.iter_vars, body.iter_values, strict=True)}
        body = block.body
    is_copy = (
        not is_guarded
        and isinstance(body, BufferStore)
        and isinstance(body.value, TensorLoad)
        and loop.kind == tirx.ForKind.VECTORIZED
    )
    if not is_copy:
        raise errors.error(
            "ST421",
            "streaming stores",
            f"the loop {loop.loop_var}",
            "a vectorised loop of one copy without a guard",
        )
    return body, substitution(values)


def _is_true(predicate: Expr) -> bool:
    return isinstance(predicate, IntImm) and bool(int(predicate))


def _with_fences(body: Stmt) -> Stmt:
    """A fence at the end of what each thread runs: the launch, else the parallel loop, else the function."""
    fence = call(_FENCE)
    places: list[For] = []
    structural_walk(body, (For, places.append))
    threads = [loop for loop in places if _is_parallel(loop) and _streams(loop)]
    if not threads:
        return SeqStmt([body, fence])
    outermost = [loop for loop in threads if not any(_is_inside(loop, other) for other in threads)]

    def fenced(loop: For) -> For:
        if not any(loop.same_as(place) for place in outermost):
            return loop
        head = (loop.loop_var, loop.min, loop.extent, loop.kind)
        return For(
            *head, SeqStmt([loop.body, fence]), loop.thread_binding, loop.annotations, loop.step, loop.span
        )

    return structural_map(body, (For, fenced))


def _is_parallel(loop: For) -> bool:
    return loop.kind == tirx.ForKind.PARALLEL or _LAUNCH in loop.annotations


def _is_inside(inner: For, outer: For) -> bool:
    if inner.same_as(outer):
        return False
    found: list[For] = []
    structural_walk(outer.body, (For, found.append))
    return any(loop.same_as(inner) for loop in found)


def _streams(loop: For) -> bool:
    calls: list[Call] = []
    structural_walk(loop.body, (Call, calls.append))
    return any(
        isinstance(a, StringImm) and a.value.startswith(_PREFIX) for found in calls for a in found.args
    )


def _name(dtype: str, lanes: int) -> str:
    return f"{_PREFIX}_{dtype}x{lanes}"


def _library(vectors: Iterable[tuple[str, int]]) -> str:
    """The functions as LLVM's text; they are inlined."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    # What orders streaming stores on x86 is no instruction of any LLVM fence but the costliest.
    fence = "call void @llvm.x86.sse.sfence()" if is_x86 else "fence release"
    return "".join(
        [
            "declare void @llvm.x86.sse.sfence()\n" if is_x86 else "",
            define(_FENCE, "", f"  {fence}\n"),
            *(_store_function(dtype, lanes) for dtype, lanes in sorted(vectors)),
            "!0 = !{i32 1}\n",
        ]
    )


def _store_function(dtype: str, lanes: int) -> str:
    size = np.dtype(dtype).itemsize
    vector = f"<{lanes} x {_LLVM_TYPES[dtype]}>"
    body = f"""  %address = ptrtoint ptr %to to i64
  %low = and i64 %address, {lanes * size - 1}
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %past, label %through
past:
  store {vector} %values, ptr %to, align {lanes * size}, !nontemporal !0
  ret void
through:
  store {vector} %values, ptr %to, align {size}
"""
    return define(_name(dtype, lanes), f"ptr %to, {vector} %values", body)
