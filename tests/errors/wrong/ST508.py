"""ST508: a compiler that this target needs is missing."""

from __future__ import annotations

import os
from unittest import mock

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = ("nvcc", "PATH", "a driver is not needed")


def wrong() -> None:
    with mock.patch.dict(os.environ, {"PATH": ""}):
        st.compile(spmm.loops(4, target="cuda"), "cuda")
