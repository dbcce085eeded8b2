"""ST513: the launch is not one that a device takes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from tvm.s_tir import Schedule

import sparse_tir as st
from sparse_tir.ops import spmm, spmm_cuda
from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation

#: What the message must mention.
NAMES = ("spmm_kernel", "2048 threads", "1024")

schedule = Schedule(st.lower(spmm.program(64), stage="position"), debug_mask="all")
spmm_cuda.schedule(schedule, spmm_cuda.CudaDecisions(vector=4, lanes=16, rows=128))
kernel = compile_for_emulation(schedule.mod, signature=spmm.signature(64))

A = sp.eye_array(3, format="csr", dtype="float32")
X, Y = np.ones((3, 64), "float32"), np.empty((3, 64), "float32")


def wrong() -> None:
    kernel(A.data, X, Y, A.indptr, A.indices)
