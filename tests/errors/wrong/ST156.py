"""ST156: the dtype is not supported by this call."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm(A)",
    "complex64",
)

A = sp.eye_array(3, format="csr", dtype="float32")


def wrong() -> None:
    st.spmm(A.astype("complex64"), np.ones((3, 2), "complex64"))
