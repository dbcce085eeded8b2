"""Fresh arrays in memory that compiled kernels read and write fastest."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sparse_tir import errors

__all__ = ["aligned_empty", "row_major"]


def aligned_empty(shape: Sequence[int], dtype: DTypeLike, alignment: int = 64) -> NDArray[Any]:
    """A fresh, uninitialised C-ordered array whose address is a multiple of ``alignment`` bytes.

    Raises
    ------
    DataError
        ST159 for a shape, dtype or alignment that no array has.

    Examples
    --------
    >>> y = aligned_empty((3, 5), "float32")
    >>> y.shape, y.ctypes.data % 64
    ((3, 5), 0)
    """
    try:
        element = np.dtype(dtype)
        if element.hasobject or alignment < 1 or min(shape, default=0) < 0:
            raise ValueError("no Python objects, no alignment below 1, no negative sizes")
        n_bytes = math.prod(shape) * element.itemsize
        memory: NDArray[Any] = np.empty(n_bytes + alignment, dtype=np.uint8)
        # quicker than `__array_interface__`
        start = -ctypes.addressof(ctypes.c_char.from_buffer(memory.data)) % alignment
        strides = row_major(shape, element.itemsize)
        return np.ndarray(shape, element, buffer=memory, offset=start, strides=strides)
    except (TypeError, ValueError, OverflowError) as reason:
        found = f"shape {shape!r}, dtype {dtype!r}, alignment {alignment!r}"
        expected = "a sequence of sizes from 0 on, a dtype of numbers and a number of bytes from 1 on"
        raise errors.error(
            "ST159", "st.aligned_empty", found, expected, "such as ((3, 5), 'float32')"
        ) from reason


def row_major(shape: Sequence[int], stride: int) -> tuple[int, ...]:
    """Strides in bytes as compiled kernels check them; for empty arrays NumPy has others."""
    strides = []
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))
