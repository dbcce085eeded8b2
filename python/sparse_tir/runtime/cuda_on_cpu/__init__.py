"""Kernels for a GPU, run on the CPU: correctness checks where there is no GPU."""

from .emulation import EmulatedKernel, compile_for_emulation
from .runner import FIBER_ORDERS, Launch, Schedule, execute
from .source import CudaKernel, CudaParameter, kernels_of
from .toolchain import build_program

__all__ = [
    "FIBER_ORDERS",
    "CudaKernel",
    "CudaParameter",
    "EmulatedKernel",
    "Launch",
    "Schedule",
    "build_program",
    "compile_for_emulation",
    "execute",
    "kernels_of",
]
