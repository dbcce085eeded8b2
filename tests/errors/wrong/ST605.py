"""ST605: the measuring process does not start."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).parents[2] / "tuning"))

import tuning_kernels as kernels

from sparse_tir.tuning import tune_problem

#: What the message must mention.
NAMES = (
    "st.tune",
    "no such module",
)


def wrong() -> None:
    with mock.patch("sparse_tir.tuning.launch._START", "raise SystemExit('no such module')"):
        tune_problem(kernels.problem(), work_dir="work", max_trials_global=1)
