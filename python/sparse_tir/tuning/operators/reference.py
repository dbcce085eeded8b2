"""Operands, right results and tolerances: what candidates are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparse_tir.runtime import SparseMatrix, aligned_empty

#: Rounding errors of a sum of n terms grow like the root of n; this many times more is still right.
_SLACK = 8
_BLOCK = 64


def dense_operand(shape: tuple[int, int], dtype: str) -> NDArray[Any]:
    """The dense operand of measurements: floats in [0, 1), integers of both signs; always the same.

    Floats are those of ``numpy.random.default_rng(0).random(shape, dtype)``, in memory aligned to cache
    lines.
    """
    draw = np.random.default_rng(0)
    operand = aligned_empty(shape, dtype)
    if operand.dtype.kind == "f":
        draw.random(shape, dtype=operand.dtype.type, out=operand)
    else:
        operand[:] = draw.integers(-8, 8, shape, dtype=operand.dtype)
    return operand


def product(matrix: SparseMatrix, operand: NDArray[Any]) -> NDArray[Any]:
    """``A @ X`` by SciPy, in float64 and rounded once; integers wrap as SciPy's."""
    plain = matrix.to_scipy()
    if matrix.dtype.kind != "f":
        return np.asarray(plain @ operand)
    result: NDArray[Any] = np.empty((matrix.shape[0], operand.shape[1]), matrix.dtype)
    wide = plain.astype(np.float64)
    for start in range(0, operand.shape[1], _BLOCK):  # in parts, to need less memory
        part = slice(start, start + _BLOCK)
        result[:, part] = wide @ operand[:, part].astype(np.float64)
    return result


def tolerances(matrix: SparseMatrix, operand: NDArray[Any]) -> tuple[float, float]:
    """``(rtol, atol)`` for results that add in another order, in the dtype of the matrix.

    Relative to the longest row; absolute, where values of both signs cancel, to the largest sum of
    magnitudes. Integers are exact.
    """
    if matrix.dtype.kind != "f":
        return 0.0, 0.0
    rtol = float(_SLACK * np.finfo(matrix.dtype).eps * np.sqrt(max(matrix.pattern.rows.longest, 1)))
    if not (matrix.data < 0).any():
        return rtol, 0.0
    magnitude = product(matrix.with_data(np.abs(matrix.data)), np.abs(operand))
    return rtol, rtol * float(magnitude[np.isfinite(magnitude)].max(initial=0))


def wrong_values(expected: NDArray[Any]) -> NDArray[Any]:
    """An output before the call, wrong everywhere: what a kernel does not write shows."""
    return np.full_like(expected, np.nan) if expected.dtype.kind == "f" else ~expected
