"""Statements that fold: ``Y[e] = combine(Y[e], v)`` with ``v`` free of ``Y`` (law 9)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm_ffi
from tvm.ir import Expr, TensorLoad, prim
from tvm.tirx import BufferStore

from .expressions import DType, Expressions, Thunk, identity, variables_in

#: Combiner -> what it does to two values. Law 5: max and min propagate NaN. Law 8: integers wrap.
COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "prod": operator.mul,
    "max": np.maximum,
    "min": np.minimum,
}
_COMBINER_OF: dict[type, str] = {
    prim.Add: "sum",
    prim.Sub: "sum",
    prim.Mul: "prod",
    prim.Max: "max",
    prim.Min: "min",
}


@dataclass(frozen=True)
class Fold:
    """A contribution and its combiner.

    Attributes
    ----------
    combiner
        A key of `COMBINERS`.
    terms
        (term, whether it is subtracted); combined they are the contribution.
    """

    combiner: str
    terms: tuple[tuple[Expr, bool], ...]

    def contribution(self, expressions: Expressions, dtype: DType) -> Thunk:
        """The function that forms the contribution, in ``dtype``."""
        combine = COMBINERS[self.combiner]
        terms = [(expressions.compile(term), negative) for term, negative in self.terms]

        def evaluate() -> Any:
            total = None
            for term, negative in terms:
                value = dtype.type(0) - term() if negative else term()
                total = value if total is None else combine(total, value)
            return total

        return evaluate


def match_fold(store: BufferStore) -> Fold | None:
    """The fold that a statement is, or None. ``Y[e] - v + w`` is a sum of ``w - v``."""
    combiner = _COMBINER_OF.get(type(store.value))
    if combiner is None:
        return None
    operands = list(_operands(store.value, combiner, False))
    loads = [term for term, negative in operands if not negative and _is_element(term, store)]
    rest = tuple((term, negative) for term, negative in operands if negative or not _is_element(term, store))
    if len(loads) != 1 or not rest or any(identity(store.buffer) in variables_in(term) for term, _ in rest):
        return None
    return Fold(combiner, rest)


def _operands(expr: Expr, combiner: str, negative: bool) -> Iterator[tuple[Expr, bool]]:
    """The operands of a chain of one combiner, and whether each is subtracted."""
    if _COMBINER_OF.get(type(expr)) != combiner:
        yield expr, negative
        return
    yield from _operands(expr.a, combiner, negative)
    yield from _operands(expr.b, combiner, negative != isinstance(expr, prim.Sub))


def _is_element(expr: Expr, store: BufferStore) -> bool:
    return (
        isinstance(expr, TensorLoad)
        and expr.source.same_as(store.buffer)
        and all(tvm_ffi.structural_equal(a, b) for a, b in zip(expr.indices, store.indices, strict=True))
    )
