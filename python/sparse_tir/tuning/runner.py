"""The job's side of measuring: one long-lived process, started again after a crash or a time-out."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import tvm

from sparse_tir import errors

from .problem import TuningProblem
from .worker import Duel, Measure, Outcome, Setup, StoredArray

TIME_OUT = "time-out"
CRASHED = "crashed"

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from sparse_tir.tuning import worker; worker.main(sys.argv[2:])"
)
_START_SECONDS = 120.0
_PAGE = 4096
_LOG_BYTES = 4000


def available_cores() -> int:
    """Physical cores that this process may use."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.exists() else str(cpu))
    return len(cores)


class SharedArrays:
    """Arrays in an anonymous file that a child process inherits: nothing is left behind, whatever happens."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            self._file: IO[bytes] = os.fdopen(os.memfd_create("sparse_tir"), "w+b")
        else:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._file.write(bytes(_PAGE))  # never empty: an empty file cannot be mapped

    @property
    def descriptor(self) -> int:
        """To be inherited by the child."""
        return self._file.fileno()

    def add(self, array: np.ndarray) -> StoredArray:
        """Appends a copy of an array."""
        offset = -(-self._file.tell() // _PAGE) * _PAGE
        self._file.seek(offset)
        self._file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
        self._file.flush()
        return StoredArray(array.dtype, array.shape, offset)

    def close(self) -> None:
        """Frees the memory once no process maps it any more."""
        self._file.close()


def _as_numpy(argument: Any) -> np.ndarray | None:
    """The array in an argument, None for a scalar."""
    if isinstance(argument, np.ndarray):
        return argument
    return argument.numpy() if isinstance(argument, tvm.runtime.Tensor) else None


def _as_scalar(argument: Any) -> Any:
    """TVM takes Python's own numbers."""
    return argument.item() if isinstance(argument, np.generic) else argument


class MeasureProcess:
    """Measures traces of one problem in another process.

    It starts at once and gets ready while the caller does other work. A context manager: the process ends
    with it.
    """

    def __init__(self, problem: TuningProblem, arguments: Sequence[Any], threads: int) -> None:
        self._environment = {**os.environ, "TVM_NUM_THREADS": str(threads)}
        self._finish = _pickled(problem)
        self._problem, self._arguments = problem, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._ready = False

    def __enter__(self) -> MeasureProcess:
        with contextlib.ExitStack() as resources:
            self._arrays = resources.enter_context(contextlib.closing(SharedArrays()))
            self._log: IO[bytes] = resources.enter_context(tempfile.TemporaryFile())
            resources.callback(self._stop)
            self._setup = self._stored()
            self._start()
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def _stored(self) -> Setup:
        problem, add = self._problem, self._arrays.add
        arrays = [(argument, _as_numpy(argument)) for argument in self._arguments]
        self._arguments = ()
        return Setup(
            module=tvm.ir.save_json(problem.module),
            target=str(problem.target),
            finish=self._finish,
            descriptor=self._arrays.descriptor,
            arguments=tuple(_as_scalar(x) if array is None else add(array) for x, array in arrays),
            output=problem.output,
            expected=add(problem.expected),
            rtol=problem.rtol,
            atol=problem.atol,
        )

    def measure(self, trace: str, best: float | None, timeout: float) -> Outcome:
        """Samples of one candidate, or the reason of its failure."""
        answer = self._ask(Measure(trace, best, timeout))
        return answer if isinstance(answer, Outcome) else answer[0]

    def duel(self, traces: Sequence[str], timeout: float) -> list[Outcome] | None:
        """Samples of several candidates, taken in turns; None if one of them failed this time."""
        answer = self._ask(Duel(tuple(traces), timeout * len(traces)))
        return answer if isinstance(answer, list) else None

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._log.seek(0)
        self._log.truncate()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path), str(theirs.fileno())],
            env=self._environment,
            pass_fds=(theirs.fileno(), self._arrays.descriptor),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        theirs.close()
        self._connection, self._ready = ours, False
        with contextlib.suppress(OSError):  # it is already gone: `_wait_ready` reports that with its log
            ours.send(self._setup)

    def _stop(self) -> int:
        """Ends the process; its return code (minus the signal that ended it)."""
        if self._process is None or self._connection is None:
            return 0
        self._connection.close()
        self._process.kill()
        code = self._process.wait()
        self._process = self._connection = None
        return code

    def _wait_ready(self) -> Connection:
        if self._connection is None:
            self._start()
        assert self._connection is not None
        if not self._ready:
            try:
                self._ready = self._connection.poll(_START_SECONDS) and self._connection.recv() == "ready"
            except (EOFError, OSError):
                self._ready = False
            if not self._ready:
                log = self._log_tail()
                self._stop()
                raise errors.error(
                    "ST605", "st.tune", log or "no answer", "a process that imports sparse_tir"
                )
        return self._connection

    def _ask(self, request: Measure | Duel) -> Outcome | list[Outcome]:
        connection = self._wait_ready()
        deadline = time.monotonic() + request.timeout
        try:
            connection.send(request)
            if connection.poll(max(0.0, deadline - time.monotonic())):
                answer: Outcome | list[Outcome] = connection.recv()
                return answer
        except (EOFError, OSError):
            return self._crashed()
        self._stop()
        self._start()
        return Outcome((), TIME_OUT, f"no result after {request.timeout:g} s")

    def _crashed(self) -> Outcome:
        # It has closed the connection, so it is ending: its own return code says why, and kill comes too
        # late to matter.
        assert self._process is not None
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = 0
        log = self._log_tail()
        self._stop()
        self._start()
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return Outcome((), CRASHED, f"{name}\n{log}".strip())

    def _log_tail(self) -> str:
        self._log.flush()
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _LOG_BYTES))
        return self._log.read().decode("utf-8", "replace").strip()


def _pickled(problem: TuningProblem) -> bytes:
    """`finish` by reference. A function of the user's main script cannot be found in another process."""
    where = f"st.tune({problem.name}).finish"
    function = getattr(problem.finish, "func", problem.finish)
    if getattr(function, "__module__", None) == "__main__":
        raise errors.error("ST601", where, "a function of the main script", "a function of a module")
    try:
        return pickle.dumps(problem.finish)
    except (pickle.PicklingError, AttributeError, TypeError) as failure:
        raise errors.error(
            "ST601", where, failure, "a module-level function or a partial of one"
        ) from failure
