"""A sparse tensor compiler for Apache TVM.

Write sparse programs with `script`, check them with `verify` and `interpret`, lower them stage by stage with `lower`,
compile them with `compile`; or call the operators, such as `spmm`.
"""

from . import _base, errors, script
from .interpret import interpret
from .io import load_matrix
from .ir.verify import verify
from .ops.spmm import spmm
from .ops.spmv import spmv
from .runtime import Kernel, SparseMatrix, aligned_empty, asarray, compile, load
from .script import from_source, prim_func
from .transform import lower

__version__ = "0.1.0"

__all__ = [
    "Kernel",
    "SparseMatrix",
    "__version__",
    "aligned_empty",
    "asarray",
    "compile",
    "errors",
    "from_source",
    "interpret",
    "load",
    "load_matrix",
    "lower",
    "prim_func",
    "script",
    "spmm",
    "spmv",
    "verify",
]

_ = _base.LIBRARY
