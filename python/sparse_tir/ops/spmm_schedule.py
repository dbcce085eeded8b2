"""The schedule of SpMM on a CPU, as decisions, and the decisions that are right without a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tvm
from tvm import tirx
from tvm.ir import Expr
from tvm.s_tir import Schedule
from tvm.target import Target
from tvm.tirx import PrimFunc

from ..transform import lower
from ..transform.masked_unroll import MASKED_UNROLL
from ..transform.prefetch import LINES, PREFETCH
from ..transform.streaming import STREAMING
from ..transform.versions import choose_version

#: Width of AVX-512 vectors, and how many vectors of sums one pass over a row keeps: more are not faster, and
#: 1024 bytes no longer go on the stack.
VECTOR_BYTES, _VECTORS = 64, 8
_NARROWEST_BYTES = 32
#: What a thread writes before another one takes a turn, and the least and the most rows of that.
_TURN_BYTES, _ROWS = 1 << 14, (64, 256)
#: Entries ahead; 8 to 32 are alike (docs/performance/spmm.md).
_AHEAD = 16


@dataclass(frozen=True)
class Decisions:
    """What a schedule decides.

    Attributes
    ----------
    tile
        How the features are split: ``(passes, vectors, lanes)``, or ``(passes, elements)`` for loops that
        LLVM vectorises. A pass walks the entries of a row once, with ``vectors * lanes`` sums in registers.
    rows
        Rows that a thread takes at a time. Threads take turns, so that rows ordered by length do not
        unbalance them.
    prefetch
        How many entries ahead the rows of B are fetched; 0 means not at all.
    lines
        How many cache lines of a row of B are fetched; hardware brings the others, or does not.
    unroll
        Entries per branch; the last ones are masked.
    streaming
        1 to store C past the cache; needs tiles of three parts.
    """

    tile: tuple[int, ...]
    rows: int = 64
    prefetch: int = _AHEAD
    lines: int = 2
    unroll: int = 1
    streaming: int = 0


def default_decisions(feat_size: int, dtype: str = "float32", vector_bytes: int = VECTOR_BYTES) -> Decisions:
    """The decisions for operands that no cache holds: up to 8 vectors of sums per pass.

    Widths that are no multiple of a vector are left to LLVM, whose remainder loops beat narrow vectors.
    """
    itemsize = np.dtype(dtype).itemsize
    most = _VECTORS * vector_bytes // itemsize
    lanes = next((lanes for lanes in vector_lanes(dtype, vector_bytes) if feat_size % lanes == 0), None)
    if lanes is not None:
        vectors = _largest_divisor(feat_size // lanes, most // lanes)
        passes = feat_size // (lanes * vectors)
        if passes == 1 or lanes * vectors >= most // 4:
            # rows of one line are in flight early enough without help
            prefetch = _AHEAD if feat_size > lanes else 0
            return Decisions((passes, vectors, lanes), _rows(feat_size * itemsize), prefetch, streaming=1)
    elements = _largest_divisor(feat_size, most * 5 // 4)
    if elements < most // 4:  # many passes over the entries cost more than sums in memory
        elements = feat_size
    return Decisions((feat_size // elements, elements), _rows(feat_size * itemsize))


def _rows(row_bytes: int) -> int:
    """Rows of a turn, a power of two: some kilobytes of C, so that the turn costs little beside them."""
    fitting = max(1, _TURN_BYTES // row_bytes)
    return max(_ROWS[0], min(_ROWS[1], 1 << fitting.bit_length() - 1))


def resident_decisions(decisions: Decisions) -> Decisions:
    """The decisions for operands that stay in a core's own cache: nothing to fetch, nothing to keep out."""
    return replace(decisions, prefetch=0, streaming=0)


def vector_lanes(dtype: str, vector_bytes: int = VECTOR_BYTES) -> list[int]:
    """Elements of the widest vector, and of its half unless that is too narrow to be worth it."""
    widths = [vector_bytes, *([vector_bytes // 2] if vector_bytes // 2 >= _NARROWEST_BYTES else [])]
    return [width // np.dtype(dtype).itemsize for width in widths]


def vector_bytes_of(target: Target) -> int:
    """Width of the vectors of a target."""
    return int(tvm.get_global_func("target.llvm_get_vector_width")(target)) // 8


def _largest_divisor(number: int, limit: int) -> int:
    return next(d for d in range(max(1, min(number, limit)), 0, -1) if number % d == 0)


def schedule(sch: Schedule, decisions: Decisions) -> None:
    """Schedule the program as decided; the numbers may be constants or random variables of ``sch``.

    Before::

        for i: for j, k: C[i, k] += A[i, j] * B[j, k]

    After::

        for i_outer in parallel, by turns: for i_inner: for pass:
            for j: for vector in unroll: for lane in vector: sums += A * B
            C = sums
    """
    update, row = sch.get_sblock("spmm"), sch.get_sblock("spmm_I")
    j, k = sch.get_loops(update)
    fold, *inner = sch.split(k, decisions.tile)
    sch.reorder(fold, j, *inner)
    for key, value in (
        (PREFETCH, decisions.prefetch),
        (LINES, decisions.lines),
        (MASKED_UNROLL, decisions.unroll),
    ):
        sch.annotate(j, key, value)
    # Of this scope, TVM puts up to 1023 bytes on the stack, where LLVM turns them into registers; a "local"
    # buffer would be allocated at run time, and stored to for every row.
    copy = sch.cache_write(update, 0, "global")
    sch.reverse_compute_at(copy, fold, preserve_unit_loops=True)
    if len(inner) == 2:
        _vectorize(sch, inner)
        vector, lane = sch.split(sch.get_loops(copy)[-1], [None, decisions.tile[2]])
        _vectorize(sch, (vector, lane))
        sch.annotate(lane, STREAMING, decisions.streaming)
    outer, _ = sch.split(sch.get_loops(row)[0], [None, decisions.rows])
    _parallel_by_turns(sch, outer)


def _vectorize(sch: Schedule, loops: Sequence[Any]) -> None:
    vector, lane = loops
    sch.unroll(vector)
    sch.vectorize(lane)


def _parallel_by_turns(sch: Schedule, loop: Any) -> None:
    """Thread t of n runs the iterations t, t + n, t + 2n, ..; by default TVM gives it one contiguous part."""
    launch = sch.add_unit_loop(loop)
    sch.annotate(launch, "pragma_parallel_launch_point", 1)
    sch.annotate(launch, "pragma_parallel_stride_pattern", 1)
    sch.parallel(loop)


def scheduled_loops(module: tvm.IRModule, decisions: Decisions, cache_bytes: int) -> tvm.IRModule:
    """The default kernel: a version for arrays that fit in ``cache_bytes``, and one for those that do not.

    Parameters
    ----------
    module : IRModule
        The program at the position stage.
    decisions : Decisions
        Of the version for large arrays; `resident_decisions` gives the other.
    cache_bytes : int
        What one core has for itself.

    Returns
    -------
    IRModule
        At the loop stage.
    """
    versions = []
    for chosen in (resident_decisions(decisions), decisions):
        sch = Schedule(module, debug_mask="all")
        schedule(sch, chosen)
        versions.append(lower(sch.mod, "loop")["main"])
    small, large = versions
    return tvm.IRModule({"main": choose_version(small, large, lambda f: _dense_bytes(f) <= cache_bytes)})


def _dense_bytes(func: PrimFunc) -> Expr:
    """Bytes of B and C, which every row gathers from and writes to."""
    shapes = [p.ty.shape for p in func.params if len(getattr(p.ty, "shape", ())) == 2]
    itemsize = np.dtype(str(func.params[0].ty.dtype.dtype)).itemsize
    return sum(
        (tirx.Cast("int64", rows) * columns * itemsize for rows, columns in shapes), tirx.const(0, "int64")
    )
