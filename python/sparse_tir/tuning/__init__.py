"""Tuning: MetaSchedule over the schedules of one kernel, on the user's own arrays.

`tune` takes an operator and a matrix; `tune_problem` takes any kernel with a space of schedules.
"""

from .api import tune
from .job import best_schedule, tune_problem
from .operators import OPERATORS
from .problem import (
    Measurement,
    Trial,
    TuningProblem,
    TuningResult,
    choose,
    choose_tile,
    choose_variant,
)
from .records import kernel_path

__all__ = [
    "OPERATORS",
    "Measurement",
    "Trial",
    "TuningProblem",
    "TuningResult",
    "best_schedule",
    "choose",
    "choose_tile",
    "choose_variant",
    "kernel_path",
    "tune",
    "tune_problem",
]
