"""ST421: this lowering does not support the program."""

from __future__ import annotations

from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import script as S

#: What the message must mention.
NAMES = (
    "rows",
    "Y",
)
#: What stands above the caret.
MARKED = "Y[i] = Y[i]"


def row_sums(dtype):
    @S.prim_func
    def main(
        a: T.handle, y: T.handle, indptr: T.handle, indices: T.handle, m: T.int32, n: T.int32, nnz: T.int32
    ):
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        A = S.match_sparse_buffer(a, (I, J), "float16")
        Y = S.match_sparse_buffer(y, (I,), dtype)
        with S.iter([I, J], "SR", "rows") as [i, j]:
            Y[i] = Y[i] + A[i, j]

    return main


def wrong() -> None:
    st.lower(row_sums("float16"))
