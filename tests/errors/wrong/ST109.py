"""ST109: unknown policy."""

from __future__ import annotations

import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "policy",
    "'fast'",
)


def wrong() -> None:
    st.asarray(sp.eye_array(3, format="csr"), policy="fast")
