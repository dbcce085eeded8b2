"""The signature of a kernel: what each parameter must be. It is data, and travels with a saved kernel as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import tvm
from tvm import tirx
from tvm.ir import Expr, Var
from tvm.tirx import BufferStore, PrimFunc, is_buffer_var
from tvm_ffi import structural_walk

from .. import errors
from ..ir import Axis, SparseFixedAxis, SparseVariableAxis, iterations, names

#: A constant, a scalar parameter, or an operation of two extents: ``["+", "m", 1]``.
Extent = Any

_OPERATIONS = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}


@dataclass(frozen=True)
class Parameter:
    """One parameter: a scalar (``shape is None``) or an array."""

    name: str
    dtype: str
    shape: tuple[Extent, ...] | None
    is_output: bool = False
    #: Whether it holds the indptr or the indices of an axis.
    is_structure: bool = False


@dataclass(frozen=True)
class AxisCheck:
    """What the structure arrays of one axis must satisfy."""

    name: str
    indptr: str | None
    indices: str | None
    n_parents: Extent
    nnz: Extent
    length: Extent
    width: Extent | None
    sorted: bool
    unique: bool


@dataclass(frozen=True)
class Signature:
    """Parameters in order, and the axes whose structure arrays are among them."""

    parameters: tuple[Parameter, ...]
    axes: tuple[AxisCheck, ...] = ()

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """The parameters that are arrays."""
        return tuple(p for p in self.parameters if p.shape is not None)

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        """The parameters that are integers."""
        return tuple(p for p in self.parameters if p.shape is None)

    @property
    def sizes(self) -> frozenset[str]:
        """The scalars that occur in an extent."""
        extents = [e for p in self.arrays for e in p.shape or ()]
        extents += [e for a in self.axes for e in (a.n_parents, a.nnz, a.length, a.width)]
        return frozenset(name for extent in extents for name in _names_in(extent))

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `from_json`."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Signature:
        """The signature that `to_json` wrote."""
        parameters = tuple(
            Parameter(**{**p, "shape": None if p["shape"] is None else tuple(p["shape"])})
            for p in data["parameters"]
        )
        return Signature(parameters, tuple(AxisCheck(**a) for a in data["axes"]))


def signature_of(program: PrimFunc, lowered: PrimFunc) -> Signature:
    """The signature of a kernel.

    Parameters
    ----------
    program
        The function that it was made from, at any stage; the axes of a program of the coordinate stage are checked
        at each call.
    lowered
        The same function at the position stage or later: its parameters are the kernel's.
    """
    axes = _axes_of(program)
    structure = {array for axis in axes for array in (axis.indptr, axis.indices) if array is not None}
    written = _written_buffers(lowered)
    parameters = []
    for param in lowered.params:
        if is_buffer_var(param):
            shape = tuple(_extent(e) for e in param.ty.shape)
            dtype = str(param.ty.dtype.dtype)
            parameters.append(
                Parameter(param.name, dtype, shape, param.name in written, param.name in structure)
            )
        else:
            parameters.append(Parameter(param.name, str(param.ty.dtype), None))
    return Signature(tuple(parameters), axes)


def evaluate(extent: Extent, scalars: Mapping[str, int]) -> int:
    """The value of an extent."""
    if isinstance(extent, int):
        return extent
    if isinstance(extent, str):
        return scalars[extent]
    operation, a, b = extent
    return _OPERATIONS[operation](evaluate(a, scalars), evaluate(b, scalars))


def _names_in(extent: Extent) -> set[str]:
    if isinstance(extent, str):
        return {extent}
    return set().union(*map(_names_in, extent[1:])) if isinstance(extent, list | tuple) else set()


def extent_text(extent: Extent) -> str:
    """Such as ``m + 1``."""
    if isinstance(extent, int | str):
        return str(extent)
    operation, a, b = extent
    return f"{extent_text(a)} {operation} {extent_text(b)}"


def _extent(expr: Expr) -> Extent:
    if isinstance(expr, tirx.IntImm):
        return int(expr.value)
    if isinstance(expr, Var):
        return expr.name
    if isinstance(expr, tirx.Cast):
        return _extent(expr.value)
    for symbol, kind in (("+", tirx.Add), ("-", tirx.Sub), ("*", tirx.Mul)):
        if isinstance(expr, kind):
            return [symbol, _extent(expr.a), _extent(expr.b)]
    raise errors.error(
        "ST507", "st.compile: shape of a parameter", f"{expr}", "sums and products of scalar parameters"
    )


def _axes_of(program: PrimFunc) -> tuple[AxisCheck, ...]:
    if program.attrs.get(names.STAGE) != names.COORDINATE_STAGE:
        return ()
    found: list[Axis] = []
    for iteration in iterations(program):
        listed = [axis for buffer in iteration.buffers for axis in buffer.axes]
        for axis in [*listed, *(it.axis for it in iteration.iterators)]:
            if axis.is_stored and not any(axis.same_as(other) for other in found):
                found.append(axis)
    return tuple(_axis_check(axis) for axis in found)


def _axis_check(axis: Axis) -> AxisCheck:
    fixed = isinstance(axis, SparseFixedAxis)
    sparse = fixed or isinstance(axis, SparseVariableAxis)
    return AxisCheck(
        name=axis.name,
        indptr=None if fixed else axis.indptr.name,
        indices=axis.indices.name if sparse else None,
        n_parents=1 if axis.parent is None else _extent(axis.parent.positions),
        nnz=_extent(axis.positions),
        length=_extent(axis.length),
        width=_extent(axis.width) if fixed else None,
        sorted=bool(axis.sorted),
        unique=bool(axis.unique),
    )


def _written_buffers(func: PrimFunc) -> set[str]:
    stores: list[Any] = []
    structural_walk(func.body, (BufferStore, stores.append))
    return {store.buffer.name for store in stores}


def main_function(module: tvm.IRModule) -> PrimFunc:
    """The only function of a module."""
    functions = [f for f in module.functions.values() if isinstance(f, PrimFunc)]
    if len(functions) != 1:
        raise errors.error("ST507", "st.compile", f"a module of {len(functions)} functions", "one function")
    return functions[0]
