"""ST510: the emulator does not cover the kernel."""

from __future__ import annotations

from tvm.script import tirx as T

from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation

#: What the message must mention.
NAMES = ("twice", "an array between")


@T.prim_func(s_tir=True)
def twice(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
    between = T.sblock_alloc_buffer((64,), "float32")
    for i in T.thread_binding(64, thread="threadIdx.x"):
        with T.sblock("first"):
            v = T.axis.spatial(64, i)
            between[v] = x[v] + T.float32(1)
    for i in T.thread_binding(64, thread="threadIdx.x"):
        with T.sblock("second"):
            v = T.axis.spatial(64, i)
            y[v] = between[63 - v]


def wrong() -> None:
    compile_for_emulation(twice)
