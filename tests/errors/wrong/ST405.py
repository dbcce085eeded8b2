"""ST405: law 3: a write is out of range."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "shift",
    "Y[i + m]",
    "`I`",
)
#: What stands above the caret.
MARKED = "Y[i"

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
    with S.iter([I], "S", "shift") as [i]:
        Y[i + m] = 1.0
"""
)


def wrong() -> None:
    st.from_source(WRONG)
