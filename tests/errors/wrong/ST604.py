"""ST604: a tuning argument is out of range."""

from __future__ import annotations

import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.tune.max_trials_global",
    "0",
)

A = sp.random_array((64, 64), density=0.1, format="csr", dtype="float32", rng=0)


def wrong() -> None:
    st.tune("spmm", A, feat=8, work_dir="work", max_trials_global=0)
