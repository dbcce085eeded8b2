"""ST131: the file name has an unknown ending."""

from __future__ import annotations

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "edges.csv",
    "'.csv'",
)


def wrong() -> None:
    st.load_matrix("edges.csv")
