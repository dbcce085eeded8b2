"""ST152: an operand has the wrong dtype."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: X",
    "float64",
    "float32",
)

A = sp.eye_array(3, format="csr", dtype="float32")


def wrong() -> None:
    st.spmm(A, np.ones((3, 2)))
