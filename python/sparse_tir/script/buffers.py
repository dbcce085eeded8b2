"""Sparse buffer declarations of scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm
from tvm.ir import Expr, Var
from tvm.tirx import is_buffer_var
from tvm.tirx.script import builder as T

from .. import errors
from ..ir import Axis, SparseBuffer
from .scope import current_scope

_DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


def match_sparse_buffer(
    handle: Var, axes: Sequence[Axis], dtype: str = "float32", *, default: Any = 0, name: str = ""
) -> Var:
    """Bind a parameter to values over ``axes``; scripts subscript it by coordinates.

    Parameters
    ----------
    handle : T.handle
        The value array: one dimension per dense or fixed-width axis and per chain of variable axes.
    axes : sequence of Axis
        Parents before children.
    dtype : str
    default : number or constant
        What a coordinate that is not stored reads as; converted to ``dtype``.
    """
    where = f"S.match_sparse_buffer {name!r}" if name else "S.match_sparse_buffer"
    scope = current_scope(where)
    scope.check_head(where)
    axes = list(axes) if isinstance(axes, Sequence) else [axes]
    if not axes or not all(isinstance(a, Axis) for a in axes):
        raise errors.error("ST203", f"{where}: axes", f"{axes!r}", "at least one axis")
    if not isinstance(handle, Var) or is_buffer_var(handle):
        raise errors.error(
            "ST203", where, f"{handle!r}", "a parameter of type T.handle that is not matched yet"
        )
    if handle.name in scope.matched:
        raise errors.error("ST203", where, f"`{handle.name}` matched twice", "one buffer per parameter")
    if dtype not in _DTYPES:
        raise errors.error("ST203", f"{where}: dtype", repr(dtype), ", ".join(_DTYPES))
    buffer = T.match_buffer(handle, [a.length for a in axes], dtype, layout=None)
    scope.matched[handle.name] = buffer
    try:
        scope.buffers.append(SparseBuffer(buffer, axes, _constant(where, default, dtype)))
    except errors.ScriptError as error:  # the buffer has no name yet
        raise type(error)(str(error).replace("[ST203] :", f"[ST203] {where}:", 1)) from None
    return buffer


def _constant(where: str, value: Any, dtype: str) -> Expr:
    number = value.value if isinstance(value, Expr) and hasattr(value, "value") else value
    if not isinstance(number, int | float | np.number):
        raise errors.error("ST203", f"{where}: default", f"{value!r}", "a number or a constant")
    try:
        return tvm.tirx.const(number, dtype)
    except (TypeError, ValueError, OverflowError) as reason:
        raise errors.error(
            "ST203", f"{where}: default", f"{value!r}", f"a number that {dtype} can hold"
        ) from reason
