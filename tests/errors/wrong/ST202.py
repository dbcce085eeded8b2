"""ST202: an axis is declared wrongly."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "S.dense_fixed",
    "-1",
)
#: What stands above the caret.
MARKED = "S.dense_fixed(-1)"

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(-1)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        Y[i] = X[i]
"""


def wrong() -> None:
    st.from_source(TEXT)
