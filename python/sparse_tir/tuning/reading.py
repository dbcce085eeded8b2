"""What a work directory says of its last job, for the report. Nothing is measured, the matrix is not needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tvm
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import Trace

from sparse_tir import errors
from sparse_tir.report import Candidate, Matrix, Report, Session, Timing, Winner

from . import forms
from .history import FINISHED, JOB, read_json
from .problem import Measurement
from .records import Record, WorkDirectory, read_workload
from .search import replay
from .traces import decisions_of


def read_report(work_dir: str | os.PathLike[str]) -> Report:
    """The last job of a work directory, as far as it came.

    Raises
    ------
    TuningError
        ST603 if there is none, or nothing is recorded of it.
    """
    path = Path(work_dir)
    job = read_json(path / JOB)
    if job is None or not forms.JOB(job):
        raise _nothing(path, f"no {JOB}, or one that cannot be read")
    module = read_workload(path, job["workload"])
    if module is None:
        raise _nothing(path, "no record")
    directory = WorkDirectory(path, module, _target(path, job["target"]))
    candidates, schedules = _candidates(module, directory)
    if not candidates:
        raise _nothing(path, "no record")
    result = directory.read_result()
    is_finished = result is not None and job["sessions"][-1].get("state") == FINISHED
    finished = result if is_finished and result is not None else {}
    return Report(
        operator=str(job["signature"].get("op", job["name"])),
        features=job["signature"].get("feat"),
        threads=job["threads"],
        graph=job.get("graph"),
        matrix=_matrix(job["matrix"]) if "matrix" in job else None,
        processor=job.get("processor"),
        mcpu=str(job.get("mcpu", "")),
        versions=job.get("versions", {}),
        sessions=tuple(_session(session) for session in job["sessions"]),
        is_finished=is_finished,
        candidates=candidates,
        comparison=_comparison(finished),
        default_key=job.get("default"),
        winner=_winner(candidates, schedules, finished),
        commands=job.get("commands", {}),
        skipped=tuple(directory.skipped),
    )


def _target(path: Path, described: Mapping[str, Any]) -> tvm.target.Target:
    try:
        return tvm.target.Target(dict(described))
    except (TypeError, ValueError, RuntimeError) as reason:
        raise _nothing(path, f"a target that TVM does not know: {described}") from reason


def _candidates(
    module: tvm.IRModule, directory: WorkDirectory
) -> tuple[tuple[Candidate, ...], dict[str, Schedule]]:
    """In the order of measuring, each once; the schedules of those that ran right by their keys."""
    found: dict[str, Candidate] = {}
    schedules: dict[str, Schedule] = {}
    for entry in directory.in_order():
        decisions = decisions_of(entry.trace)
        if not isinstance(entry, Record):
            found[entry.key] = Candidate(
                len(found) + 1, entry.key, decisions, reason=entry.reason, log=entry.log
            )
            continue
        try:
            candidate = replay(module, entry.trace)
        except Exception:  # TVM raises nearly anything for text that is no trace
            directory.skipped.append(entry.place)
            continue
        seconds = Timing(**vars(Measurement.of(entry.samples)))
        found[candidate.key] = Candidate(len(found) + 1, candidate.key, decisions, seconds)
        schedules[candidate.key] = candidate.measure.sch
    return tuple(found.values()), schedules


def _winner(
    candidates: tuple[Candidate, ...], schedules: Mapping[str, Schedule], finished: Mapping[str, Any]
) -> Winner | None:
    """The winner of a finished job, else the fastest so far."""
    right = [c for c in candidates if c.seconds is not None]
    if not right:
        return None
    fastest = min(right, key=lambda c: c.seconds.median if c.seconds is not None else 0.0).key
    key = finished["best"]["key"] if finished and finished["best"]["key"] in schedules else fastest
    schedule = schedules[key]
    trace: Trace = schedule.trace
    program = schedule.mod["main"].script()
    return Winner(key, "\n".join(str(line) for line in trace.simplified(True).as_python()), program)


def _comparison(finished: Mapping[str, Any]) -> dict[str, Timing]:
    """With SciPy, if it was made; else the times of the end of the job."""
    if "comparison" in finished:
        return {name: Timing(**time) for name, time in finished["comparison"].items()}
    entries = {"default": finished.get("default"), "tuned": finished.get("best")}
    return {name: Timing(**entry["seconds"]) for name, entry in entries.items() if entry is not None}


def _matrix(found: Mapping[str, Any]) -> Matrix:
    rows = found["rows"]
    return Matrix(
        shape=(found["shape"][0], found["shape"][1]),
        nnz=found["nnz"],
        dtype=found["dtype"],
        longest=rows["longest"],
        mean=rows["mean"],
        n_empty=rows["n_empty"],
        row_lengths=tuple((first, last, count) for first, last, count in found["row_lengths"]),
    )


def _session(found: Mapping[str, Any]) -> Session:
    return Session(**{name: found[name] for name in Session.__dataclass_fields__})


def _nothing(path: Path, found: str) -> errors.SparseTIRError:
    hint = f"sparse-tir tune spmm GRAPH --feat F --work-dir {path}"
    return errors.error("ST603", f"report of {path}", found, "the records of a tuning job", hint)
