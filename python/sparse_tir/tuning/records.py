"""What a job leaves in its work directory, and how the next one reads it.

``database_workload.json``, ``database_tuning_record.json``
    MetaSchedule's JSON database: one line per workload, one per candidate whose result was right.
``failures.jsonl``
    One line per failed candidate: its workload, key, trace, reason, log, and how many trials were before it.
``result.json``
    The outcome of the last finished job, and its comparison with SciPy.
``job.json``
    What is tuned, on what machine, and when (`history`).
``kernel.so``, ``kernel.so.json``
    Its kernel, if it was a job of an operator (`sparse_tir.tune`).
``report.html``
    Its report, if the command line ran it.

Lines are only ever appended, each with one system call, so a killed job leaves whole lines but for the
last. A line that cannot be read stays where it is, is skipped and counted.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import filelock
import tvm
import tvm_ffi
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.meta_schedule.utils import shash2hex

from sparse_tir import errors

from . import forms
from .history import read_json, write_json
from .problem import Measurement, target_json
from .search import plain
from .traces import TraceJSON, decisions_of

SCHEMA_VERSION = 1
WORKLOADS = "database_workload.json"
RECORDS = "database_tuning_record.json"
FAILURES = "failures.jsonl"
RESULT = "result.json"
KERNEL = "kernel.so"
REPORT = "report.html"
_LOCK = ".lock"
_LAST = 1 << 30


@dataclass(frozen=True)
class Record:
    """The trace of a candidate whose result was right, its samples in seconds, and where it was read."""

    trace: TraceJSON
    samples: tuple[float, ...]
    place: str = ""

    @property
    def median(self) -> float:
        """Median of the samples."""
        return Measurement.of(self.samples).median


@dataclass(frozen=True)
class Failure:
    """A candidate that failed, after so many other trials."""

    key: str
    trace: TraceJSON
    reason: str
    log: str
    position: int


def kernel_path(work_dir: str | os.PathLike[str]) -> Path:
    """Where a job of an operator saves its kernel."""
    return Path(work_dir) / KERNEL


def report_path(work_dir: str | os.PathLike[str]) -> Path:
    """Where the command line writes the report of a job."""
    return Path(work_dir) / REPORT


class WorkDirectory:
    """The records of one workload on one target.

    Attributes
    ----------
    records, failures
        What the files hold of this workload and target, in order. Anything else is left alone.
    skipped
        Where lines stand that could not be read, such as ``"failures.jsonl line 3"``.
    """

    def __init__(
        self, path: str | os.PathLike[str], workload: tvm.IRModule, target: tvm.target.Target
    ) -> None:
        self.path = Path(path)
        self.records: list[Record] = []
        self.failures: list[Failure] = []
        self.skipped: list[str] = []
        self._workload, self._target = workload, target_json(target)
        self._hash = shash2hex(workload)
        self._index: int | None = None
        self._read_workloads()
        self._read_records()
        self._read_failures()

    @property
    def skipped_lines(self) -> int:
        """Lines that could not be read."""
        return len(self.skipped)

    def job_key(self) -> dict[str, Any]:
        """What tells this job from others in the same directory."""
        return {"workload": self._hash, "target": self._target}

    def in_order(self) -> list[Record | Failure]:
        """Records and failures as they were measured."""
        merged: list[Record | Failure] = list(self.records)
        for failure in sorted(self.failures, key=lambda failure: failure.position):
            merged.insert(failure.position, failure)
        return merged

    def add_record(self, record: Record) -> None:
        """Appends a candidate that was right."""
        if self._index is None:
            self._index = len(_lines(self.path / WORKLOADS))
            _append(self.path / WORKLOADS, plain(ms.database.Workload(self._workload).as_json()))
        entry = [record.trace, list(record.samples), self._target, []]
        _append(self.path / RECORDS, [self._index, entry])
        self.records.append(record)

    def add_failure(self, failure: Failure) -> None:
        """Appends a candidate that failed."""
        line = {**self.job_key(), **vars(failure)}
        _append(self.path / FAILURES, line)
        self.failures.append(failure)

    def read_result(self) -> dict[str, Any] | None:
        """``result.json``, if it is about this workload and target."""
        result = read_json(self.path / RESULT)  # if it cannot be read, the records tell the same
        if result is None or not forms.RESULT(result):
            return None
        return result if result["schema_version"] == SCHEMA_VERSION and self._is_ours(result) else None

    def write_result(self, result: dict[str, Any]) -> None:
        """Replaces ``result.json`` as a whole."""
        complete = {
            "schema_version": SCHEMA_VERSION,
            **self.job_key(),
            "mcpu": self._target.get("mcpu"),
            **result,
        }
        write_json(self.path / RESULT, complete)

    def _is_ours(self, entry: dict[str, Any]) -> bool:
        return entry.get("workload") == self._hash and entry.get("target") == self._target

    def _read_workloads(self) -> None:
        # A record names its workload by line number, so an unreadable line keeps its place.
        for index, line in enumerate(_lines(self.path / WORKLOADS)):
            try:
                entry = json.loads(line)
                if int(entry[0]) != int(self._hash, 16):
                    continue
                found = ms.database.Workload.from_json(entry).mod
            except Exception:  # TVM raises nearly anything for text that is not its own
                self.skipped.append(_place(WORKLOADS, index))
                continue
            if self._index is None and tvm_ffi.structural_equal(found, self._workload):
                self._index = index

    def _read_records(self) -> None:
        for number, line in enumerate(_lines(self.path / RECORDS)):
            try:
                index, (trace, samples, target, _) = json.loads(line)
                if index != self._index or target != self._target:
                    continue
                seconds = tuple(float(x) for x in samples)
                if not seconds or not all(0 < x < float("inf") for x in seconds):
                    raise ValueError("no time")
                self.records.append(Record(trace, seconds, _place(RECORDS, number)))
            except (ValueError, TypeError):
                self.skipped.append(_place(RECORDS, number))

    def _read_failures(self) -> None:
        for number, line in enumerate(_lines(self.path / FAILURES)):
            try:
                entry = json.loads(line)
                if self._is_ours(entry):
                    words = (str(entry["reason"]), str(entry["log"]))
                    decisions_of(entry["trace"])  # raises what is no trace
                    position = int(entry.get("position", _LAST))
                    self.failures.append(Failure(str(entry["key"]), entry["trace"], *words, position))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                self.skipped.append(_place(FAILURES, number))


def read_workload(path: Path, workload: str) -> tvm.IRModule | None:
    """The module of a workload by its hash, as hexadecimal digits; None if no line holds it."""
    for line in _lines(path / WORKLOADS):
        try:
            entry = json.loads(line)
            if int(entry[0]) == int(workload, 16):
                return ms.database.Workload.from_json(entry).mod
        except Exception:  # TVM raises nearly anything for text that is not its own
            continue  # `WorkDirectory` counts it
    return None


def add_comparison(work_dir: str | os.PathLike[str], times: Mapping[str, Measurement]) -> None:
    """Adds to ``result.json`` what was timed after the end of the job."""
    path = Path(work_dir) / RESULT
    result = read_json(path)
    if result is not None:
        write_json(path, {**result, "comparison": {name: asdict(time) for name, time in times.items()}})


class Lock:
    """One job at a time in a work directory, which is created if need be.

    Freed by the system if the job is killed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def __enter__(self) -> Lock:
        where = "st.tune.work_dir"
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._lock = filelock.FileLock(self._path / _LOCK, timeout=0)
            self._lock.acquire()
            with tempfile.TemporaryFile(dir=self._path):
                pass
        except filelock.Timeout as failure:
            raise errors.error(
                "ST604", where, f"{self._path} is in use by another job", "a directory of its own"
            ) from failure
        except (OSError, ValueError) as failure:  # the latter: a path with a NUL in it
            raise errors.error("ST604", where, failure, "a directory that can be written") from failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _place(name: str, index: int) -> str:
    return f"{name} line {index + 1}"


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return text.removesuffix("\n").split("\n") if text else []


def _append(path: Path, entry: Any) -> None:
    """One whole line in one write.

    The torn last line of a killed job is ended first, so that it spoils no other.
    """
    text = json.dumps(entry, separators=(",", ":")) + "\n"
    with path.open("a+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            text = text if file.read(1) == b"\n" else "\n" + text
        written = file.write(text.encode("utf-8"))
    if written != len(text.encode("utf-8")):
        raise OSError(f"{path}: only {written} bytes of a line could be written")
