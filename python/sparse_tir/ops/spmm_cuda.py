"""The schedule of SpMM on a GPU: a group of threads per row, each with a vector of contiguous features in registers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm.s_tir import Schedule

from .. import errors

_VECTOR_BYTES = 16  # the widest load of one thread
_MOST_LANES = 64  # threads of one row: more wait for the same row of A and keep fewer rows in flight
_BLOCK_THREADS = 256


@dataclass(frozen=True)
class CudaDecisions:
    """What a schedule for a GPU decides.

    Attributes
    ----------
    vector
        Contiguous features of a thread: one load of B per entry of A. It divides the number of features.
    lanes
        Threads of a row (threadIdx.x). Where ``vector * lanes`` is less than the number of features, more blocks
        (blockIdx.y) share a row; where it is no divisor, the last of them is guarded.
    rows
        Rows of a block (threadIdx.y).
    """

    vector: int
    lanes: int
    rows: int


#: TVM's CUDA C of integers that wrap does not compile: it takes the address of a constant.
_DTYPES = ("float32", "float64")


def check_dtype(dtype: str) -> None:
    """Refuses what has no kernel on a GPU (ST156)."""
    if dtype not in _DTYPES:
        raise errors.error("ST156", "spmm(target='cuda')", f"values of dtype {dtype}", ", ".join(_DTYPES))


def default_decisions(feat_size: int, dtype: str = "float32") -> CudaDecisions:
    """Loads of 16 bytes where the width permits, up to 64 threads per row, blocks of about 256 threads."""
    widest = max(1, _VECTOR_BYTES // np.dtype(dtype).itemsize)
    vector = next(v for v in (widest, 2, 1) if v <= widest and feat_size % v == 0)
    lanes = feat_size // vector
    if lanes > _MOST_LANES:  # as few idle threads as possible: equal parts
        parts = -(-lanes // _MOST_LANES)
        lanes = -(-lanes // parts)
    return CudaDecisions(vector, lanes, max(1, _BLOCK_THREADS // lanes))


def schedule(sch: Schedule, decisions: CudaDecisions) -> None:
    """Schedule the program of `ops.spmm`, at the position stage, as decided.

    Before::

        for i: for j, k: C[i, k] += A[i, j] * B[j, k]

    After::

        for row_block in blockIdx.x: for row in threadIdx.y: if in range:
            for part in blockIdx.y: for lane in threadIdx.x: if in range:
                for j: for v in vector: sums[v] += A * B
                C = sums

    All threads of a row walk the same entries, so loads of A and of its indices are broadcasts, and a row of B is
    read in consecutive vectors. No barrier, no shared memory, no atomics.
    """
    update, row = sch.get_sblock("spmm"), sch.get_sblock("spmm_I")
    j, k = sch.get_loops(update)
    vectors, element = sch.split(k, [None, decisions.vector])
    part, lane = sch.split(vectors, [None, decisions.lanes])
    sch.reorder(part, lane, j, element)
    copy = sch.cache_write(update, 0, "local")
    sch.reverse_compute_at(copy, lane, preserve_unit_loops=True)
    sch.vectorize(element)
    sch.vectorize(sch.get_loops(copy)[-1])
    outer, inner = sch.split(sch.get_loops(row)[0], [None, decisions.rows])
    for loop, thread in (
        (outer, "blockIdx.x"),
        (inner, "threadIdx.y"),
        (part, "blockIdx.y"),
        (lane, "threadIdx.x"),
    ):
        sch.bind(loop, thread)
