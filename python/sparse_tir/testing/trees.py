"""Declarations of axes as script text, and structure arrays for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .patterns import DEAD_INDEX, ragged_lengths


@dataclass(frozen=True)
class AxisText:
    """One axis of a script.

    Attributes
    ----------
    kind
        The name of its constructor.
    length, size
        Text of its length, and of its nnz or width: a scalar parameter or a number.
    """

    name: str
    kind: str
    length: str
    parent: AxisText | None = None
    size: str = ""
    idtype: str = "int32"
    sorted: bool = True
    unique: bool = True

    @property
    def is_stored(self) -> bool:
        """Whether it is any other than dense_fixed."""
        return self.kind != "dense_fixed"

    @property
    def is_variable(self) -> bool:
        """Whether it has an indptr."""
        return self.kind.endswith("_variable")

    @property
    def arrays(self) -> list[str]:
        """Names of its structure arrays."""
        found = [f"{self.name}_indptr"] if self.is_variable else []
        return found + ([f"{self.name}_indices"] if self.kind.startswith("sparse") else [])

    @property
    def chain(self) -> list[AxisText]:
        """Itself and its ancestors, outermost first."""
        return [*(self.parent.chain if self.parent else []), self]

    def declaration(self) -> str:
        """The statement that declares it."""
        tail = f'"{self.idtype}"'
        if self.kind == "dense_fixed":
            return f"{self.name} = S.dense_fixed({self.length}, {tail})"
        tail += "".join(f", {f}=False" for f in ("sorted", "unique") if not getattr(self, f))
        arrays = self.arrays[0] if len(self.arrays) == 1 else f"({', '.join(self.arrays)})"
        parent = self.parent.name if self.parent else "None"
        return f"{self.name} = S.{self.kind}({parent}, ({self.length}, {self.size}), {arrays}, {tail})"


@dataclass
class Structure:
    """Arrays for a set of axes.

    Attributes
    ----------
    scalars
        Values of the scalar parameters: drawn lengths and widths, and the nnz that follow.
    arrays
        Structure arrays by name.
    reachable
        Axis name -> whether an iteration can visit each of its positions.
    """

    scalars: dict[str, int]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    reachable: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def value(self, text: str) -> int:
        """The value of an extent."""
        return self.scalars[text] if text in self.scalars else int(text)


def draw_structure(
    axes: Sequence[AxisText], lengths: Mapping[str, int], rng: np.random.Generator, *, garbage: bool = False
) -> Structure:
    """Random structure arrays; ``axes`` lists parents before children.

    Parameters
    ----------
    lengths
        Values of the scalars that are lengths or widths; an nnz follows from the rows.
    garbage
        Whether index arrays hold garbage wherever no iteration can look, not in a dead head only.
    """
    found = Structure(dict(lengths))
    for axis in axes:
        if axis.kind == "dense_fixed":
            found.reachable[axis.name] = np.ones(found.value(axis.length), bool)
        elif axis.is_variable:
            _draw_rows(axis, found, rng, garbage)
        else:
            _draw_slots(axis, found, rng, garbage)
    return found


def _parents(axis: AxisText, found: Structure) -> NDArray[np.bool_]:
    return found.reachable[axis.parent.name] if axis.parent else np.ones(1, bool)


def _coordinates(axis: AxisText, found: Structure, rng: np.random.Generator, count: int) -> NDArray[Any]:
    length = found.value(axis.length)
    drawn = rng.permutation(length)[:count] if axis.unique else rng.integers(0, max(length, 1), count)
    return np.sort(drawn) if axis.sorted else drawn


def _longest(axis: AxisText, length: int) -> int:
    return length if axis.unique or not length else 2 * length


def _draw_rows(axis: AxisText, found: Structure, rng: np.random.Generator, garbage: bool) -> None:
    parents = _parents(axis, found)
    length = found.value(axis.length)
    lengths = ragged_lengths(rng, len(parents), _longest(axis, length))
    head = int(rng.choice([0, 0, 2]))
    indptr = head + np.concatenate([[0], np.cumsum(lengths)])
    live = np.concatenate([np.zeros(head, bool), np.repeat(parents, lengths)])
    found.arrays[f"{axis.name}_indptr"] = indptr.astype(axis.idtype)
    found.reachable[axis.name] = live
    found.scalars[axis.size] = len(live)
    if axis.kind == "dense_variable":
        return
    rows = [_coordinates(axis, found, rng, count) for count in lengths]
    indices = np.concatenate([np.full(head, DEAD_INDEX), *rows]).astype(axis.idtype)
    if garbage:
        indices[~live] = DEAD_INDEX
    found.arrays[f"{axis.name}_indices"] = indices


def _draw_slots(axis: AxisText, found: Structure, rng: np.random.Generator, garbage: bool) -> None:
    parents, length, width = _parents(axis, found), found.value(axis.length), found.value(axis.size)
    indices = np.full((len(parents), width), length)
    lengths = ragged_lengths(rng, len(parents), min(width, _longest(axis, length)))
    for slots, count in zip(indices, lengths, strict=True):
        places = np.arange(count) if axis.sorted else rng.permutation(width)[:count]
        slots[places] = _coordinates(axis, found, rng, count)
    live = parents[:, None] & (indices < length)
    if garbage:
        indices[~parents] = DEAD_INDEX
    found.arrays[f"{axis.name}_indices"] = indices.ravel().astype(axis.idtype)
    found.reachable[axis.name] = live.ravel()
