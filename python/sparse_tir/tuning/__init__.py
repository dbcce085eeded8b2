"""Tuning: MetaSchedule over the schedules of one kernel, on the user's own arrays."""

from .job import best_schedule, tune
from .problem import (
    Measurement,
    Trial,
    TuningProblem,
    TuningResult,
    choose,
    choose_tile,
    choose_variant,
)

__all__ = [
    "Measurement",
    "Trial",
    "TuningProblem",
    "TuningResult",
    "best_schedule",
    "choose",
    "choose_tile",
    "choose_variant",
    "tune",
]
