"""ST212: the number of subscripts is not the number of axes."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "X",
    "0 subscripts",
)
#: What stands above the caret.
MARKED = "Y[i]"

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        Y[i] = X
"""


def wrong() -> None:
    st.from_source(TEXT)
