"""ST154: an output shares memory with an operand."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: out",
    "X",
)

A = sp.eye_array(3, format="csr", dtype="float32")
X = np.ones((3, 2), "float32")


def wrong() -> None:
    st.spmm(A, X, out=X)
