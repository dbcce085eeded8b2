"""ST207: an axis is listed before its parent."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "row_sums",
    "`J`",
    "`I`",
)
#: What stands above the caret.
MARKED = "with S.iter"

TEXT = """
@S.prim_func
def copy(a: T.handle, y: T.handle, indptr: T.handle, indices: T.handle, m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    A = S.match_sparse_buffer(a, (I, J), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([J], "R", "row_sums") as [j]:
        Y[0] = Y[0] + 1.0
"""


def wrong() -> None:
    st.from_source(TEXT)
