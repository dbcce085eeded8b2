"""ST512: the emulated kernel does not end."""

from __future__ import annotations

import numpy as np
from tvm.script import tirx as T

from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation

#: What the message must mention.
NAMES = ("mirror", "32 threads wait", "__syncthreads")


@T.prim_func(s_tir=True)
def mirror(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
    for i in T.thread_binding(64, thread="threadIdx.x"):
        with T.sblock("mirror"):
            v = T.axis.spatial(64, i)
            if v < 16:
                T.evaluate(T.tvm_storage_sync("shared"))
            else:
                T.evaluate(T.call_extern("int32", "__syncwarp"))
            y[v] = x[63 - v]


def wrong() -> None:
    kernel = compile_for_emulation(mirror)
    kernel(np.ones(64, "float32"), np.ones(64, "float32"))
