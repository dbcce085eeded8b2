"""Draws subscripts: exact ones, affine ones, data-dependent ones and such that leave the range."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from .programs import Bound, Buffer
from .trees import AxisText


def is_one_to_one(name: str, subscripts: Sequence[str]) -> bool:
    """Whether an iterator occurs in a form that determines it (law 3)."""
    forms = rf"{name}|{name} [+-] \d|{name} \* 2|{name} \* 2 \+ 1|\w+ - 1 - {name}"
    both = {f"{name} // 2", f"{name} % 2"} <= set(subscripts)
    return both or any(re.fullmatch(forms, text) for text in subscripts)


def condition(rng: random.Random, iterators: Sequence[Bound]) -> str:
    """A condition on the iterators."""
    name = rng.choice(iterators).name
    return rng.choice([f"{name} < 2", f"{name} % 2 == 0", f"{name} > 0", f"{name} != 1"])


class SubscriptDrawer:
    """Subscripts over the iterators in scope.

    Parameters
    ----------
    indices
        Buffers of coordinates over one dense axis.
    """

    def __init__(self, rng: random.Random, iterators: Sequence[Bound], indices: Sequence[Buffer]) -> None:
        self.rng, self.iterators, self.indices = rng, iterators, indices

    def _exact(self, axis: AxisText) -> list[str]:
        """Iterators that range over the axis, or over another of the same length."""
        own = [it.name for it in self.iterators if it.axis is axis]
        return own * 3 + [it.name for it in self.iterators if it.axis.length == axis.length]

    def written(self, axis: AxisText) -> str:
        """A subscript of a written dense axis."""
        exact = self._exact(axis)
        if exact and self.rng.random() < 0.85:
            return self.rng.choice(exact)
        return self._affine(axis) if self.rng.random() < 0.9 else "0"

    def written_list(self, axes: Sequence[AxisText]) -> tuple[str, ...]:
        """Subscripts of a written buffer over dense axes."""
        if len(axes) == 2 and self.rng.random() < 0.06:
            name = self.rng.choice(self.iterators).name
            return (f"{name} // 2", f"{name} % 2")
        return tuple(self.written(axis) for axis in axes)

    def read_list(self, buffer: Buffer) -> tuple[str, ...]:
        """Subscripts of a buffer that is read: own iterators along stored axes and their parents."""
        chains = {a for axis in buffer.axes if axis.is_stored for a in axis.chain}
        names = {it.axis: it.name for it in self.iterators}
        return tuple(names[a] if a in chains and a in names else self.read(a) for a in buffer.axes)

    def read(self, axis: AxisText, *, depth: int = 0) -> str:
        """A subscript of a dense axis that is read."""
        exact = self._exact(axis)
        if exact and self.rng.random() < 0.75:
            return self.rng.choice(exact)
        if self.indices and depth < 1 and self.rng.random() < 0.4:
            index = self.rng.choice(self.indices)
            return self._through(index, self.read(index.axes[0], depth=depth + 1))
        return self._affine(axis)

    def _through(self, index: Buffer, inner: str) -> str:
        load = f"{index.name}[{inner}]"
        name = self.rng.choice(self.iterators).name
        return self.rng.choice([load, load, f"{load} + {name}", f"{name} // {load}", f"{name} % {load}"])

    def _affine(self, axis: AxisText) -> str:
        i, j = (self.rng.choice(self.iterators).name for _ in range(2))
        forms = [
            f"{i} + 1",
            f"{i} - 1",
            f"{i} * 2",
            f"{i} * 2 + 1",
            f"{i} // 2",
            f"{i} % 2",
            f"{axis.length} - 1 - {i}",
            f"{i} + {j}",
            f"{i} * 2 + {j} % 2",
            "1",
        ]
        return self.rng.choice(forms)
