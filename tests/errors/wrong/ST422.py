"""ST422: the schedule repeats or overwrites a reduction."""

from __future__ import annotations

from tvm.s_tir import Schedule

import sparse_tir as st

#: What the message must mention.
NAMES = ("`sums`",)

HEAD = """
@S.prim_func
def main(a: T.handle, x: T.handle, y: T.handle, indptr: T.handle, indices: T.handle,
         m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I, J], "%s", "sums") as [i, j]:
        with S.init():
            %s = 0.0
        %s = %s + A[i, j]
"""
columns, rows = HEAD % ("RS", "X[j]", "X[j]", "X[j]"), HEAD % ("SR", "Y[i]", "Y[i]", "Y[i]")


def cached(text):
    schedule = Schedule(st.lower(st.from_source(text), "position"), debug_mask="none")
    schedule.cache_write(schedule.get_sblock("sums"), 0, "local")
    return st.lower(schedule.mod)


def wrong() -> None:
    cached(columns)
