"""ST204: an iteration has the wrong number of names or kinds."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "'copy'",
    "'SR'",
)
#: What stands above the caret.
MARKED = "S.iter"

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "SR", "copy") as [i]:
        Y[i] = X[i]
"""


def wrong() -> None:
    st.from_source(TEXT)
