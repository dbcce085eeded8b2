"""ST503: unknown target."""

from __future__ import annotations

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = (
    "target",
    "opencl",
)


def wrong() -> None:
    st.compile(spmm.program(4), "opencl")
