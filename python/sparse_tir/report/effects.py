"""What each decision did to the time."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .data import Candidate


@dataclass(frozen=True)
class Value:
    """One value of a decision: the times of the candidates with it, in seconds."""

    value: Any
    text: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of the candidates' medians."""
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        """Of the fastest candidate."""
        return min(self.seconds)


@dataclass(frozen=True)
class Effect:
    """A decision and its values, in their order."""

    name: str
    values: tuple[Value, ...]

    @property
    def ratio(self) -> float:
        """Median time of the slowest value over that of the fastest; 1 if there is one value only."""
        medians = [value.median for value in self.values]
        return max(medians) / min(medians)


def decision_text(value: Any) -> str:
    """``1x4x16`` for a tile, else the value itself."""
    return "\N{MULTIPLICATION SIGN}".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def effects_of(candidates: Iterable[Candidate]) -> list[Effect]:
    """Of every decision on candidates that ran right, the strongest first."""
    found: dict[str, dict[str, tuple[Any, list[float]]]] = {}
    for candidate in candidates:
        if candidate.seconds is not None:
            for name, value in candidate.decisions.items():
                entry = found.setdefault(name, {}).setdefault(decision_text(value), (value, []))
                entry[1].append(candidate.seconds.median)
    effects = [
        Effect(name, tuple(Value(value, text, tuple(times)) for text, (value, times) in _ordered(values)))
        for name, values in found.items()
    ]
    return sorted(effects, key=lambda effect: -effect.ratio)


def _ordered(values: Mapping[str, tuple[Any, list[float]]]) -> list[tuple[str, tuple[Any, list[float]]]]:
    def key(item: tuple[str, tuple[Any, list[float]]]) -> tuple[int, Any]:
        value = item[1][0]
        if isinstance(value, (int, float)):
            return 0, value
        if isinstance(value, (list, tuple)) and all(isinstance(part, (int, float)) for part in value):
            return 1, tuple(value)
        return 2, item[0]

    return sorted(values.items(), key=key)


def changes(default: Mapping[str, Any], winner: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """``(decision, value of the default, value of the winner)`` where they differ."""
    return [
        (name, decision_text(default[name]), decision_text(value))
        for name, value in winner.items()
        if name in default and default[name] != value
    ]
