"""ST153: an output cannot be written."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: out",
    "float64",
)

A = sp.eye_array(3, format="csr", dtype="float32")
X = np.ones((3, 2), "float32")


def wrong() -> None:
    st.spmm(A, X, out=np.empty((3, 2)))
