"""Axes: the levels of storage trees. Their fields come from C++ reflection."""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi
from tvm.ir import Expr, Node, Var
from tvm_ffi import get_global_func


def as_index(value: Any, idtype: str) -> Expr:
    """An extent as an expression: Python integers become constants of ``idtype``."""
    return value if isinstance(value, Expr) else tvm.tirx.const(int(value), idtype)


@tvm_ffi.register_object("sparse_tir.Axis")
class Axis(Node):  # type: ignore[misc]  # TVM ships no types
    """Base of all axes.

    Attributes
    ----------
    name : str
        A hint for printing; structural equality ignores it.
    parent : Axis or None
        The axis whose positions this one refines.
    length : Expr
        Coordinates lie in ``[0, length)``.
    idtype : str
        dtype of its iterators and structure arrays, ``"int32"`` or ``"int64"``.
    sorted, unique : bool
        Coordinates under one parent position ascend; none occurs twice.
    """

    name: str
    parent: Axis | None
    length: Expr
    idtype: str
    sorted: bool
    unique: bool

    @property
    def positions(self) -> Expr:
        """How many positions the axis stores in all."""
        return get_global_func("sparse_tir.ir.positions")(self)

    @property
    def is_stored(self) -> bool:
        """Whether the axis is any other than dense_fixed."""
        return not isinstance(self, DenseFixedAxis)

    @property
    def is_variable(self) -> bool:
        """Whether the axis has an indptr."""
        return isinstance(self, DenseVariableAxis | SparseVariableAxis)


@tvm_ffi.register_object("sparse_tir.DenseFixedAxis")
class DenseFixedAxis(Axis):
    """Coordinates ``0 .. length - 1``, all of them; always a root. Coordinate and position are the same."""

    def __init__(self, name: str, length: Any, idtype: str = "int32") -> None:
        make = get_global_func("sparse_tir.ir.DenseFixedAxis")
        self.__init_handle_by_constructor__(make, name, as_index(length, idtype), idtype)


@tvm_ffi.register_object("sparse_tir.DenseVariableAxis")
class DenseVariableAxis(Axis):
    """A ragged row of each parent position; the coordinate is the position in the row."""

    nnz: Expr
    indptr: Var

    def __init__(
        self, name: str, parent: Axis, length: Any, nnz: Any, indptr: Var, idtype: str = "int32"
    ) -> None:
        make = get_global_func("sparse_tir.ir.DenseVariableAxis")
        self.__init_handle_by_constructor__(
            make, name, parent, as_index(length, idtype), as_index(nnz, idtype), indptr, idtype
        )


@tvm_ffi.register_object("sparse_tir.SparseFixedAxis")
class SparseFixedAxis(Axis):
    """``width`` slots under each parent position (ELL), or in all for a root. Index ``length`` marks padding."""

    width: Expr
    indices: Var

    def __init__(
        self,
        name: str,
        parent: Axis | None,
        length: Any,
        width: Any,
        indices: Var,
        idtype: str = "int32",
        sorted: bool = True,
        unique: bool = True,
    ) -> None:
        make = get_global_func("sparse_tir.ir.SparseFixedAxis")
        self.__init_handle_by_constructor__(
            make,
            name,
            parent,
            as_index(length, idtype),
            as_index(width, idtype),
            indices,
            idtype,
            sorted,
            unique,
        )


@tvm_ffi.register_object("sparse_tir.SparseVariableAxis")
class SparseVariableAxis(Axis):
    """A compressed row of each parent position (CSR)."""

    nnz: Expr
    indptr: Var
    indices: Var

    def __init__(
        self,
        name: str,
        parent: Axis,
        length: Any,
        nnz: Any,
        indptr: Var,
        indices: Var,
        idtype: str = "int32",
        sorted: bool = True,
        unique: bool = True,
    ) -> None:
        make = get_global_func("sparse_tir.ir.SparseVariableAxis")
        self.__init_handle_by_constructor__(
            make,
            name,
            parent,
            as_index(length, idtype),
            as_index(nnz, idtype),
            indptr,
            indices,
            idtype,
            sorted,
            unique,
        )
