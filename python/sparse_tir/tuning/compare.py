"""Timing of several calls in turns, each checked before the clock starts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import _sparsetools

from sparse_tir import errors
from sparse_tir.ops.spmm import spmm
from sparse_tir.runtime import Kernel, SparseMatrix, aligned_empty

from .operators.reference import dense_operand, product, tolerances, wrong_values
from .problem import Measurement

_SAMPLE_SECONDS = 0.004
_PROBES = 3


def compare_spmm(
    matrix: SparseMatrix, feat: int, kernels: Mapping[str, Kernel | None], *, samples: int = 25
) -> dict[str, Measurement]:
    """Seconds of one SpMM by SciPy and by each kernel (None: the default one), measured in turns.

    All write into one given output, and take the matrix of `sparse_tir.asarray`: what is timed is the
    product. SciPy adds to its output, which is therefore set to zero within its time, as in its own ``@``.

    Raises
    ------
    InternalError
        ST900 if a kernel computes something else than SciPy in float64.
    """
    operand = dense_operand((matrix.shape[1], feat), str(matrix.dtype))
    expected = product(matrix, operand)
    out: NDArray[Any] = aligned_empty(expected.shape, expected.dtype)
    calls = {"scipy": _scipy_call(matrix, operand, out)}
    for name, kernel in kernels.items():
        calls[name] = lambda kernel=kernel: spmm(matrix, operand, out=out, kernel=kernel)  # type: ignore[misc]
    rtol, atol = tolerances(matrix, operand)
    for name, call in calls.items():
        np.copyto(out, wrong_values(expected))
        call()
        if not np.allclose(out, expected, rtol=rtol, atol=atol, equal_nan=True):
            found = f"up to {np.abs(out - expected).max()} away from SciPy"
            raise errors.error("ST900", f"comparison: {name}", found, f"rtol {rtol:.1e}, atol {atol:.1e}")
    return time_in_turns(calls, samples)


def time_in_turns(calls: Mapping[str, Callable[[], Any]], samples: int) -> dict[str, Measurement]:
    """Seconds per call; every round takes one sample of each, so that disturbances meet all alike.

    A sample is the mean of as many calls as fill 4 ms.
    """
    numbers = {name: _calls_per_sample(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(samples):
        for place in range(len(names)):
            name = names[(place + turn) % len(names)]
            times[name].append(_mean_seconds(calls[name], numbers[name]))
    return {name: Measurement.of(seconds) for name, seconds in times.items()}


def _calls_per_sample(call: Callable[[], Any]) -> int:
    once = min(_mean_seconds(call, 1) for _ in range(_PROBES))
    return max(1, math.ceil(_SAMPLE_SECONDS / max(once, 1e-9)))


def _mean_seconds(call: Callable[[], Any], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number


def _scipy_call(matrix: SparseMatrix, operand: NDArray[Any], out: NDArray[Any]) -> Callable[[], None]:
    """What SciPy's ``A @ X`` runs, without the allocation of its result: the same terms for all."""
    plain = matrix.to_scipy()
    (m, n), feat = plain.shape, operand.shape[1]
    arrays = (plain.indptr, plain.indices, plain.data, operand.ravel(), out.reshape(-1))

    def call() -> None:
        out.fill(0)
        _sparsetools.csr_matvecs(m, n, feat, *arrays)

    return call
