"""What a job leaves in its work directory, and how the next one reads it.

``database_workload.json``, ``database_tuning_record.json``
    MetaSchedule's JSON database: one line per workload, one per candidate whose result was right.
``failures.jsonl``
    One line per failed candidate: its workload, key, trace, reason and log.
``result.json``
    The outcome of the last finished job.
``kernel.so``, ``kernel.so.json``
    Its kernel, if it was a job of an operator (`sparse_tir.tune`).

Lines are only ever appended, each with one system call, so a killed job leaves whole lines but for the
last. A line that cannot be read stays where it is, is skipped and counted.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import filelock
import tvm
import tvm_ffi
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.meta_schedule.utils import shash2hex

from sparse_tir import errors

from .problem import Measurement, target_json
from .search import TraceJSON, plain

SCHEMA_VERSION = 1
WORKLOADS = "database_workload.json"
RECORDS = "database_tuning_record.json"
FAILURES = "failures.jsonl"
RESULT = "result.json"
KERNEL = "kernel.so"
_LOCK = ".lock"
_RESULT_KEYS = {"schema_version", "workload", "target", "best", "default", "trials", "records", "exhausted"}


@dataclass(frozen=True)
class Record:
    """The trace of a candidate whose result was right, and its samples in seconds."""

    trace: TraceJSON
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the samples."""
        return Measurement.of(self.samples).median


@dataclass(frozen=True)
class Failure:
    """A candidate that failed."""

    key: str
    trace: TraceJSON
    reason: str
    log: str


def kernel_path(work_dir: str | os.PathLike[str]) -> Path:
    """Where a job of an operator saves its kernel."""
    return Path(work_dir) / KERNEL


class WorkDirectory:
    """The records of one workload on one target.

    Attributes
    ----------
    records, failures
        What the files hold of this workload and target, in order. Anything else is left alone.
    skipped_lines
        Lines that could not be read.
    """

    def __init__(
        self, path: str | os.PathLike[str], workload: tvm.IRModule, target: tvm.target.Target
    ) -> None:
        self.path = Path(path)
        self.records: list[Record] = []
        self.failures: list[Failure] = []
        self.skipped_lines = 0
        self._workload, self._target = workload, target_json(target)
        self._hash = shash2hex(workload)
        self._index: int | None = None
        self._read_workloads()
        self._read_records()
        self._read_failures()

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
        line = {"workload": self._hash, "target": self._target, **vars(failure)}
        _append(self.path / FAILURES, line)
        self.failures.append(failure)

    def read_result(self) -> dict[str, Any] | None:
        """``result.json``, if it is about this workload and target."""
        try:
            result = json.loads((self.path / RESULT).read_text("utf-8"))
        except (OSError, ValueError):  # the records tell the same
            return None
        if not isinstance(result, dict) or not result.keys() >= _RESULT_KEYS:
            return None
        return result if result["schema_version"] == SCHEMA_VERSION and self._is_ours(result) else None

    def write_result(self, result: dict[str, Any]) -> None:
        """Replaces ``result.json`` as a whole."""
        complete = {
            "schema_version": SCHEMA_VERSION,
            "workload": self._hash,
            "target": self._target,
            "mcpu": self._target.get("mcpu"),
            **result,
        }
        temporary = self.path / f"{RESULT}.{os.getpid()}.part"
        temporary.write_text(json.dumps(complete, indent=2) + "\n", "utf-8")
        os.replace(temporary, self.path / RESULT)

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
                self.skipped_lines += 1
                continue
            if self._index is None and tvm_ffi.structural_equal(found, self._workload):
                self._index = index

    def _read_records(self) -> None:
        for line in _lines(self.path / RECORDS):
            try:
                index, (trace, samples, target, _) = json.loads(line)
                if index != self._index or target != self._target:
                    continue
                seconds = tuple(float(x) for x in samples)
                if not seconds or not all(0 < x < float("inf") for x in seconds):
                    raise ValueError("no time")
                self.records.append(Record(trace, seconds))
            except (ValueError, TypeError):
                self.skipped_lines += 1

    def _read_failures(self) -> None:
        for line in _lines(self.path / FAILURES):
            try:
                entry = json.loads(line)
                if self._is_ours(entry):
                    fields = (entry["key"], entry["trace"], str(entry["reason"]), str(entry["log"]))
                    self.failures.append(Failure(*fields))
            except (ValueError, KeyError, TypeError, AttributeError):
                self.skipped_lines += 1


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
        except OSError as failure:
            raise errors.error("ST604", where, failure, "a directory that can be written") from failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def versions() -> dict[str, str]:
    """Of what took part in a result."""
    found = {"tvm": str(tvm.__version__)}
    for name in ("sparse-tir", "xgboost-cpu"):
        try:
            found[name.replace("-", "_")] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name.replace("-", "_")] = "not installed"
    return found


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
