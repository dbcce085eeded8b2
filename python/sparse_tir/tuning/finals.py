"""The end of a job: the best candidates and the default, timed in turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .problem import Measurement
from .runner import MeasureProcess
from .search import Candidate

_FINALISTS = 5


@dataclass(frozen=True)
class Right:
    """A candidate whose result was right, with its samples."""

    candidate: Candidate
    samples: tuple[float, ...]

    @property
    def measurement(self) -> Measurement:
        """Of the samples."""
        return Measurement.of(self.samples)

    def as_json(self) -> dict[str, Any]:
        """As ``result.json`` holds it."""
        return {
            "key": self.candidate.key,
            "decisions": self.candidate.decisions,
            "trace": self.candidate.trace,
            "seconds": asdict(self.measurement),
        }


def decide(
    process: MeasureProcess, right: Sequence[Right], default_key: str, timeout: float
) -> tuple[Right, Right | None]:
    """The winner, and the default unless it was wrong: noise of the search does not choose the winner."""
    ranked = sorted(right, key=lambda one: one.measurement.median)
    default = next((one for one in right if one.candidate.key == default_key), None)
    finalists = {one.candidate.key: one for one in (*ranked[:_FINALISTS], default) if one is not None}
    traces = [json.dumps(one.candidate.trace) for one in finalists.values()]
    outcomes = process.duel(traces, timeout) if len(traces) > 1 else None
    if outcomes is not None:
        for one, outcome in zip(list(finalists.values()), outcomes, strict=True):
            finalists[one.candidate.key] = replace(one, samples=outcome.samples)
    best = min(finalists.values(), key=lambda one: one.measurement.median)
    return best, finalists.get(default_key)
