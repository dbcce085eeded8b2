"""The dialect of scripts: ``from sparse_tir import script as S`` next to ``from tvm.script import tirx as T``."""

from typing import NoReturn

from .. import errors
from .axes import dense_fixed, dense_variable, sparse_fixed, sparse_variable
from .buffers import match_sparse_buffer
from .iteration import init, iter, sp_iter
from .parser import from_source, prim_func
from .printer import script

__all__ = [
    "dense_fixed",
    "dense_variable",
    "from_source",
    "init",
    "iter",
    "match_sparse_buffer",
    "prim_func",
    "script",
    "sp_iter",
    "sparse_fixed",
    "sparse_variable",
]

_NOT_YET = ("alloc_sparse_buffer", "attach", "combiner", "fuse", "singleton")


def __getattr__(name: str) -> NoReturn:
    if name in _NOT_YET:
        raise errors.error("ST210", f"S.{name}", "a construct that is not available yet", ", ".join(__all__))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
