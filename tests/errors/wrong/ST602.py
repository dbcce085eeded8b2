"""ST602: no candidate ran right."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tuning"))

import tuning_kernels as kernels

from sparse_tir.tuning import tune_problem

#: What the message must mention.
NAMES = ("st.tune",)


def wrong() -> None:
    fault = functools.partial(kernels.faulty_space, fault=kernels.FAULTS.index("wrong"), rows=64)
    problem = kernels.problem(space=kernels.faulty_space, seeds=[fault], finish=kernels.faulty_finish)
    tune_problem(problem, work_dir="work", max_trials_global=1)
