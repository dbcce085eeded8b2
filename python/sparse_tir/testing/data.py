"""Arguments for random programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .patterns import dead_value, small_values
from .programs import Buffer, Program
from .trees import AxisText, Structure, draw_structure


@dataclass(frozen=True)
class Arguments:
    """One set of arguments of a program.

    Attributes
    ----------
    values
        Parameter name -> array or integer.
    magnitudes
        The same for the program that sums magnitudes.
    """

    values: dict[str, Any]
    magnitudes: dict[str, Any]


def draw_arguments(
    program: Program, rng: np.random.Generator, *, garbage: bool = False, specials: bool = False
) -> Arguments:
    """Random arguments.

    Parameters
    ----------
    garbage
        Index arrays hold garbage wherever no iteration can look; outputs hold NaN or garbage at first.
    specials
        Some values are NaN or infinite.
    """
    lengths = {name: int(rng.integers(0, largest + 1)) for name, largest in program.drawn.items()}
    structure = draw_structure(program.axes, lengths, rng, garbage=garbage)
    values: dict[str, Any] = {**structure.arrays, **structure.scalars}
    magnitudes = dict(values)
    for buffer in program.buffers:
        array = _values(buffer, structure, rng, garbage=garbage, specials=specials)
        values[buffer.name] = array
        magnitudes[buffer.name] = _magnitude(buffer, array)
    return Arguments(values, magnitudes)


def _values(
    buffer: Buffer, structure: Structure, rng: np.random.Generator, *, garbage: bool, specials: bool
) -> NDArray[Any]:
    dims = _dims(buffer.axes)
    shape = tuple(_extent(axis, structure) for axis in dims)
    if buffer.role == "index":
        return rng.integers(-1, structure.value(buffer.axes[0].length) + 1, shape).astype(buffer.dtype)
    array = small_values(rng, shape, buffer.dtype)
    if buffer.role == "output":
        return np.full(shape, dead_value(buffer.dtype), buffer.dtype) if garbage else array
    if specials and buffer.dtype.startswith("float"):
        drawn = rng.choice([np.nan, np.inf, -np.inf], shape)
        array = np.where(rng.random(shape) < 0.15, drawn, array).astype(buffer.dtype)
    if specials and buffer.dtype.startswith("int"):
        limits = np.iinfo(buffer.dtype)
        drawn = rng.choice([limits.min, limits.max, -1, 0], shape)
        array = np.where(rng.random(shape) < 0.3, drawn, array).astype(buffer.dtype)
    array[_dead(dims, structure, shape)] = dead_value(buffer.dtype)
    return array


def _dims(axes: tuple[AxisText, ...]) -> list[AxisText]:
    """The axis whose positions or slots enumerate each dimension of the value array."""
    dims: list[AxisText] = []
    for axis in axes:
        while axis.is_variable and dims and dims[-1] in axis.chain:
            dims.pop()
        dims.append(axis)
    return dims


def _extent(axis: AxisText, structure: Structure) -> int:
    return structure.value(axis.length if axis.kind == "dense_fixed" else axis.size)


def _dead(dims: list[AxisText], structure: Structure, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether no iteration can reach an element: it stands in a dead head or in a padded slot."""
    dead = np.zeros(shape, bool)
    for number, axis in enumerate(dims):
        live = structure.reachable[axis.name]
        if axis.is_variable or (axis.is_stored and axis.parent is None):
            dead |= ~live.reshape([-1 if k == number else 1 for k in range(len(dims))])
        elif axis.is_stored and axis.parent in dims:
            pair = {dims.index(axis.parent): shape[dims.index(axis.parent)], number: shape[number]}
            if len(live) == np.prod(list(pair.values())):  # its parent is enumerated in one dimension
                dead |= ~live.reshape([pair.get(k, 1) for k in range(len(dims))])
    return dead


def _magnitude(buffer: Buffer, array: NDArray[Any]) -> NDArray[Any]:
    if buffer.role == "index":
        return array.copy()
    magnitude: NDArray[Any] = np.abs(array)
    return magnitude.astype("float64") if buffer.dtype.startswith("float") else magnitude
