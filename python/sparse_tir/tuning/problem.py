"""What is tuned, and what comes out: plain data, no search and no processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tvm
from tvm.s_tir import Schedule
from tvm.tirx import Evaluate, PrimFunc

from sparse_tir import errors

from .traces import DECISION_PREFIX

FINGERPRINT_ATTR = "sparse_tir.fingerprint"
SIGNATURE_ATTR = "sparse_tir.signature"
THREADS_ATTR = "sparse_tir.threads"
ENTRY = "sparse_tir_no_arguments"
_CPU_KINDS = ("llvm",)


@dataclass(frozen=True)
class TuningProblem:
    """One kernel, its schedule space and the user's own arrays.

    Parameters
    ----------
    name
        What the kernel is called in tables and records, such as ``"spmm"``.
    module
        Stage II module with the function ``main``, not scheduled.
    space
        Draws every decision (with `choose`, `choose_tile`, `choose_variant`, which name them, or
        ``sch.sample_*``) and applies the schedule.
    seeds
        Hand-known schedules in the words of `space` with given decisions; ``seeds[0]`` is the default
        schedule.
    finish
        From the scheduled module to the one that is compiled. A module-level function, or a
        `functools.partial` of one: it runs in the measuring process.
    target
        A CPU target with its ``mcpu``.
    arguments
        Gives a fresh argument list: NumPy or TVM arrays and Python scalars, the output filled with NaN (or
        with any other value that is no right answer).
    output
        Position of the output in that list.
    expected
        The right output.
    signature
        What the kernel is: operator, dtypes, widths. Records of another signature are never applied.
    fingerprint
        What the data is. Records of other data are never applied.
    rtol, atol
        A candidate is right if ``abs(found - expected) <= atol + rtol * abs(expected)`` everywhere.
    """

    name: str
    module: tvm.IRModule
    space: Callable[[Schedule], None]
    seeds: Sequence[Callable[[Schedule], None]]
    finish: Callable[[tvm.IRModule], tvm.IRModule]
    target: tvm.target.Target
    arguments: Callable[[], list[Any]]
    output: int
    expected: np.ndarray
    signature: Mapping[str, Any]
    fingerprint: str
    rtol: float = 1e-3
    atol: float = 1e-3


@dataclass(frozen=True)
class Measurement:
    """Seconds of one call: median and percentiles of `n` samples (a sample averages several calls)."""

    median: float
    p20: float
    p80: float
    n: int

    @staticmethod
    def of(samples: Sequence[float]) -> Measurement:
        """The statistics of a non-empty list of samples."""
        p20, median, p80 = (float(x) for x in np.percentile(np.asarray(samples, "float64"), (20, 50, 80)))
        return Measurement(median, p20, p80, len(samples))


@dataclass(frozen=True)
class Trial:
    """One candidate. `reason` says why it failed, `seconds` is there only if its result was right."""

    index: int
    status: Literal["ok", "failed"]
    reason: str | None
    seconds: Measurement | None
    decisions: Mapping[str, Any]


@dataclass(frozen=True)
class TuningResult:
    """What a tuning job found.

    `best` and `default` carry times that were measured in turns at the end of the job; `trials` carry the
    times of the search. `best_schedule_module` is the scheduled module before `TuningProblem.finish`.
    `skipped_lines` counts unreadable lines of the record files, `skipped_places` says where they stand, such as
    ``"failures.jsonl line 3"``. `kernel_path` is the saved kernel, if one was
    saved.
    """

    best: Trial
    best_schedule_module: tvm.IRModule
    default: Trial
    trials: tuple[Trial, ...]
    failures_by_reason: Mapping[str, int]
    work_dir: Path
    skipped_lines: int = 0
    skipped_places: tuple[str, ...] = ()
    kernel_path: Path | None = None

    @property
    def speedup(self) -> float | None:
        """How many times faster than the default schedule; None if the default itself failed."""
        if self.best.seconds is None or self.default.seconds is None:
            return None
        return self.default.seconds.median / self.best.seconds.median


def choose(
    sch: Schedule,
    name: str,
    values: Sequence[int],
    probabilities: Sequence[float] | None = None,
    value: int | None = None,
) -> Any:
    """A named categorical decision of a space; with `value`, that decision is forced (for seeds).

    Examples
    --------
    >>> def space(sch):
    ...     rows = choose(sch, "rows", [16, 64, 256])
    ...     (i,) = sch.get_loops(sch.get_sblock("spmm_I"))
    ...     sch.parallel(sch.split(i, [None, rows])[0])
    """
    weights = list(probabilities) if probabilities is not None else [1.0 / len(values)] * len(values)
    decision = None if value is None else list(values).index(value)
    chosen = sch.sample_categorical(list(values), weights, decision)
    sch.annotate(sch.get_sblock("root"), DECISION_PREFIX + name, chosen)
    return chosen


def choose_tile(
    sch: Schedule, name: str, loop: Any, parts: int, max_innermost: int, value: Sequence[int] | None = None
) -> list[Any]:
    """A named decision on how to tile a loop of constant extent exactly; with `value`, it is forced."""
    factors = sch.sample_perfect_tile(loop, parts, max_innermost, list(value) if value is not None else None)
    sch.annotate(sch.get_sblock("root"), DECISION_PREFIX + name, factors[0])
    return list(factors)


def choose_variant(sch: Schedule, name: str, values: Sequence[str], value: str | None = None) -> str:
    """A named decision between different schedules, as a word to branch on.

    A trace of TVM is a straight line of instructions, so every variant becomes a design space of its own.
    (Branching on a decision of `choose` would have the search change that decision without any effect.)
    """
    decision = None if value is None else list(values).index(value)
    weights = [1.0 / len(values)] * len(values)
    chosen = values[int(sch.get(sch.sample_categorical(list(range(len(values))), weights, decision)))]
    sch.annotate(sch.get_sblock("root"), DECISION_PREFIX + name, chosen)
    return chosen


def workload(problem: TuningProblem, threads: int) -> tvm.IRModule:
    """The module that keys the records: the problem's own, marked with what it was measured on.

    MetaSchedule reads argument shapes off the entry function and accepts constants only, so a function
    without arguments is added as the entry; schedules work on ``main``.
    """
    main = problem.module["main"].without_attr("tirx.is_entry_func")
    main = main.with_attr(FINGERPRINT_ATTR, problem.fingerprint)
    main = main.with_attr(SIGNATURE_ATTR, json.dumps(problem.signature, sort_keys=True, default=str))
    main = main.with_attr(THREADS_ATTR, threads)
    entry = PrimFunc([], Evaluate(0)).with_attr("tirx.is_entry_func", True).with_attr("global_symbol", ENTRY)
    functions = {var.name_hint: function for var, function in problem.module.functions.items()}
    return tvm.IRModule({**functions, "main": main, ENTRY: entry})


def target_json(target: tvm.target.Target) -> dict[str, Any]:
    """The target as records hold it."""
    result: dict[str, Any] = json.loads(str(target))
    return result


def check(problem: TuningProblem) -> None:
    """Refuses what cannot be tuned (ST601) before any process is started."""
    where = f"st.tune({problem.name})"
    if problem.target.kind.name not in _CPU_KINDS:
        raise errors.error(
            "ST601", f"{where}.target", problem.target.kind.name, "a target of kind " + ", ".join(_CPU_KINDS)
        )
    names = [var.name_hint for var in problem.module.get_global_vars()]
    if "main" not in names:
        raise errors.error("ST601", f"{where}.module", f"functions {names}", "a function named main")
    if not problem.seeds:
        raise errors.error("ST601", f"{where}.seeds", "no seed", "at least the default schedule")


def check_arguments(problem: TuningProblem, arguments: Sequence[Any]) -> None:
    """The argument list must fit ``main`` and hold the output where the problem says."""
    where = f"st.tune({problem.name}).arguments"
    params = problem.module["main"].params
    if len(arguments) != len(params):
        raise errors.error("ST601", where, f"{len(arguments)} arguments", f"{len(params)}, one per parameter")
    if not 0 <= problem.output < len(arguments):
        raise errors.error("ST601", where, f"output position {problem.output}", f"0 to {len(arguments) - 1}")
    shape = getattr(arguments[problem.output], "shape", None)
    if shape is None or tuple(int(x) for x in shape) != problem.expected.shape:
        raise errors.error("ST601", where, f"output of shape {shape}", f"shape {problem.expected.shape}")
