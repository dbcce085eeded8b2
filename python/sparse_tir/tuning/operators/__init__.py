"""The operators that can be tuned: for each, how a matrix becomes a tuning problem, and that a kernel."""

from __future__ import annotations

from collections.abc import Mapping

from sparse_tir import errors

from .operator import TunableOperator
from .spmm import SPMM

#: By name. A new operator is one module here and one entry.
OPERATORS: Mapping[str, TunableOperator] = {SPMM.name: SPMM}


def find_operator(name: object, where: str = "st.tune.op") -> TunableOperator:
    """The operator of that name.

    Raises
    ------
    TuningError
        ST601 if there is none.
    """
    found = OPERATORS.get(name) if isinstance(name, str) else None
    if found is None:
        raise errors.error("ST601", where, repr(name), "one of " + ", ".join(map(repr, OPERATORS)))
    return found


__all__ = ["OPERATORS", "TunableOperator", "find_operator"]
