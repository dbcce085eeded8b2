"""ST134: the Matrix Market file is malformed."""

from __future__ import annotations

import pathlib

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "wrong.mtx",
    "line 3",
)

HEADER = "%%MatrixMarket matrix coordinate real general\n"


def wrong() -> None:
    pathlib.Path("wrong.mtx").write_text(HEADER + "2 2 1\n3 1 5.0\n")
    st.load_matrix("wrong.mtx")
