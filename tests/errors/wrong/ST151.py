"""ST151: an operand has the wrong shape."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: X",
    "(4, 2)",
    "n = 3",
)

A = sp.eye_array(3, format="csr", dtype="float32")


def wrong() -> None:
    st.spmm(A, np.ones((4, 2), "float32"))
