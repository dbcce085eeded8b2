"""A tuning job: seeds first, then batches of the search, then the winner against the default."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import tvm
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import Trace

from sparse_tir import config, errors

from .problem import Measurement, Trial, TuningProblem, TuningResult, check, check_arguments, workload
from .records import Failure, Lock, Record, WorkDirectory, versions
from .runner import MeasureProcess, available_cores
from .search import Candidate, Search, TraceJSON, decisions_of, draw, replay

_BATCH = 8
_FINALISTS = 5
_ATTEMPTS = 2


@dataclass(frozen=True)
class _Right:
    """A candidate with its samples."""

    candidate: Candidate
    samples: tuple[float, ...]

    @property
    def measurement(self) -> Measurement:
        return Measurement.of(self.samples)


@dataclass(frozen=True)
class _Options:
    max_trials: int
    batch: int
    seed: int
    timeout: float
    threads: int


def tune_problem(
    problem: TuningProblem,
    *,
    work_dir: str | os.PathLike[str],
    max_trials_global: int = 64,
    num_trials_per_iter: int | None = None,
    seed: int = 0,
    timeout_sec: float = 30.0,
    threads: int | None = None,
    on_event: Callable[[Trial], None] | None = None,
) -> TuningResult:
    """Finds a fast schedule for one kernel on the user's own arrays.

    The seeds of the problem, its default schedule first, are measured before anything else; then an
    evolutionary search with an XGBoost cost model proposes batches. Every candidate must compute the right
    output before it is timed. Candidates run in a process of their own and may crash or hang. At the end
    the best ones and the default are timed in turns, and the fastest of them is the result: it is never
    slower than the default.

    Parameters
    ----------
    problem
        The kernel, its space and its data.
    work_dir
        Where records are kept (created if need be). A job with the same problem goes on where the last one
        stopped: known candidates are not measured again.
    max_trials_global
        Number of candidates, those already recorded in `work_dir` included.
    num_trials_per_iter
        Candidates between two updates of the cost model; 8 by default.
    seed
        Equal seeds and equal times give equal candidates.
    timeout_sec
        For building, checking and timing one candidate.
    threads
        Threads of the kernels; by default what TVM_NUM_THREADS says, else the physical cores that this
        process may use.
    on_event
        Called with every new trial. What it raises ends the job; the records are kept.

    Returns
    -------
    TuningResult

    Raises
    ------
    TuningError
        ST601 (the problem cannot be tuned), ST602 (no candidate ran right), ST604 (an argument is out of
        range), ST605 (the measuring process does not start).
    """
    options = _checked(max_trials_global, num_trials_per_iter, seed, timeout_sec, threads)
    check(problem)
    with Lock(work_dir):
        return _Job(problem, options, Path(work_dir), on_event).run()


def best_schedule(
    problem: TuningProblem, work_dir: str | os.PathLike[str], *, threads: int | None = None
) -> tvm.IRModule:
    """The best recorded schedule of a problem, applied to its module (before `TuningProblem.finish`).

    Raises
    ------
    TuningError
        ST603 if the directory holds no record of this kernel, target, data and number of threads.
    """
    return best_candidate(problem, work_dir, threads=threads)[0]


def best_candidate(
    problem: TuningProblem, work_dir: str | os.PathLike[str], *, threads: int | None = None
) -> tuple[tvm.IRModule, dict[str, Any]]:
    """`best_schedule` and its decisions."""
    check(problem)
    count = _threads(threads)
    directory = WorkDirectory(work_dir, workload(problem, count), problem.target)
    finished = directory.read_result()
    traces = [record.trace for record in sorted(directory.records, key=lambda record: record.median)]
    if finished is not None and finished["records"] == len(traces):  # else: a job was killed before its end
        traces.insert(0, finished["best"]["trace"])
    for trace in traces:
        with contextlib.suppress(errors.TuningError):  # damaged, but still a line of the database
            return apply(problem, trace), decisions_of(trace)
    raise errors.error(
        "ST603",
        f"best_schedule({problem.name})",
        f"{len(traces)} records in {directory.path}, {directory.skipped_lines} unreadable lines",
        f"a record of this kernel, target and data for {count} threads",
        "run st.tune with this work_dir",
    )


def apply(problem: TuningProblem, trace: TraceJSON) -> tvm.IRModule:
    """The problem's module with a recorded trace applied."""
    sch = Schedule(problem.module)
    try:
        Trace.apply_json_to_schedule(trace, sch)
    except Exception as failure:
        raise errors.error(
            "ST603", f"best_schedule({problem.name})", failure, "a trace that applies to this module"
        ) from failure
    return sch.mod


class _Job:
    """The state of one job: what is known of each candidate, and the trials in order."""

    def __init__(
        self,
        problem: TuningProblem,
        options: _Options,
        work_dir: Path,
        on_event: Callable[[Trial], None] | None,
    ) -> None:
        self._problem, self._options, self._on_event = problem, options, on_event
        self._workload = workload(problem, options.threads)
        self._directory = WorkDirectory(work_dir, self._workload, problem.target)
        self._seeds = [draw(problem, self._workload, seed, 1) for seed in problem.seeds]
        self._trials: dict[str, Trial] = {}
        self._right: dict[str, _Right] = {}
        for record in self._directory.records:
            self._recall(record)
        for failure in self._directory.failures:
            self._remember(failure.key, _failed(failure.reason), decisions_of(failure.trace))

    def _recall(self, record: Record) -> None:
        try:
            candidate = replay(self._workload, record.trace)
        except Exception:  # TVM raises nearly anything for text that is no trace
            self._directory.skipped_lines += 1
            return
        self._right[candidate.key] = _Right(candidate, record.samples)
        self._remember(candidate.key, _ok(record.samples), candidate.decisions)

    def run(self) -> TuningResult:
        """Measures what is not known yet, and decides."""
        finished = self._directory.read_result()
        if finished is not None and self._is_complete(finished):
            return self._result(finished)
        arguments = self._problem.arguments()
        check_arguments(self._problem, arguments)
        sizes = {index: int(value) for index, value in enumerate(arguments) if _is_size(value)}
        with MeasureProcess(self._problem, arguments, self._options.threads) as process:
            del arguments
            self._measure(process, self._new_seeds())
            self._search(process, sizes)
            outcome = self._decide(process)
        self._directory.write_result(outcome)
        return self._result(outcome)

    def _is_complete(self, finished: dict[str, Any]) -> bool:
        needed = {finished["best"]["key"], self._seeds[0].key}
        stored = finished["trials"]["ok"] + finished["trials"]["failed"]
        if stored != len(self._trials) or not needed <= self._trials.keys():
            return False
        return bool(self._remaining() <= 0 or finished["exhausted"])

    def _remaining(self) -> int:
        return self._options.max_trials - len(self._trials)

    def _new_seeds(self) -> list[Candidate]:
        """Seeds not known yet. The default is measured however few trials there are."""
        default, *others = self._seeds
        new = {seed.key: seed for seed in others if seed.key not in self._trials and seed.key != default.key}
        if default.key in self._trials:
            return list(new.values())[: max(0, self._remaining())]
        return [default, *list(new.values())[: max(0, self._remaining() - 1)]]

    def _search(self, process: MeasureProcess, sizes: dict[int, int]) -> None:
        self._exhausted = False
        if self._remaining() <= 0:
            return
        options = self._options
        search = Search(
            self._problem,
            self._workload,
            sizes,
            batch=options.batch,
            seed=options.seed,
            threads=options.threads,
        )
        known = list(self._right.values())
        search.learn([right.candidate for right in known], [right.samples for right in known])
        attempts = _ATTEMPTS
        while self._remaining() > 0 and attempts:
            proposed = search.propose(self._trials)
            attempts = _ATTEMPTS if proposed is not None else attempts - 1
            new = (proposed or [])[: self._remaining()]
            search.learn(new, self._measure(process, new))
        self._exhausted = self._remaining() > 0

    def _measure(
        self, process: MeasureProcess, candidates: Sequence[Candidate]
    ) -> list[Sequence[float] | None]:
        """Samples of each candidate, None for a failed one. Recorded and reported one by one."""
        results: list[Sequence[float] | None] = []
        for candidate in candidates:
            outcome = process.measure(json.dumps(candidate.trace), self._best_median(), self._options.timeout)
            if outcome.reason is None:
                self._directory.add_record(Record(candidate.trace, outcome.samples))
                self._right[candidate.key] = _Right(candidate, outcome.samples)
                trial = self._remember(candidate.key, _ok(outcome.samples), candidate.decisions)
            else:
                failure = Failure(candidate.key, candidate.trace, outcome.reason, outcome.log)
                self._directory.add_failure(failure)
                trial = self._remember(candidate.key, _failed(outcome.reason), candidate.decisions)
            results.append(outcome.samples or None)
            if self._on_event is not None:
                self._on_event(trial)
        return results

    def _remember(self, key: str, trial: Trial, decisions: dict[str, Any]) -> Trial:
        trial = replace(trial, index=len(self._trials), decisions=decisions)
        self._trials[key] = trial
        return trial

    def _best_median(self) -> float | None:
        return min((right.measurement.median for right in self._right.values()), default=None)

    def _decide(self, process: MeasureProcess) -> dict[str, Any]:
        """The best candidates and the default in turns: noise of the search does not choose the winner."""
        if not self._right:
            raise self._nothing_right()
        ranked = sorted(self._right.values(), key=lambda right: right.measurement.median)
        default = self._right.get(self._seeds[0].key)
        finalists = {
            right.candidate.key: right for right in (*ranked[:_FINALISTS], default) if right is not None
        }
        traces = [json.dumps(right.candidate.trace) for right in finalists.values()]
        outcomes = process.duel(traces, self._options.timeout) if len(traces) > 1 else None
        if outcomes is not None:
            for right, outcome in zip(list(finalists.values()), outcomes, strict=True):
                finalists[right.candidate.key] = replace(right, samples=outcome.samples)
        best = min(finalists.values(), key=lambda right: right.measurement.median)
        return self._outcome(best, finalists.get(self._seeds[0].key))

    def _outcome(self, best: _Right, default: _Right | None) -> dict[str, Any]:
        """``result.json``."""
        problem, directory = self._problem, self._directory
        return {
            "name": problem.name,
            "signature": json.loads(json.dumps(problem.signature, sort_keys=True, default=str)),
            "fingerprint": problem.fingerprint,
            "threads": self._options.threads,
            "seed": self._options.seed,
            "versions": versions(),
            "best": _described(best),
            "default": None if default is None else _described(default),
            "trials": {"ok": len(self._right), "failed": len(directory.failures)},
            "records": len(directory.records),
            "exhausted": self._exhausted,
            "failures": {
                reason: {"count": count, "log": next(f.log for f in directory.failures if f.reason == reason)}
                for reason, count in self._failures_by_reason().items()
            },
            "skipped_lines": directory.skipped_lines,
        }

    def _result(self, outcome: dict[str, Any]) -> TuningResult:
        default = self._trials[self._seeds[0].key]
        if outcome["default"] is not None:
            default = replace(default, seconds=Measurement(**outcome["default"]["seconds"]))
        best = self._trials[outcome["best"]["key"]]
        return TuningResult(
            best=replace(best, seconds=Measurement(**outcome["best"]["seconds"])),
            best_schedule_module=apply(self._problem, outcome["best"]["trace"]),
            default=default,
            trials=tuple(self._trials.values()),
            failures_by_reason=self._failures_by_reason(),
            work_dir=self._directory.path,
            skipped_lines=self._directory.skipped_lines,
        )

    def _failures_by_reason(self) -> dict[str, int]:
        return dict(Counter(failure.reason for failure in self._directory.failures))

    def _nothing_right(self) -> errors.SparseTIRError:
        failures = self._directory.failures
        log = failures[0].log.strip() if failures else ""
        return errors.error(
            "ST602",
            f"st.tune({self._problem.name})",
            f"{len(failures)} failed: {self._failures_by_reason()}\n{log}",
            "at least the default schedule to be right",
            f"see failures.jsonl in {self._directory.path}",
        )


def _described(right: _Right) -> dict[str, Any]:
    return {
        "key": right.candidate.key,
        "decisions": right.candidate.decisions,
        "trace": right.candidate.trace,
        "seconds": asdict(right.measurement),
    }


def _ok(samples: Sequence[float]) -> Trial:
    return Trial(0, "ok", None, Measurement.of(samples), {})


def _failed(reason: str) -> Trial:
    return Trial(0, "failed", reason, None, {})


def _is_size(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _checked(max_trials: int, batch: int | None, seed: int, timeout: float, threads: int | None) -> _Options:
    batch = _BATCH if batch is None else batch
    for name, value, least in (
        ("max_trials_global", max_trials, 1),
        ("num_trials_per_iter", batch, 1),
        ("seed", seed, 0),
    ):
        if not _is_size(value) or not least <= value < 2**30:
            raise errors.error("ST604", f"st.tune.{name}", value, f"an integer from {least} to {2**30 - 1}")
    if not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise errors.error("ST604", "st.tune.timeout_sec", timeout, "a positive number of seconds")
    return _Options(max_trials, batch, seed, float(timeout), _threads(threads))


def _threads(threads: int | None) -> int:
    available = available_cores()
    if threads is None:
        return min(config.NUM_THREADS.value() or available, available)
    if not _is_size(threads) or not 1 <= threads <= available:
        raise errors.error("ST604", "st.tune.threads", threads, f"1 to {available}")
    return threads
