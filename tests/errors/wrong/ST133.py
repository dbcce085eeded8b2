"""ST133: the file holds a pickle."""

from __future__ import annotations

import numpy as np

import sparse_tir as st

#: What the message must mention.
NAMES = ("objects.npz",)


def wrong() -> None:
    np.savez("objects.npz", format=np.array(["csr"], dtype=object))
    st.load_matrix("objects.npz")
