"""A sparse tensor compiler for Apache TVM.

Write sparse programs with `script`, check them with `verify` and `interpret`, lower them stage by stage with
`lower`, compile them with `compile`; or call the operators, such as `spmm`, and `tune` them.

Names are imported when they are first used, so that ``sparse-tir --help`` does not wait for TVM.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors, script
    from .errors import SparseTIRError
    from .interpret import interpret
    from .io import load_matrix
    from .ir.verify import verify
    from .ops.spmm import spmm
    from .ops.spmv import spmv
    from .runtime import Kernel, SparseMatrix, aligned_empty, asarray, compile, load
    from .script import from_source, prim_func
    from .transform import lower
    from .tuning import tune

__version__ = "0.1.0"

__all__ = [
    "Kernel",
    "SparseMatrix",
    "SparseTIRError",
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
    "tune",
    "verify",
]

#: Where the public names are defined.
_HOMES = {
    "Kernel": "runtime",
    "SparseMatrix": "runtime",
    "SparseTIRError": "errors",
    "aligned_empty": "runtime",
    "asarray": "runtime",
    "compile": "runtime",
    "from_source": "script",
    "interpret": "interpret",
    "load": "runtime",
    "load_matrix": "io",
    "lower": "transform",
    "prim_func": "script",
    "spmm": "ops.spmm",
    "spmv": "ops.spmv",
    "tune": "tuning",
    "verify": "ir.verify",
}
_MODULES = ("errors", "script")


class _Package(types.ModuleType):
    """This package. A public name keeps its object when a module of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOMES and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        importlib.import_module(f"{__name__}._base")
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        importlib.import_module(f"{__name__}._base")  # a missing or other TVM is said in one sentence
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
