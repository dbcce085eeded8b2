"""ST105: an index is out of range."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A).indices",
    "column index 2",
)

data, indptr = np.ones(2, "float32"), np.array([0, 1, 2])


def wrong() -> None:
    st.asarray((data, np.array([1, 2]), indptr), shape=(2, 2))
