"""ST107: a structure array has a dtype or dimension that cannot be used."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.asarray(A).indices",
    "float64",
)

data, indptr = np.ones(2, "float32"), np.array([0, 1, 2])


def wrong() -> None:
    st.asarray((data, np.array([0.0, 1.0]), indptr), shape=(2, 2))
