"""ST101: the object is not a sparse matrix that this call understands."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A)",
    "(3, 3)",
)


def wrong() -> None:
    st.asarray(np.eye(3))
