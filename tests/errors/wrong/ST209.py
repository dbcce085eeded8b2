"""ST209: a subscript is not an integer."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "copy",
    "X",
)
#: What stands above the caret.
MARKED = "X["

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        Y[i] = X[T.cast(i, "float32") * 2.0]
"""


def wrong() -> None:
    st.from_source(TEXT)
