"""The best recorded schedule of a problem, without measuring."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import tvm
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import Trace

from sparse_tir import errors

from .options import thread_count
from .problem import TuningProblem, check, workload
from .records import WorkDirectory
from .traces import TraceJSON, decisions_of


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
    count = thread_count(threads)
    directory = WorkDirectory(work_dir, workload(problem, count), problem.target)
    finished = directory.read_result()
    traces = [record.trace for record in sorted(directory.records, key=lambda record: record.median)]
    if finished is not None and finished["records"] == len(traces):  # else: a job was killed before its end
        traces.insert(0, finished["best"]["trace"])
    for trace in traces:
        with contextlib.suppress(errors.TuningError):  # damaged, but still a line of the database
            return apply_trace(problem, trace), decisions_of(trace)
    raise errors.error(
        "ST603",
        f"best_schedule({problem.name})",
        f"{len(traces)} records in {directory.path}, {directory.skipped_lines} unreadable lines",
        f"a record of this kernel, target and data for {count} threads",
        "run st.tune with this work_dir",
    )


def apply_trace(problem: TuningProblem, trace: TraceJSON) -> tvm.IRModule:
    """The problem's module with a recorded trace applied."""
    sch = Schedule(problem.module)
    try:
        Trace.apply_json_to_schedule(trace, sch)
    except Exception as failure:
        raise errors.error(
            "ST603", f"best_schedule({problem.name})", failure, "a trace that applies to this module"
        ) from failure
    return sch.mod
