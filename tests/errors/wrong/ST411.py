"""ST411: law 2: a structure array or value array is used as something else."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "vec",
    "Q",
)
#: What stands above the caret.
MARKED = "Q[i]"

HEAD = """
@S.prim_func
def main(a: T.handle, x: T.handle, y: T.handle, indptr: T.handle, indices: T.handle, q: T.handle,
         m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
"""
WRONG = (
    HEAD
    + """
    Q = T.match_buffer(q, (m,), "float32")
    with S.iter([I], "S", "vec") as [i]:
        Y[i] = Q[i]
"""
)


def wrong() -> None:
    st.from_source(WRONG)
