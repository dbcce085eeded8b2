"""ST511: the emulated kernel makes an access that is not allowed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sparse_tir.ops import spmm
from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation

#: What the message must mention.
NAMES = ("spmm_kernel", "thread (0, 2, 0)", "access to B", "elements 0 to 11")

kernel = compile_for_emulation(spmm.loops(4, target="cuda"), signature=spmm.signature(4))

A = sp.eye_array(3, format="csr", dtype="float32")
X, Y = np.ones((3, 4), "float32"), np.empty((3, 4), "float32")
A.indices[2] = 3  # a row that X does not have


def wrong() -> None:
    kernel(A.data, X, Y, A.indptr, A.indices, policy="trust")
