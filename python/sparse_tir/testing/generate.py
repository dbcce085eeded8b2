"""Draws random programs. Most are legal; those that are not must be refused with a code.

Every choice comes from one `random.Random`, so a seed is a program, and Hypothesis can supply (and shrink) the choices.
"""

from __future__ import annotations

import random
from dataclasses import replace

from .programs import Bound, Buffer, Iteration, Program, Start, Statement, Value, iterators_of
from .subscripts import SubscriptDrawer, condition, is_one_to_one
from .trees import AxisText

_DTYPES = ("float32", "float32", "float64", "int32", "int64")
_LENGTHS = 3  # scalar parameters that are lengths
_LARGEST = 4


def draw_program(rng: random.Random) -> Program:
    """One random program."""
    return _ProgramDrawer(rng).draw()


class _ProgramDrawer:
    """Draws one program from the outside in: lengths, axes, outputs, then iterations and operands as they are needed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.dtype = rng.choice(_DTYPES)
        self.scalars: dict[str, str] = {}
        self.drawn: dict[str, int] = {}
        self.axes: list[AxisText] = []
        self.buffers: list[Buffer] = []
        self.written: set[str] = set()
        self.names = 0

    def draw(self) -> Program:
        for number in range(_LENGTHS):
            self._scalar(f"d{number}", _LARGEST)
        self.dense = [self._dense(f"d{number}") for number in range(_LENGTHS)]
        if self._chance(0.4):
            self.dense.append(self._dense(str(self.rng.randint(1, 3))))
        self.trees = [self._tree() for _ in range(self.rng.choice([1, 1, 2]))]
        iterations = tuple(self._iteration([]) for _ in range(self.rng.choice([1, 1, 1, 2])))
        return Program(
            self.dtype, self.scalars, self.drawn, tuple(self.axes), tuple(self.buffers), iterations
        )

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share

    def _name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # ---- scalars and axes
    def _scalar(self, name: str, largest: int | None) -> str:
        self.scalars[name] = self.rng.choice(["int32", "int64"])
        if largest is not None:
            self.drawn[name] = largest
        return name

    def _idtype(self) -> str:
        return self.rng.choice(["int32", "int64"])

    def _length(self) -> str:
        return f"d{self.rng.randrange(_LENGTHS)}"

    def _add(self, axis: AxisText) -> AxisText:
        self.axes.append(axis)
        return axis

    def _dense(self, length: str) -> AxisText:
        return self._add(AxisText(self._name("D"), "dense_fixed", length, idtype=self._idtype()))

    def _tree(self) -> AxisText:
        """A leaf whose chain has up to three levels."""
        axis = self._stored(None) if self._chance(0.3) else self.rng.choice(self.dense)
        for _ in range(self.rng.choice([1, 1, 2]) if not axis.is_stored else self.rng.choice([0, 1, 2])):
            axis = self._stored(axis)
        return axis

    def _stored(self, parent: AxisText | None) -> AxisText:
        kinds = (
            ["sparse_fixed"]
            if parent is None
            else ["sparse_variable"] * 2 + ["sparse_fixed", "dense_variable"]
        )
        kind, name = self.rng.choice(kinds), self._name("A")
        is_dense = kind == "dense_variable"
        if kind == "sparse_fixed":
            size = str(self.rng.randint(0, 3)) if self._chance(0.5) else self._scalar(f"width_{name}", 3)
        else:
            size = self._scalar(f"nnz_{name}", None)
        return self._add(
            AxisText(
                name,
                kind,
                self._length(),
                parent,
                size,
                self._idtype(),
                sorted=is_dense or self._chance(0.7),
                unique=is_dense or self._chance(0.7),
            )
        )

    # ---- iterations
    def _iteration(self, around: list[list[Bound]]) -> Iteration:
        """An iteration inside of others; its body writes one or two elements or holds further iterations."""
        own = self._iterators(around)
        if not around and len(own) > 1 and self._chance(0.3):
            return self._nested(own)
        return self._leaf(around, own)

    def _iterators(self, around: list[list[Bound]]) -> list[Bound]:
        taken = [it.axis for it in iterators_of(around)]
        wanted: list[AxisText] = []
        if self._chance(0.85):
            wanted += self.rng.choice(self.trees).chain
        wanted += self.rng.sample(self.dense, self.rng.choice([0, 1, 1, 2]))
        wanted = [axis for n, axis in enumerate(wanted) if axis not in wanted[:n] and axis not in taken]
        wanted = wanted[:4] or [a for a in self.dense if a not in taken][:1]
        return [Bound(self._name("i"), axis, "S") for axis in self._legal_order(wanted)]

    def _legal_order(self, axes: list[AxisText]) -> list[AxisText]:
        """A random order with parents before children."""
        left, order = list(axes), []
        while left:
            ready = [axis for axis in left if axis.parent is None or axis.parent not in left]
            order.append(self.rng.choice(ready))
            left.remove(order[-1])
        return order

    def _nested(self, own: list[Bound]) -> Iteration:
        """The iterators in two iterations, one inside of the other; perhaps with a statement beside the inner one."""
        cut = self.rng.randrange(1, len(own))
        outer, inner = own[:cut], own[cut:]
        if self._chance(0.1):
            outer = [replace(it, kind=self.rng.choice("SR")) for it in outer]
        body: list[Statement | Iteration] = [self._leaf([outer], inner)]
        if self._chance(0.3):
            again = [Bound(self._name("i"), it.axis, it.kind) for it in inner]
            body.append(self._leaf([outer], again))
        if self._chance(0.25):
            body.insert(self.rng.randint(0, len(body)), self._statement([outer]))
        return Iteration(self._name("outer"), tuple(outer), (), tuple(body))

    def _leaf(self, around: list[list[Bound]], own: list[Bound]) -> Iteration:
        """An innermost iteration; its kinds follow from the element that it writes."""
        buffer, subscripts = self._element([*around, own])
        own = self._kinds(own, subscripts)
        stack = [*around, own]
        statements = [self._statement(stack, (buffer, subscripts))]
        if self._chance(0.15):
            statements.append(self._statement(stack, (buffer, subscripts) if self._chance(0.4) else None))
        starts = tuple(
            Start(s, self._start_number(s))
            for s in statements
            if self._chance(0.7) and (s.combiner or self._chance(0.3))
        )
        return Iteration(self._name("it"), tuple(own), starts, tuple(statements))

    def _kinds(self, own: list[Bound], subscripts: tuple[str, ...]) -> list[Bound]:
        flip = 0.02 if self._chance(0.9) else 0.3
        kinds = []
        for it in own:
            spatial = is_one_to_one(it.name, subscripts) and (it.axis.unique or self._is_own(it, subscripts))
            kinds.append(replace(it, kind="SR"[spatial == self._chance(flip)]))
        return kinds

    def _is_own(self, it: Bound, subscripts: tuple[str, ...]) -> bool:
        return it.name in subscripts and any(
            it.axis in b.axes and subscripts == self._own_subscripts.get(b.name) for b in self.buffers
        )

    # ---- statements
    def _statement(
        self, stack: list[list[Bound]], element: tuple[Buffer, tuple[str, ...]] | None = None
    ) -> Statement:
        buffer, subscripts = element or self._element(stack)
        value = self._value(stack, self.rng.choice([1, 1, 2, 2, 3]), buffer)
        folds = any(it.kind == "R" for it in iterators_of(stack)) or self._chance(0.25)
        combiner = self.rng.choice(["sum", "sum", "sum", "prod", "max", "min"]) if folds else None
        self.written.add(buffer.name)
        return Statement(buffer, subscripts, value, combiner, self._chance(0.2))

    def _start_number(self, statement: Statement) -> str:
        if statement.combiner in ("max", "min") and not self.dtype.startswith("int") and self._chance(0.5):
            return "-inf" if statement.combiner == "max" else "inf"
        return self.rng.choice(["0", "0", "1", "-2"])

    _own_subscripts: dict[str, tuple[str, ...]]

    def _element(self, stack: list[list[Bound]]) -> tuple[Buffer, tuple[str, ...]]:
        """An output that the iterators can write: over stored axes of theirs, or over dense axes."""
        self._own_subscripts = getattr(self, "_own_subscripts", {})
        iterators = iterators_of(stack)
        leaves = [
            it for it in iterators if it.axis.is_stored and set(it.axis.chain) <= {i.axis for i in iterators}
        ]
        drawer = SubscriptDrawer(self.rng, iterators, [])
        if leaves and self._chance(0.35):
            chain = self.rng.choice(leaves).axis.chain
            names = {it.axis: it.name for it in iterators}
            extra = [a for a in self.dense if a not in chain]
            more = self.rng.sample(extra, min(len(extra), self.rng.choice([0, 0, 1])))
            axes, front = [*chain, *more], False
            if more and self._chance(0.4):
                axes, front = [*more, *chain], True
            own = tuple(names[a] for a in chain)
            rest = tuple(drawer.written(a) for a in more)
            subscripts = rest + own if front else own + rest
        else:
            axes = self.rng.sample(self.dense, self.rng.choice([1, 1, 2]))
            subscripts = drawer.written_list(axes)
        buffer = Buffer(self._name("Y"), tuple(axes), self.dtype, "output")
        same = [b for b in self.buffers if b.role == "output" and b.axes == buffer.axes]
        if same and self._chance(0.3):
            buffer = same[0]
        else:
            self.buffers.append(buffer)
        self._own_subscripts[buffer.name] = subscripts
        return buffer, subscripts

    def _value(self, stack: list[list[Bound]], depth: int, target: Buffer) -> Value:
        if depth <= 1 or self._chance(0.2):
            return self._leaf_value(stack, target)
        a, b = self._value(stack, depth - 1, target), self._value(stack, depth - 1, target)
        if self._chance(0.1):
            return Value("choice", condition(self.rng, iterators_of(stack)), parts=(a, b))
        operators = ["*", "*", "*", "+", "-", "T.max", "T.min"]
        if self.dtype.startswith("int"):
            operators += ["//", "%"]
        return Value("operation", self.rng.choice(operators), parts=(a, b))

    def _leaf_value(self, stack: list[list[Bound]], target: Buffer) -> Value:
        iterators = iterators_of(stack)
        if self._chance(0.1):
            return Value("number", self.rng.choice(["0", "1", "2", "-3"]))
        if self._chance(0.08):
            return Value("coordinate", self.rng.choice(iterators).name)
        buffer = self._operand(iterators, target)
        drawer = SubscriptDrawer(self.rng, iterators, self._index_buffers(iterators))
        subscripts = drawer.read_list(buffer)
        return Value("load", f"{buffer.name}[{', '.join(subscripts)}]", buffer)

    def _operand(self, iterators: list[Bound], target: Buffer) -> Buffer:
        """A buffer to read: one written before, one in use, or a new one."""
        own = [it.axis for it in iterators]
        readable = [
            b
            for b in self.buffers
            if b.role != "index" and b != target and all(a in own for a in b.axes if a.is_stored)
        ]
        written = [b for b in readable if b.role == "output"]
        if written and self._chance(0.25):
            return self.rng.choice(written)
        operands = [b for b in readable if b.role == "operand"]
        if operands and self._chance(0.3):
            return self.rng.choice(operands)
        leaves = [axis for axis in own if axis.is_stored and set(axis.chain) <= set(own)]
        if leaves and self._chance(0.6):
            chain = self.rng.choice(leaves).chain
            extra = [a for a in self.dense if a not in chain]
            axes = chain + self.rng.sample(extra, min(len(extra), self.rng.choice([0, 0, 1])))
        else:
            axes = self.rng.sample(self.dense, self.rng.choice([1, 1, 2]))
        buffer = Buffer(self._name("X"), tuple(axes), self._operand_dtype(), "operand", self._default())
        self.buffers.append(buffer)
        return buffer

    def _operand_dtype(self) -> str:
        if self._chance(0.8):
            return self.dtype
        return self.rng.choice(
            ["int32", "int64"] if self.dtype.startswith("int") else ["int32", "float32", "float64"]
        )

    def _default(self) -> str:
        return self.rng.choice(["0", "0", "0", "1", "-2"])

    def _index_buffers(self, iterators: list[Bound]) -> list[Buffer]:
        """Integer operands whose values may serve as subscripts."""
        if not any(b.role == "index" for b in self.buffers) and self._chance(0.1):
            axis = self.rng.choice(self.dense)
            dtype = self.rng.choice(["int32", "int64"])
            self.buffers.append(Buffer(self._name("P"), (axis,), dtype, "index"))
        return [b for b in self.buffers if b.role == "index"]
