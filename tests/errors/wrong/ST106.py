"""ST106: indices and values differ in length."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A).data",
    "3 column indices",
)

indices, indptr = np.array([0, 1, 2]), np.array([0, 1, 2, 3])


def wrong() -> None:
    st.asarray((np.ones(2, "float32"), indices, indptr), shape=(3, 3))
