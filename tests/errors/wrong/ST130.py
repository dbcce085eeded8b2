"""ST130: the file cannot be read."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = ("missing.mtx",)


def wrong() -> None:
    st.load_matrix("missing.mtx")
