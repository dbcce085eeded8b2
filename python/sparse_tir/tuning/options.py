"""The arguments of a job, checked."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sparse_tir import config, errors

from .launch import available_cores

_BATCH = 8
_LARGEST = 2**30


@dataclass(frozen=True)
class JobOptions:
    """How much is measured, and how."""

    max_trials: int
    batch: int
    seed: int
    timeout: float
    threads: int


def check_options(
    max_trials: int, batch: int | None, seed: int, timeout: float, threads: int | None
) -> JobOptions:
    """The arguments of `tune_problem` (ST604 for one out of range)."""
    batch = _BATCH if batch is None else batch
    for name, value, least in (
        ("max_trials_global", max_trials, 1),
        ("num_trials_per_iter", batch, 1),
        ("seed", seed, 0),
    ):
        if not is_integer(value) or not least <= value < _LARGEST:
            raise errors.error(
                "ST604", f"st.tune.{name}", value, f"an integer from {least} to {_LARGEST - 1}"
            )
    if not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise errors.error("ST604", "st.tune.timeout_sec", timeout, "a positive number of seconds")
    return JobOptions(max_trials, batch, seed, float(timeout), thread_count(threads))


def thread_count(threads: int | None) -> int:
    """Threads of the kernels: as asked for, else what the environment says, else all cores."""
    available = available_cores()
    if threads is None:
        return min(config.NUM_THREADS.value() or available, available)
    if not is_integer(threads) or not 1 <= threads <= available:
        raise errors.error("ST604", "st.tune.threads", threads, f"1 to {available}")
    return threads


def is_integer(value: Any) -> bool:
    """Python's or NumPy's integers, no truth values."""
    return isinstance(value, Integral) and not isinstance(value, bool)
