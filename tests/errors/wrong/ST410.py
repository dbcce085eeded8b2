"""ST410: law 10: a written buffer is read at another element."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "scan",
    "Y[i - 1]",
    "Y[i]",
)
#: What stands above the caret.
MARKED = "Y[i - 1]"

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
"""
WRONG = (
    HEAD
    + """
    with S.iter([I], "S", "scan") as [i]:
        Y[i] = Y[i - 1] + 1.0
"""
)


def wrong() -> None:
    st.from_source(WRONG)
