"""Timing in turns: every round takes one sample of each contender, so that disturbances meet all alike."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .contender import Contender

#: Thread pools spin for some milliseconds after a call; the next contender starts when they sleep.
_PAUSE_SECONDS = 0.005
_SAMPLE_SECONDS = 0.004
_WARM_UPS = 3


@dataclass(frozen=True)
class Times:
    """Seconds of one call: median and the middle 60 % of ``n`` samples."""

    median: float
    p20: float
    p80: float
    n: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Times:
        p20, median, p80 = np.percentile(samples, [20, 50, 80])
        return cls(float(median), float(p20), float(p80), len(samples))


def time_in_turns(contenders: Sequence[Contender], rounds: int) -> dict[str, Times]:
    """Seconds per call of each contender.

    A sample is the mean of as many calls as fill 4 ms, after a pause of 5 ms and one call that is not
    timed. The order rotates from round to round.
    """
    numbers = {contender.name: _calls_per_sample(contender) for contender in contenders}
    samples: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(rounds):
        for place in range(len(contenders)):
            contender = contenders[(place + turn) % len(contenders)]
            time.sleep(_PAUSE_SECONDS)
            contender.call()
            samples[contender.name].append(_mean_seconds(contender, numbers[contender.name]))
    return {name: Times.of(seconds) for name, seconds in samples.items()}


def _calls_per_sample(contender: Contender) -> int:
    once = min(_mean_seconds(contender, 1) for _ in range(_WARM_UPS))
    return max(1, math.ceil(_SAMPLE_SECONDS / max(once, 1e-9)))


def _mean_seconds(contender: Contender, number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        contender.call()
    return (time.perf_counter() - start) / number
