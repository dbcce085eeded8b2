"""ST158: a number has a value that its parameter cannot take."""

from __future__ import annotations

import numpy as np
from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import script as S

#: What the message must mention.
NAMES = (
    "row_sums: n",
    "-2",
)


@S.prim_func
def row_sums(
    a: T.handle, y: T.handle, indptr: T.handle, indices: T.handle, m: T.int32, n: T.int32, nnz: T.int32
):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices))
    A = S.match_sparse_buffer(a, (I, J), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I, J], "SR", "row_sums") as [i, j]:
        with S.init():
            Y[i] = 0.0
        Y[i] = Y[i] + A[i, j]


kernel = st.compile(row_sums)
values, out, indptr = np.ones(2, "float32"), np.empty(1, "float32"), np.array([0, 2], "int32")
indices = np.array([0, 1], "int32")


def wrong() -> None:
    kernel(values, out, indptr, indices, n=-2)
