"""ST210: a construct is not part of this version of the language."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "copy",
    "sinf",
)
#: What stands above the caret.
MARKED = "T.call_extern"

TEXT = """
@S.prim_func
def copy(x: T.handle, y: T.handle, m: T.int32):
    I = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (I,), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        Y[i] = T.call_extern("float32", "sinf", X[i])
"""


def wrong() -> None:
    st.from_source(TEXT)
