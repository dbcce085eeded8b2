"""ST104: indptr does not end at the number of stored entries."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A).indptr",
    "ends at 4",
)

data, indices = np.ones(3, "float32"), np.array([0, 1, 2])


def wrong() -> None:
    st.asarray((data, indices, np.array([0, 1, 2, 4])), shape=(3, 3))
