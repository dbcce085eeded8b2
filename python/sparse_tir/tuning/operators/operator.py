"""What tuning needs to know of an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tvm
from tvm.target import Target

from sparse_tir.runtime import Kernel, SparseMatrix

from ..problem import TuningProblem


@dataclass(frozen=True)
class TunableOperator:
    """An operator on one sparse matrix.

    Attributes
    ----------
    name
        As the user writes it.
    make_problem
        ``(matrix, feat, target) -> problem``; ST601 for a matrix that cannot be tuned for, ST156 for its
        dtype.
    build
        ``(problem, scheduled module, extra metadata) -> kernel`` that the operator's call accepts.
    """

    name: str
    make_problem: Callable[[SparseMatrix, int, Target], TuningProblem]
    build: Callable[[TuningProblem, tvm.IRModule, dict[str, Any]], Kernel]
