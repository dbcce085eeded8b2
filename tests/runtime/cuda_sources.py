"""CUDA C for tests of the emulator, and how to run it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparse_tir.runtime.cuda_on_cpu import Launch, Schedule, build_program, execute, kernels_of

#: Each thread leaves its element for the next one.
SHIFT = """
extern "C" __global__ void __launch_bounds__(64) shift(float* __restrict__ in_ptr, float* __restrict__ out_ptr) {
  __shared__ alignas(64) float tile[64];
  tile[threadIdx.x] = in_ptr[threadIdx.x];
  BODY
  out_ptr[threadIdx.x] = tile[(threadIdx.x + 63) % 64];
}
"""


def shift(body: str) -> str:
    return SHIFT.replace("BODY", body)


def kernel(body: str, parameters: str) -> str:
    return f'extern "C" __global__ void __launch_bounds__(64) tested({parameters}) {{\n{body}\n}}\n'


def run(
    source: str,
    arguments: dict[str, Any],
    *,
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (64, 1, 1),
    order: str = "forward",
    seed: int = 0,
    timeout_s: float = 20.0,
) -> dict[str, NDArray[Any]]:
    """Runs the only kernel of a source."""
    kernels = kernels_of(source)
    program = build_program(source, kernels)
    return execute(program, kernels, [Launch(0, grid, block)], arguments, Schedule(order, seed, timeout_s))


def nan(*shape: int) -> NDArray[Any]:
    return np.full(shape, np.nan, "float32")
