"""ST514: there is no CUDA device here."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np

from sparse_tir.ops import spmm
from sparse_tir.runtime import CudaKernel, cuda_kernel

#: What the message must mention.
NAMES = ("spmm", "CUDA device", "cuda_on_cpu")


class OnDevice(np.ndarray[Any, Any]):
    """What looks like an array on a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def array(*shape: int, dtype: str = "float32") -> OnDevice:
    return np.zeros(shape, dtype).view(OnDevice)


def wrong() -> None:
    with mock.patch.object(cuda_kernel, "has_device", return_value=False):
        kernel = CudaKernel("spmm", spmm.signature(4), b"", {})
    kernel(array(7), array(5, 4), array(3, 4), array(4, dtype="int32"), array(7, dtype="int32"))
