"""ST132: the .npz file does not hold a sparse matrix."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = ("arrays.npz",)


def wrong() -> None:
    np.savez("arrays.npz", adjacency=np.eye(3))
    st.load_matrix("arrays.npz")
