"""ST507: the program or kernel does not fit the call."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = (
    "st.spmm(kernel=)",
    "4 features",
)

kernel = spmm.kernel(4)

A, X = sp.eye_array(3, format="csr", dtype="float32"), np.ones((3, 5), "float32")


def wrong() -> None:
    st.spmm(A, X, kernel=kernel)
