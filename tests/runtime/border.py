"""What the tests of the border share: plain readings of matrices, awkward arrays, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.matrix import SparseMatrix
from sparse_tir.runtime.operands import aligned_empty

LAYOUTS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def code_of(call: Callable[[], Any]) -> str:
    """The code of the refusal that the call must end in."""
    with pytest.raises(errors.DataError) as caught:
        call()
    return caught.value.code


def attempt(call: Callable[[], Any]) -> tuple[Any, str | None]:
    """The result and no code, or the code of the refusal."""
    try:
        return call(), None
    except errors.DataError as refusal:
        return None, refusal.code


def dense(matrix: SparseMatrix) -> list[list[Any]]:
    """The meaning of a matrix in plain Python: repeats add up, the dead head is not read."""
    rows = [[0] * matrix.shape[1] for _ in range(matrix.shape[0])]
    for i in range(matrix.shape[0]):
        for p in range(int(matrix.indptr[i]), int(matrix.indptr[i + 1])):
            rows[i][int(matrix.indices[p])] += matrix.data[p].item()
    return rows


def raw(
    indptr: Any, indices: Any, data: Any, shape: tuple[int, int], dtype: Any = np.float32
) -> sp.csr_array:
    """A SciPy CSR object with these very arrays, however broken, as users make them by assignment."""
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.indptr = np.array(indptr, dtype=np.int32) if isinstance(indptr, list) else indptr
    matrix.indices = np.array(indices, dtype=np.int32) if isinstance(indices, list) else indices
    matrix.data = np.array(data, dtype=dtype) if isinstance(data, list) else data
    return matrix


class DLPackOnly:
    """An array of another library: nothing but the exchange protocol."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def misaligned(array: NDArray[Any], offset: int = 1) -> NDArray[Any]:
    memory = aligned_empty((array.nbytes + offset,), np.uint8)
    copy = memory[offset:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def address(array: NDArray[Any]) -> int:
    """Unlike ``array.ctypes.data`` also right for empty arrays."""
    return int(array.__array_interface__["data"][0])


def is_readable(array: NDArray[Any]) -> bool:
    """What a kernel assumes: address, byte order, and strides that are products of the later sizes."""
    products = [math.prod(array.shape[axis + 1 :]) * array.dtype.itemsize for axis in range(array.ndim)]
    return (
        address(array) % array.dtype.itemsize == 0
        and array.dtype.isnative
        and array.flags.c_contiguous
        and array.strides == tuple(products)
    )
