"""Binding the arguments of a call to the parameters of a function, and checking them."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm_ffi
from numpy.typing import NDArray
from tvm.ir import Expr, Var
from tvm.tirx import BufferStore, PrimFunc, is_buffer_var

from .. import errors
from .expressions import DType, Expressions, Thunk, as_dtype, identity, unknown, variables_in


@dataclass(frozen=True)
class Parameter:
    """One parameter of a call.

    Attributes
    ----------
    name
        How callers name it: the name of its buffer or scalar.
    var
        The variable that the body of the function uses.
    shape
        Shape of the array; None for a scalar.
    is_structure
        Whether an axis describes the array, and its axis checks the shape.
    is_written
        Whether the body stores into it.
    """

    name: str
    var: Var
    shape: Sequence[Expr] | None
    is_structure: bool = False
    is_written: bool = False

    @property
    def dtype(self) -> DType:
        """dtype of the array or scalar."""
        found = self.var.ty.dtype
        return as_dtype(found if self.shape is None else found.dtype, self.name)


@dataclass
class Arguments:
    """What a call passes, by the identity of the variable that the body uses."""

    where: str
    scalars: dict[int, Any] = field(default_factory=dict)
    arrays: dict[int, NDArray[Any]] = field(default_factory=dict)
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)

    def integer(self, expr: Expr) -> int:
        """An extent in terms of the scalars."""
        return Expressions(self.scalars, _no_loads).integer(expr)()


def _no_loads(load: Any) -> Thunk:
    raise unknown(load, "an extent")


def written_buffers(func: PrimFunc) -> set[int]:
    """Identities of the buffers that the body of a function stores into."""
    found: set[int] = set()
    tvm_ffi.structural_walk(func.body, (BufferStore, lambda store: found.add(identity(store.buffer))))
    return found


def bind_arguments(
    where: str, parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arguments:
    """Match the arguments of a call to ``parameters``, and check them.

    Raises
    ------
    DataError
        ST157 number or names of the arguments; ST150 not an array; ST151 shape; ST152 dtype; ST153 an output
        that cannot be written; ST154 an output that shares memory with another argument.
    """
    pairs = _match(where, parameters, args, kwargs)
    bound = Arguments(where)
    for parameter, value in pairs:
        if parameter.shape is None:
            bound.scalars[identity(parameter.var)] = _scalar(where, parameter, value)
        else:
            _check_array(where, parameter, value)
    for parameter, value in pairs:
        if parameter.shape is not None:
            _infer_extents(bound, parameter, value)
    for parameter, value in pairs:
        if parameter.shape is not None:
            bound.arrays[identity(parameter.var)] = _in_shape(bound, parameter, value)
            if parameter.is_written:
                bound.outputs[parameter.name] = value
    _check_overlap(where, [(p.name, p.is_written, v) for p, v in pairs if p.shape is not None])
    return bound


def _match(
    where: str, parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[Parameter, Any]]:
    names = ", ".join(parameter.name for parameter in parameters)
    if len(args) > len(parameters):
        raise errors.error("ST157", where, f"{len(args)} arguments", f"{len(parameters)}: {names}")
    values: dict[int, Any] = dict(enumerate(args))
    for key, value in kwargs.items():
        number = _number_of(parameters, key)
        if number is None:
            raise errors.error("ST157", where, f"an argument `{key}`", names)
        if number in values:
            raise errors.error("ST157", where, f"`{parameters[number].name}` twice", "every argument once")
        values[number] = value
    missing = [parameter.name for number, parameter in enumerate(parameters) if number not in values]
    if missing:
        raise errors.error("ST157", where, f"no argument for {', '.join(missing)}", names)
    return [(parameter, values[number]) for number, parameter in enumerate(parameters)]


def _number_of(parameters: Sequence[Parameter], key: str) -> int | None:
    """The parameter of that name, else the only buffer whose name differs in case alone (`a` for `A`)."""
    exact = [number for number, parameter in enumerate(parameters) if parameter.name == key]
    folded = [
        number
        for number, parameter in enumerate(parameters)
        if parameter.shape is not None and parameter.name.lower() == key.lower()
    ]
    found = exact or folded
    return found[0] if len(found) == 1 else None


def _scalar(where: str, parameter: Parameter, value: Any) -> Any:
    at, dtype = f"{where}: {parameter.name}", parameter.dtype
    try:
        number: Any = float(value) if dtype.kind not in "iub" else operator.index(value)
    except (TypeError, ValueError):
        raise errors.error("ST158", at, f"{value!r}", f"a number of dtype {dtype}") from None
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        raise errors.error("ST158", at, f"{number}", f"a number of dtype {dtype}")
    return np.asarray(number).astype(dtype)[()]


def _check_array(where: str, parameter: Parameter, value: Any) -> None:
    at = f"{where}: {parameter.name}"
    if not isinstance(value, np.ndarray):
        raise errors.error("ST150", at, f"an object of type {type(value).__name__}", "a NumPy array")
    if value.dtype != parameter.dtype:
        raise errors.error("ST152", at, f"an array of dtype {value.dtype}", f"dtype {parameter.dtype}")
    if parameter.is_written and not value.flags.writeable:
        raise errors.error("ST153", at, "a read-only array", "an array that can be written")


def _infer_extents(bound: Arguments, parameter: Parameter, value: NDArray[Any]) -> None:
    """An extent that is a variable without a value takes the length of its dimension."""
    shape = parameter.shape or ()
    if value.ndim != len(shape):
        return
    for extent, length in zip(shape, value.shape, strict=True):
        if isinstance(extent, Var) and not is_buffer_var(extent) and identity(extent) not in bound.scalars:
            bound.scalars[identity(extent)] = as_dtype(extent.ty.dtype, extent.name).type(length)


def _in_shape(bound: Arguments, parameter: Parameter, value: NDArray[Any]) -> NDArray[Any]:
    """The array in the shape that the body uses: a view, so that the caller sees what is written."""
    if parameter.is_structure:
        return value
    at = f"{bound.where}: {parameter.name}"
    for extent in parameter.shape or ():
        if not variables_in(extent) <= set(bound.scalars):
            raise errors.error(
                "ST151", at, f"shape {value.shape}", "a shape that gives its extents their values"
            )
    shape = tuple(bound.integer(extent) for extent in parameter.shape or ())
    if value.shape == shape:
        return value
    if value.ndim == 1 and min(shape, default=0) >= 0 and value.size == math.prod(shape):
        return value.reshape(shape)
    raise errors.error("ST151", at, f"shape {value.shape}", f"shape {shape}, or a flat array of that size")


def _check_overlap(where: str, arrays: Sequence[tuple[str, bool, NDArray[Any]]]) -> None:
    for number, (name, is_written, array) in enumerate(arrays):
        for other, other_is_written, other_array in arrays[:number]:
            if (is_written or other_is_written) and np.shares_memory(array, other_array):
                raise errors.error("ST154", f"{where}: {name}", f"memory of `{other}`", "memory of its own")
