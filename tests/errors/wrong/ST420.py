"""ST420: the stage of the function is not the one that the pass takes."""

from __future__ import annotations

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = (
    "st.lower",
    "'loop'",
)

module = st.lower(spmm.program(4))  # loops


def wrong() -> None:
    st.lower(module, "position")
