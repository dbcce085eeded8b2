"""ST102: a structure array has the wrong length."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A).indptr",
    "3 rows need 4",
)

data, indices = np.ones(3, "float32"), np.array([0, 1, 2])


def wrong() -> None:
    st.asarray((data, indices, np.array([0, 1, 3])), shape=(3, 3))
