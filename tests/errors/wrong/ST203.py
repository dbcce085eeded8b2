"""ST203: a sparse buffer is declared wrongly."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "A",
    "`J`",
    "`I`",
)
#: What stands above the caret.
MARKED = "S.match_sparse_buffer"

TEXT = """
@S.prim_func
def copy(a: T.handle, indptr: T.handle, indices: T.handle, m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    A = S.match_sparse_buffer(a, (J,), "float32")
    with S.iter([I, J], "SS", "double") as [i, j]:
        A[i, j] = A[i, j] * 2.0
"""


def wrong() -> None:
    st.from_source(TEXT)
