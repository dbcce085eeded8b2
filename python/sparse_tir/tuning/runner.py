"""The job's side of measuring: one long-lived process, started again after a crash or a time-out."""

from __future__ import annotations

import contextlib
import pickle
import signal
import time
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Any

import numpy as np
import tvm

from sparse_tir import errors

from . import launch
from .launch import Child
from .problem import TuningProblem
from .worker import Duel, Measure, Outcome, Setup, StoredArray

TIME_OUT = "time-out"
CRASHED = "crashed"

_START_SECONDS = 120.0
_END_SECONDS = 10.0
_PAGE = 4096
#: So many times a candidate is measured again whose process somebody killed (the system, when memory is short).
_RETRIES = 1


class SharedArrays:
    """Arrays in an anonymous file (a new one by default) that the measuring process inherits."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.file = launch.anonymous_file() if file is None else file
        self.file.write(bytes(_PAGE))  # never empty: an empty file cannot be mapped

    @property
    def descriptor(self) -> int:
        """To be inherited by the child."""
        return self.file.fileno()

    def add(self, array: np.ndarray) -> StoredArray:
        """Appends a copy of an array."""
        offset = -(-self.file.tell() // _PAGE) * _PAGE
        self.file.seek(offset)
        self.file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
        self.file.flush()
        return StoredArray(array.dtype, array.shape, offset)

    def close(self) -> None:
        """Frees the memory once no process maps it any more."""
        self.file.close()


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
        self._finish = _pickled(problem)
        self._problem, self._arguments, self._threads = problem, arguments, threads
        self._child: Child | None = None
        self._ready = False

    def __enter__(self) -> MeasureProcess:
        with contextlib.ExitStack() as resources:
            self._child = launch.take(self._threads)
            file = None if self._child is None else self._child.file
            resources.callback(self._stop)
            self._arrays = resources.enter_context(contextlib.closing(SharedArrays(file)))
            self._start()  # it imports TVM while the arrays are copied
            self._setup = self._stored()
            self._send_setup()
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

    def _start(self) -> Child:
        if self._child is None:
            self._child, self._ready = Child(self._threads, self._arrays.file), False
        return self._child

    def _send_setup(self) -> None:
        with contextlib.suppress(OSError):  # it is already gone: `_wait_ready` reports that with its log
            self._start().connection.send(self._setup)

    def _restart(self) -> None:
        self._stop()
        self._start()
        self._send_setup()

    def _stop(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _wait_ready(self) -> Child | None:
        """The process once it takes requests; None if somebody killed it before."""
        child = self._start()
        if self._ready:
            return child
        with contextlib.suppress(EOFError, OSError):
            self._ready = child.connection.poll(_START_SECONDS) and child.connection.recv() == "ready"
        if self._ready:
            return child
        code, log = child.wait(_END_SECONDS), child.log_tail()
        if code == -signal.SIGKILL:
            self._restart()
            return None
        self._stop()
        raise errors.error("ST605", "st.tune", log or "no answer", "a process that imports sparse_tir")

    def _ask(self, request: Measure | Duel) -> Outcome | list[Outcome]:
        for _ in range(_RETRIES):
            answer = self._ask_once(request)
            if answer is not None:
                return answer
        return self._ask_once(request) or Outcome((), CRASHED, f"{signal.SIGKILL.name}\nkilled twice")

    def _ask_once(self, request: Measure | Duel) -> Outcome | list[Outcome] | None:
        """The answer; None if somebody killed the process, which says nothing about the candidate."""
        child = self._wait_ready()
        if child is None:
            return None
        deadline = time.monotonic() + request.timeout
        try:
            child.connection.send(request)
            if child.connection.poll(max(0.0, deadline - time.monotonic())):
                answer: Outcome | list[Outcome] = child.connection.recv()
                return answer
        except (EOFError, OSError):
            return self._crashed(child)
        self._restart()
        return Outcome((), TIME_OUT, f"no result after {request.timeout:g} s")

    def _crashed(self, child: Child) -> Outcome | None:
        # It has closed the connection, so it is ending: its own return code says why.
        code, log = child.wait(_END_SECONDS), child.log_tail()
        self._restart()
        if code == -signal.SIGKILL:
            return None
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return Outcome((), CRASHED, f"{name}\n{log}".strip())


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
