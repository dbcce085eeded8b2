"""ST159: an argument is not what the call takes."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.load(path)",
    "NoneType",
)


def wrong() -> None:
    st.load(None)
