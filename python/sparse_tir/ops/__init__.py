"""Operators, one per module: the Stage I program, its default schedule, its kernel and the call.

``sparse_tir.spmm`` is the call; ``sparse_tir.ops.spmm`` is the module around it.
"""

from . import spmm, spmv
from .kernels import KERNELS, CacheInfo, KernelCache

__all__ = ["KERNELS", "CacheInfo", "KernelCache", "spmm", "spmv"]
