"""ST208: a declaration or statement stands where it is not allowed."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "copy",
    "a branch (if)",
)
#: What stands above the caret.
MARKED = "if i > 1"

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        if i > 1:
            Y[i] = X[i]
"""


def wrong() -> None:
    st.from_source(TEXT)
