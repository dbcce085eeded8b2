"""A tuning job: seeds first, then batches of the search, then the winner against the default."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparse_tir import errors
from sparse_tir._interrupts import interrupts_wait

from .best import apply_trace
from .finals import Right, decide
from .history import Session
from .machine import processor_name, versions
from .options import JobOptions, check_options, is_integer
from .problem import Measurement, Trial, TuningProblem, TuningResult, check, check_arguments, workload
from .records import Failure, Lock, Record, WorkDirectory
from .runner import MeasureProcess
from .search import Candidate, Search, draw, replay
from .traces import decisions_of

_ATTEMPTS = 2

OnStart = Callable[[Sequence[Trial]], None]
OnEvent = Callable[[Trial], None]


def tune_problem(
    problem: TuningProblem,
    *,
    work_dir: str | os.PathLike[str],
    max_trials_global: int = 64,
    num_trials_per_iter: int | None = None,
    seed: int = 0,
    timeout_sec: float = 30.0,
    threads: int | None = None,
    on_start: OnStart | None = None,
    on_event: OnEvent | None = None,
    notes: Mapping[str, Any] | None = None,
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
        Equal seeds and equal times give equal candidates. The seeds of the problem and the first 12 that are
        drawn from the space depend on no times.
    timeout_sec
        For building, checking and timing one candidate.
    threads
        Threads of the kernels; by default what TVM_NUM_THREADS says, else the physical cores that this
        process may use.
    on_start
        Called once before anything is measured, with the trials that are recorded already.
    on_event
        Called with every new trial. What it raises ends the job; the records are kept.
    notes
        More for ``job.json``, such as what the data is; for the report.

    Returns
    -------
    TuningResult

    Raises
    ------
    TuningError
        ST601 (the problem cannot be tuned), ST602 (no candidate ran right), ST604 (an argument is out of
        range), ST605 (the measuring process does not start).
    """
    options = check_options(max_trials_global, num_trials_per_iter, seed, timeout_sec, threads)
    check(problem)
    with Lock(work_dir):
        with interrupts_wait():
            job = _Job(problem, options, Path(work_dir), on_event)
        if on_start is not None:
            on_start(job.trials)
        return job.finished() or job.run(notes or {})


class _Job:
    """The state of one job: what is known of each candidate, and the trials in order."""

    def __init__(
        self, problem: TuningProblem, options: JobOptions, work_dir: Path, on_event: OnEvent | None
    ) -> None:
        self._problem, self._options, self._on_event = problem, options, on_event
        self._workload = workload(problem, options.threads)
        self._directory = WorkDirectory(work_dir, self._workload, problem.target)
        self._seeds = [draw(problem, self._workload, seed, 1) for seed in problem.seeds]
        self._trials: dict[str, Trial] = {}
        self._right: dict[str, Right] = {}
        self._exhausted = False
        for entry in self._directory.in_order():
            if isinstance(entry, Record):
                self._recall(entry)
            else:
                self._remember(entry.key, _failed(entry.reason), decisions_of(entry.trace))

    def _recall(self, record: Record) -> None:
        try:
            candidate = replay(self._workload, record.trace)
        except Exception:  # TVM raises nearly anything for text that is no trace
            self._directory.skipped.append(record.place)
            return
        self._right[candidate.key] = Right(candidate, record.samples)
        self._remember(candidate.key, _ok(record.samples), candidate.decisions)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What is known, in order."""
        return tuple(self._trials.values())

    def finished(self) -> TuningResult | None:
        """The result, if an earlier job measured all that is asked for."""
        outcome = self._directory.read_result()
        return self._result(outcome) if outcome is not None and self._is_complete(outcome) else None

    def run(self, notes: Mapping[str, Any]) -> TuningResult:
        """Measures what is not known yet, and decides."""
        options = self._options
        with Session(
            self._directory.path, self._described(notes), asked=options.max_trials, seed=options.seed
        ) as session:
            self._session = session
            arguments = self._problem.arguments()
            check_arguments(self._problem, arguments)
            sizes = {index: int(value) for index, value in enumerate(arguments) if is_integer(value)}
            with MeasureProcess(self._problem, arguments, options.threads) as process:
                del arguments
                self._measure(process, self._new_seeds())
                self._search(process, sizes)
                if not self._right:
                    raise self._nothing_right()
                chosen = decide(process, tuple(self._right.values()), self._seeds[0].key, options.timeout)
            outcome = self._outcome(*chosen)
            self._directory.write_result(outcome)
        return self._result(outcome)

    def _described(self, notes: Mapping[str, Any]) -> dict[str, Any]:
        """``job.json`` without its sessions."""
        problem = self._problem
        return {
            **self._directory.job_key(),
            **notes,
            "name": problem.name,
            "signature": json.loads(json.dumps(problem.signature, sort_keys=True, default=str)),
            "fingerprint": problem.fingerprint,
            "default": self._seeds[0].key,
            "threads": self._options.threads,
            "processor": processor_name(),
            "mcpu": str(problem.target.attrs.get("mcpu", "")),
            "versions": versions(),
        }

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
        if self._remaining() <= 0:
            return
        options = self._options
        with interrupts_wait():
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
                self._right[candidate.key] = Right(candidate, outcome.samples)
                trial = self._remember(candidate.key, _ok(outcome.samples), candidate.decisions)
            else:
                position = len(self._trials)
                failure = Failure(candidate.key, candidate.trace, outcome.reason, outcome.log, position)
                self._directory.add_failure(failure)
                trial = self._remember(candidate.key, _failed(outcome.reason), candidate.decisions)
            results.append(outcome.samples or None)
            self._session.count()
            if self._on_event is not None:
                self._on_event(trial)
        return results

    def _remember(self, key: str, trial: Trial, decisions: dict[str, Any]) -> Trial:
        trial = replace(trial, index=len(self._trials), decisions=decisions)
        self._trials[key] = trial
        return trial

    def _best_median(self) -> float | None:
        return min((right.measurement.median for right in self._right.values()), default=None)

    def _outcome(self, best: Right, default: Right | None) -> dict[str, Any]:
        """``result.json``."""
        problem, directory = self._problem, self._directory
        return {
            "name": problem.name,
            "signature": json.loads(json.dumps(problem.signature, sort_keys=True, default=str)),
            "fingerprint": problem.fingerprint,
            "threads": self._options.threads,
            "seed": self._options.seed,
            "versions": versions(),
            "best": best.as_json(),
            "default": None if default is None else default.as_json(),
            "trials": {"ok": len(self._right), "failed": len(directory.failures)},
            "records": len(directory.records),
            "exhausted": self._exhausted,
            "failures": {
                reason: {"count": count, "log": next(f.log for f in directory.failures if f.reason == reason)}
                for reason, count in self._failures_by_reason().items()
            },
            "skipped_lines": directory.skipped_lines,
            "skipped_places": directory.skipped,
        }

    def _result(self, outcome: dict[str, Any]) -> TuningResult:
        default = self._trials[self._seeds[0].key]
        if outcome["default"] is not None:
            default = replace(default, seconds=Measurement(**outcome["default"]["seconds"]))
        best = self._trials[outcome["best"]["key"]]
        return TuningResult(
            best=replace(best, seconds=Measurement(**outcome["best"]["seconds"])),
            best_schedule_module=apply_trace(self._problem, outcome["best"]["trace"]),
            default=default,
            trials=self.trials,
            failures_by_reason=self._failures_by_reason(),
            work_dir=self._directory.path,
            skipped_lines=self._directory.skipped_lines,
            skipped_places=tuple(self._directory.skipped),
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


def _ok(samples: Sequence[float]) -> Trial:
    return Trial(0, "ok", None, Measurement.of(samples), {})


def _failed(reason: str) -> Trial:
    return Trial(0, "failed", reason, None, {})
