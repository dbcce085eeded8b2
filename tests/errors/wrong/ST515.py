"""ST515: not all loops of the program run on the GPU."""

from __future__ import annotations

from sparse_tir.ops import spmm
from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation

#: What the message must mention.
NAMES = ("target cuda", "none of them bound", "Schedule.bind")


def wrong() -> None:
    compile_for_emulation(spmm.program(4))
