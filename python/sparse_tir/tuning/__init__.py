"""Tuning: MetaSchedule over the schedules of one kernel, on the user's own arrays.

`tune` takes an operator and a matrix; `tune_problem` takes any kernel with a space of schedules.

Names are imported when they are first used: a job starts its measuring process before it imports TVM itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import tune
    from .best import best_schedule
    from .job import tune_problem
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
    from .reading import read_report
    from .records import kernel_path, report_path

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
    "read_report",
    "report_path",
    "tune",
    "tune_problem",
]

#: Where the public names are defined.
_HOMES = {
    "OPERATORS": "operators",
    "best_schedule": "best",
    "kernel_path": "records",
    "read_report": "reading",
    "report_path": "records",
    "tune": "api",
    "tune_problem": "job",
    **dict.fromkeys(
        ("Measurement", "Trial", "TuningProblem", "TuningResult", "choose", "choose_tile", "choose_variant"),
        "problem",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
