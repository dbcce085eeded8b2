"""Random programs of the coordinate stage: their text, and data for them.

A program is kept as statements, so that a second text can be made of it: one that computes, for each element, the sum
of the magnitudes of all that enters it. What rounding may do to an element follows from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .trees import AxisText

#: Combiner -> its operator in a script.
COMBINERS = {"sum": "+", "prod": "*", "max": "T.max", "min": "T.min"}


@dataclass(frozen=True)
class Buffer:
    """A sparse buffer; ``role`` is operand, index (it holds coordinates) or output."""

    name: str
    axes: tuple[AxisText, ...]
    dtype: str
    role: str = "operand"
    default: str = "0"

    @property
    def handle(self) -> str:
        """Its parameter."""
        return self.name.lower()

    def dtype_in(self, magnitude: bool) -> str:
        """Its dtype in the text of magnitudes: floats are float64."""
        return "float64" if magnitude and self.dtype.startswith("float") else self.dtype


@dataclass(frozen=True)
class Value:
    """An expression: ``kind`` is load, number, operation, choice or coordinate."""

    kind: str
    text: str = ""
    buffer: Buffer | None = None
    parts: tuple[Value, ...] = ()

    def render(self, dtype: str, magnitude: bool) -> str:
        """Its text in ``dtype``. Magnitudes: signs become plus, a choice or an extreme becomes a sum."""
        parts = [part.render(dtype, magnitude) for part in self.parts]
        if self.kind == "load" and self.buffer is not None:
            return (
                self.text if self.buffer.dtype_in(magnitude) == dtype else f'T.cast({self.text}, "{dtype}")'
            )
        if self.kind == "number":
            return _constant(self.text.lstrip("-") if magnitude else self.text, dtype)
        if self.kind == "coordinate":
            return f'T.cast({self.text}, "{dtype}")'
        if self.kind == "choice":
            if magnitude:
                return f"({parts[0]} + {parts[1]})"
            return f"T.if_then_else({self.text}, {parts[0]}, {parts[1]})"
        operator = "+" if magnitude and self.text != "*" else self.text
        if operator.startswith("T."):
            return f"{operator}({', '.join(parts)})"
        return f"({f' {operator} '.join(parts)})"


@dataclass(frozen=True)
class Statement:
    """A store: a plain one, or a fold with ``combiner``; ``is_flipped`` writes the element second."""

    buffer: Buffer
    subscripts: tuple[str, ...]
    value: Value
    combiner: str | None = None
    is_flipped: bool = False

    @property
    def element(self) -> str:
        """Such as ``Y[i, k]``."""
        return f"{self.buffer.name}[{', '.join(self.subscripts)}]"

    def render(self, dtype: str, magnitude: bool) -> str:
        """Its text."""
        value = self.value.render(dtype, magnitude)
        if self.combiner is None:
            return f"{self.element} = {value}"
        operator = COMBINERS[self.combiner]
        if magnitude and self.combiner in ("max", "min"):
            operator = "+"
        operands = [value, self.element] if self.is_flipped else [self.element, value]
        if operator.startswith("T."):
            return f"{self.element} = {operator}({', '.join(operands)})"
        return f"{self.element} = {operands[0]} {operator} {operands[1]}"


@dataclass(frozen=True)
class Start:
    """An init: an element and a number."""

    statement: Statement
    number: str

    def render(self, dtype: str, magnitude: bool) -> str:
        """Its text."""
        number = self.number.lstrip("-") if magnitude else self.number
        return (
            f"{self.statement.element} = {_constant('0' if magnitude and number == 'inf' else number, dtype)}"
        )


@dataclass(frozen=True)
class Bound:
    """An iterator: its name, its axis and its kind letter."""

    name: str
    axis: AxisText
    kind: str


@dataclass(frozen=True)
class Iteration:
    """``with S.iter(..)``."""

    name: str
    iterators: tuple[Bound, ...]
    starts: tuple[Start, ...]
    body: tuple[Any, ...]  # of Statement and Iteration

    def lines(self, dtype: str, magnitude: bool) -> Iterator[str]:
        """Its text."""
        axes = ", ".join(it.axis.name for it in self.iterators)
        kinds = "".join(it.kind for it in self.iterators)
        names = ", ".join(it.name for it in self.iterators)
        yield f'with S.iter([{axes}], "{kinds}", "{self.name}") as [{names}]:'
        if self.starts:
            yield "    with S.init():"
            for start in self.starts:
                yield f"        {start.render(dtype, magnitude)}"
        for part in self.body:
            if isinstance(part, Statement):
                yield f"    {part.render(dtype, magnitude)}"
            else:
                yield from (f"    {line}" for line in part.lines(dtype, magnitude))


@dataclass(frozen=True)
class Program:
    """A random program.

    Attributes
    ----------
    dtype
        In which values are computed; outputs have it.
    scalars
        Scalar parameters and their dtypes: lengths, widths and numbers of entries.
    drawn
        Those of them that data chooses freely, with the largest value.
    """

    dtype: str
    scalars: dict[str, str]
    drawn: dict[str, int]
    axes: tuple[AxisText, ...]
    buffers: tuple[Buffer, ...]
    iterations: tuple[Iteration, ...] = field(default=())

    def text(self, *, magnitude: bool = False) -> str:
        """The script, or the one that sums magnitudes in float64."""
        dtype = "float64" if magnitude else self.dtype
        parameters = [f"{b.handle}: T.handle" for b in self.buffers]
        parameters += [f"{array}: T.handle" for axis in self.axes for array in axis.arrays]
        parameters += [f"{name}: T.{kind}" for name, kind in self.scalars.items()]
        lines = [axis.declaration() for axis in self.axes]
        lines += [_declaration(buffer, magnitude) for buffer in self.buffers]
        for iteration in self.iterations:
            lines += iteration.lines(dtype, magnitude)
        body = "\n".join(f"    {line}" for line in lines)
        return f"@S.prim_func\ndef main({', '.join(parameters)}):\n{body}\n"

    @property
    def is_exact(self) -> bool:
        """Whether values are integers."""
        return self.dtype.startswith("int")


def _constant(number: str, dtype: str) -> str:
    if number.endswith("inf"):
        return f'T.{dtype}("{number}")'
    return f"T.{dtype}({number})"


def _declaration(buffer: Buffer, magnitude: bool) -> str:
    axes = ", ".join(axis.name for axis in buffer.axes)
    default = buffer.default.lstrip("-") if magnitude and buffer.role == "operand" else buffer.default
    tail = "" if default == "0" else f", default={default}"
    return f'{buffer.name} = S.match_sparse_buffer({buffer.handle}, ({axes},), "{buffer.dtype_in(magnitude)}"{tail})'


def iterators_of(stack: Sequence[Sequence[Bound]]) -> list[Bound]:
    """All iterators of nested iterations, outermost first."""
    return [it for level in stack for it in level]
