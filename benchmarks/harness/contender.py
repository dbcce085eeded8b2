"""What is timed: one call of one library, on arrays that are ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Contender:
    """One call that leaves its result in ``result()``.

    Attributes
    ----------
    name
        As in the tables.
    version
        Of the library.
    call
        Runs the operator once; operands, output and handles are prepared.
    result
        The output of the last call.
    """

    name: str
    version: str
    call: Callable[[], Any]
    result: Callable[[], NDArray[Any]]


@dataclass(frozen=True)
class Absent:
    """A peer that does not take part, and why."""

    name: str
    reason: str


def check(contender: Contender, expected: NDArray[Any], rtol: float, atol: float) -> None:
    """Runs the contender on an output that is wrong everywhere; raises if the result is not right."""
    contender.call()  # some allocate their output at the first call
    contender.result().fill(np.nan)
    contender.call()
    found = contender.result()
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=rtol, atol=atol):
        worst = float(np.abs(found - expected).max()) if found.shape == expected.shape else float("nan")
        raise ArithmeticError(f"{contender.name} is up to {worst:g} away from the float64 result")
