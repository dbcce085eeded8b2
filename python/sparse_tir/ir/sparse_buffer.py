"""Sparse buffers: a buffer variable of the dense coordinate shape, and the axes that say how it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm
import tvm_ffi
from tvm.ir import Expr, Node, Var
from tvm_ffi import get_global_func

from .axis import Axis


@tvm_ffi.register_object("sparse_tir.SparseBuffer")
class SparseBuffer(Node):  # type: ignore[misc]  # TVM ships no types
    """Values over a tree of axes.

    Attributes
    ----------
    buffer : Var
        An ordinary buffer variable whose shape is the coordinate space; scripts subscript it.
    axes : list of Axis
        Parents before children. The value array enumerates them in this order.
    default_value : Expr
        What a coordinate that is not stored reads as.
    """

    buffer: Var
    axes: Sequence[Axis]
    default_value: Expr

    def __init__(self, buffer: Var, axes: Sequence[Axis], default_value: Any = 0) -> None:
        dtype = str(buffer.ty.dtype.dtype)
        if not isinstance(default_value, Expr):
            default_value = tvm.tirx.const(default_value, dtype)
        make = get_global_func("sparse_tir.ir.SparseBuffer")
        self.__init_handle_by_constructor__(make, buffer, axes, default_value)

    @property
    def storage_shape(self) -> list[Expr]:
        """Shape of the value array: one dimension per dense or fixed-width axis and per chain of variable axes."""
        return list(get_global_func("sparse_tir.ir.storage_shape")(self))
