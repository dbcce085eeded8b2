"""Axis constructors of scripts. Each binds a name: ``I = S.dense_fixed(m)``; no statement is emitted."""

from __future__ import annotations

from typing import Any

from tvm.ir import Expr, TensorLoad, Var
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import ir as I
from tvm.tirx import is_buffer_var
from tvm.tirx.script import builder as T
from tvm_ffi import structural_equal, structural_walk

from .. import errors
from ..ir import Axis, DenseFixedAxis, DenseVariableAxis, SparseFixedAxis, SparseVariableAxis
from ..ir.axis import as_index
from .scope import current_scope

_IDTYPES = ("int32", "int64")


def dense_fixed(length: Any, idtype: str = "int32", *, name: str = "") -> Any:
    """All coordinates ``0 .. length - 1``.

    Parameters
    ----------
    length : int or Expr
    idtype : {"int32", "int64"}
    """
    current_scope("S.dense_fixed").check_head("S.dense_fixed")
    _check_idtype("S.dense_fixed", idtype)
    return I.meta_var(DenseFixedAxis(name, _extent("S.dense_fixed", length, idtype), idtype))


def dense_variable(
    parent: Axis, shape: tuple[Any, Any], indptr: Var, idtype: str = "int32", *, name: str = ""
) -> Any:
    """A ragged row under each position of ``parent``; the coordinate is the position in the row.

    Parameters
    ----------
    parent : Axis
    shape : (length, nnz)
        Longest row, and stored positions in all.
    indptr : handle, of shape (parent positions + 1,)
    """
    where = "S.dense_variable"
    _check(where, parent, idtype)
    length, nnz = _pair(where, "(length, nnz)", shape)
    pointers = _structure(where, indptr, parent.positions + 1, idtype)
    length, nnz = (_extent(where, e, idtype) for e in (length, nnz))
    return I.meta_var(DenseVariableAxis(name, parent, length, nnz, pointers, idtype))


def sparse_fixed(
    parent: Axis | None,
    shape: tuple[Any, Any],
    indices: Var,
    idtype: str = "int32",
    *,
    sorted: bool = True,
    unique: bool = True,
    name: str = "",
) -> Any:
    """``width`` slots under each position of ``parent`` (ELL), or in all if ``parent`` is None (a list of rows).

    A slot whose index equals ``length`` is padding: it is never visited and nothing is loaded through it.

    Parameters
    ----------
    parent : Axis or None
    shape : (length, width)
    indices : handle, of shape (parent positions * width,)
    """
    where = "S.sparse_fixed"
    _check(where, parent, idtype, may_be_root=True)
    length, width = (_extent(where, e, idtype) for e in _pair(where, "(length, width)", shape))
    count = width if parent is None else parent.positions * width
    columns = _structure(where, indices, count, idtype)
    return I.meta_var(SparseFixedAxis(name, parent, length, width, columns, idtype, sorted, unique))


def sparse_variable(
    parent: Axis,
    shape: tuple[Any, Any],
    data: tuple[Var, Var],
    idtype: str = "int32",
    *,
    sorted: bool = True,
    unique: bool = True,
    name: str = "",
) -> Any:
    """A compressed row under each position of ``parent`` (CSR).

    Parameters
    ----------
    parent : Axis
    shape : (length, nnz)
    data : (indptr, indices)
        Handles, of shapes (parent positions + 1,) and (nnz,).
    sorted, unique : bool
        What the arrays promise about the coordinates of one row.
    """
    where = "S.sparse_variable"
    _check(where, parent, idtype)
    length, nnz = (_extent(where, e, idtype) for e in _pair(where, "(length, nnz)", shape))
    indptr, indices = _pair(where, "(indptr, indices)", data)
    pointers = _structure(where, indptr, parent.positions + 1, idtype)
    columns = _structure(where, indices, nnz, idtype)
    return I.meta_var(
        SparseVariableAxis(name, parent, length, nnz, pointers, columns, idtype, sorted, unique)
    )


def _check(where: str, parent: Any, idtype: str, may_be_root: bool = False) -> None:
    current_scope(where).check_head(where)
    _check_idtype(where, idtype)
    if not isinstance(parent, Axis) and not (parent is None and may_be_root):
        raise errors.error("ST202", f"{where}: parent", f"{parent!r}", "an axis")


def _check_idtype(where: str, idtype: str) -> None:
    if idtype not in _IDTYPES:
        raise errors.error("ST202", f"{where}: idtype", repr(idtype), " or ".join(map(repr, _IDTYPES)))


def _pair(where: str, names: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise errors.error("ST202", where, f"{value!r}", f"a pair {names}")
    return value[0], value[1]


def _extent(where: str, value: Any, idtype: str) -> Expr:
    """An extent: a size within the idtype, or an integer expression of scalar parameters."""
    if isinstance(value, Expr) and not is_buffer_var(value):
        loads: list[TensorLoad] = []
        structural_walk(value, (TensorLoad, loads.append))
        dtype = getattr(value.ty, "dtype", None)
        if not loads and dtype is not None and str(dtype) in (*_IDTYPES, "int8", "int16"):
            return value
    largest = (1 << (int(idtype[3:]) - 1)) - 1
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest:
        return as_index(value, idtype)
    expected = f"an integer from 0 to {largest}, or an integer expression of scalar parameters"
    raise errors.error("ST202", f"{where}: extent", f"{value}", expected)


def _structure(where: str, param: Any, count: Expr, idtype: str) -> Var:
    """The buffer of a structure array; a handle used by several axes is matched once."""
    if not isinstance(param, Var):
        raise errors.error("ST202", where, f"{param!r} as a structure array", "a parameter of type T.handle")
    if is_buffer_var(param):
        return param
    matched = current_scope(where).matched
    if param.name not in matched:
        buffer = T.match_buffer(param, (count,), idtype, layout=None)
        IRBuilder.name(param.name, buffer)
        matched[param.name] = buffer
    known = matched[param.name]
    if str(known.ty.dtype.dtype) != idtype or not structural_equal(known.ty.shape[0], count):
        found = f"`{param.name}` as {known.ty.dtype.dtype} of {known.ty.shape[0]} and as {idtype} of {count}"
        raise errors.error(
            "ST202", where, found, "one dtype and one length for an array that several axes use"
        )
    return known
