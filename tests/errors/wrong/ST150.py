"""ST150: an operand is not an array."""

from __future__ import annotations

import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: X",
    "list",
)

A = sp.eye_array(3, format="csr", dtype="float32")


def wrong() -> None:
    st.spmm(A, [[1.0], [2.0], [3.0]])
