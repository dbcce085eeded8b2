"""Running: operands and patterns at the border, compiled kernels, saved kernels."""

from .artifact import load
from .build import compile
from .cuda_kernel import CudaKernel
from .kernel import Kernel
from .matrix import SparseMatrix, asarray
from .memory import aligned_empty
from .nvcc import DeviceReport, device_report
from .pattern import Pattern
from .signature import Parameter, Signature
from .target import host_target, resolve_target

__all__ = [
    "CudaKernel",
    "DeviceReport",
    "Kernel",
    "Parameter",
    "Pattern",
    "Signature",
    "SparseMatrix",
    "aligned_empty",
    "asarray",
    "compile",
    "device_report",
    "host_target",
    "load",
    "resolve_target",
]
