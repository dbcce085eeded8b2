"""ST505: the file is not a saved kernel."""

from __future__ import annotations

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = ("missing.so",)

kernel = spmm.kernel(4)


def wrong() -> None:
    st.load("missing.so")
