"""ST401: law 1: a non-unique axis listed S selects elements of a dense axis."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "columns",
    "X[j]",
    "`J`",
)
#: What stands above the caret.
MARKED = "X[j]"

HEAD = """
@S.prim_func
def main(a: T.handle, x: T.handle, y: T.handle, indptr: T.handle, indices: T.handle,
         m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices), unique=False)
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
"""
WRONG = (
    HEAD
    + """
    with S.iter([I, J], "RS", "columns") as [i, j]:
        X[j] = X[j] + A[i, j]
"""
)


def wrong() -> None:
    st.from_source(WRONG)
