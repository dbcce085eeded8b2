"""ST155: an operand is on another device."""

from __future__ import annotations

import scipy.sparse as sp

import sparse_tir as st

#: What the message must mention.
NAMES = (
    "st.spmm: X",
    "CUDA",
)

A = sp.eye_array(3, format="csr", dtype="float32")


class OnAGpu:  # stands for a CUDA tensor
    def __init__(self):
        self.__cuda_array_interface__ = {"shape": (3, 2), "typestr": "<f4", "data": (0, False), "version": 3}


def wrong() -> None:
    st.spmm(A, OnAGpu())
