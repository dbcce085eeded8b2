"""The measuring process: builds a candidate, checks its result, times it.

It may crash or hang; the job may not. It is started by `launch.Child`, with ``TVM_NUM_THREADS``
already in its environment, because TVM reads that when it is imported. Arrays arrive once, through an
anonymous file, and are copied into aligned memory that the system maps in large pages, as it does for the
arrays of users: TVM's own arrays are not, and gathers from them take a fifth longer.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import Trace

from sparse_tir.runtime import aligned_empty

SCHEDULE_FAILED = "schedule does not apply"
LOWERING_FAILED = "lowering failed"
BUILD_FAILED = "build failed"
RUN_FAILED = "run failed"
WRONG_RESULT = "wrong result"

_SAMPLE_SECONDS = 0.004
_BUDGET_SECONDS = 0.1
_MIN_SAMPLES, _MAX_SAMPLES = 3, 15
_SLOW_CALL_SECONDS = 0.5
_PROBES = 5
_HOPELESS = 3.0
_DUEL_ROUNDS = 25
_LOG_CHARACTERS = 4000


@dataclass(frozen=True)
class StoredArray:
    """Where an array lies in the anonymous file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Setup:
    """Sent once. `arguments` holds `StoredArray` for arrays and the values of scalars."""

    module: str
    target: str
    finish: bytes
    descriptor: int
    arguments: tuple[Any, ...]
    output: int
    expected: StoredArray
    rtol: float
    atol: float


@dataclass(frozen=True)
class Measure:
    """Measure one trace. A candidate several times slower than `best` gets a few samples only."""

    trace: str
    best: float | None
    timeout: float


@dataclass(frozen=True)
class Duel:
    """Measure several traces in turns."""

    traces: tuple[str, ...]
    timeout: float


@dataclass(frozen=True)
class Outcome:
    """Samples in seconds per call, or why there are none."""

    samples: tuple[float, ...] = ()
    reason: str | None = None
    log: str = ""


class CandidateError(Exception):
    """A candidate failed in a way that has a name."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.outcome = Outcome((), reason, log[-_LOG_CHARACTERS:])


@contextlib.contextmanager
def _failing_as(reason: str) -> Iterator[None]:
    """Any exception inside becomes the failure of that name, with the traceback as its log."""
    try:
        yield
    except Exception as failure:
        raise CandidateError(reason, traceback.format_exc()) from failure


class Bench:
    """Everything that stays the same between candidates."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._module = tvm.ir.load_json(setup.module)
        self._target = tvm.target.Target(json.loads(setup.target))
        self._finish: Callable[[tvm.IRModule], tvm.IRModule] = pickle.loads(setup.finish)
        self._file = mmap.mmap(setup.descriptor, 0, access=mmap.ACCESS_READ)
        self._expected = self._read(setup.expected)
        self._unwritten = self._read(setup.arguments[setup.output])
        self._load()

    def _read(self, where: StoredArray) -> np.ndarray:
        if math.prod(where.shape) == 0:
            return np.empty(where.shape, where.dtype)
        flat = np.frombuffer(self._file, where.dtype, math.prod(where.shape), where.offset)
        return flat.reshape(where.shape)

    def _load(self) -> None:
        """Fresh operands. A wrong candidate may have written anywhere."""
        self._arrays = [
            _aligned_copy(self._read(argument)) if isinstance(argument, StoredArray) else argument
            for argument in self._setup.arguments
        ]
        self._output: np.ndarray = self._arrays[self._setup.output]
        self._arguments = [tvm_ffi.from_dlpack(x) if isinstance(x, np.ndarray) else x for x in self._arrays]

    def build(self, trace: str) -> tvm.runtime.Module:
        """Replays a trace on the unscheduled module, as whoever applies the record does, and compiles it."""
        sch = Schedule(self._module)
        with _failing_as(SCHEDULE_FAILED):
            Trace.apply_json_to_schedule(json.loads(trace), sch)
        with _failing_as(LOWERING_FAILED):
            module = self._finish(sch.mod)
        with _failing_as(BUILD_FAILED):
            return tvm.compile(module, target=self._target).mod

    def _is_right(self, kernel: Callable[..., Any]) -> bool:
        np.copyto(self._output, self._unwritten)
        with _failing_as(RUN_FAILED):
            kernel(*self._arguments)
        return bool(self._close(self._output).all())

    def _close(self, found: np.ndarray) -> np.ndarray:
        tolerance = {"rtol": self._setup.rtol, "atol": self._setup.atol}
        with np.errstate(all="ignore"):  # a wrong result may hold anything
            return np.asarray(np.isclose(found, self._expected, equal_nan=True, **tolerance))

    def _difference(self, found: np.ndarray) -> str:
        """How many elements are wrong, and the first of them."""
        places = np.argwhere(~self._close(found))
        first = tuple(int(x) for x in places[0])
        example = f"at {first}: {found[first]} instead of {self._expected[first]}"
        return f"{len(places)} of {found.size} elements are wrong; {example}"

    def check(self, kernel: Callable[..., Any]) -> None:
        """Fails unless the kernel computes the expected output."""
        if self._is_right(kernel):
            return
        self._load()  # an earlier candidate may have damaged an operand: only a second wrong result counts
        if not self._is_right(kernel):
            difference = self._difference(self._output)
            self._load()
            raise CandidateError(WRONG_RESULT, difference)

    def sample(self, module: tvm.runtime.Module, number: int, repeat: int) -> list[float]:
        """`repeat` samples, each the mean of `number` calls."""
        evaluate = module.time_evaluator("main", tvm.cpu(), number=number, repeat=repeat)
        return [float(x) for x in evaluate(*self._arguments).results]

    def call_seconds(self, kernel: Callable[..., Any]) -> float:
        """One warm call: the fastest of a few, for one alone may meet whatever else the machine does."""
        fastest = math.inf
        for _ in range(_PROBES):
            start = time.perf_counter()
            kernel(*self._arguments)
            fastest = min(fastest, time.perf_counter() - start)
            if fastest > _SLOW_CALL_SECONDS:
                break
        return fastest

    def measure(self, request: Measure) -> Outcome:
        """Build, check, time."""
        module = self.build(request.trace)
        kernel = module["main"]
        self.check(kernel)
        once = self.call_seconds(kernel)
        number = _calls_per_sample(once)
        hopeless = request.best is not None and once > _HOPELESS * request.best
        return Outcome(
            tuple(self.sample(module, number, _MIN_SAMPLES if hopeless else _sample_count(once, number)))
        )

    def duel(self, request: Duel) -> list[Outcome]:
        """Times several kernels in turns, so that whatever else the machine does meets all of them alike."""
        modules = [self.build(trace) for trace in request.traces]
        for module in modules:
            self.check(module["main"])
        once = [self.call_seconds(module["main"]) for module in modules]
        rounds = _DUEL_ROUNDS if max(once) < _SLOW_CALL_SECONDS else _MIN_SAMPLES
        samples: list[list[float]] = [[] for _ in modules]
        for turn in range(rounds):
            for place in range(len(modules)):
                index = (place + turn) % len(modules)
                samples[index] += self.sample(modules[index], _calls_per_sample(once[index]), 1)
        return [Outcome(tuple(x)) for x in samples]


def _aligned_copy(array: np.ndarray) -> np.ndarray:
    copy = aligned_empty(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy


def _calls_per_sample(once: float) -> int:
    return max(1, min(10_000, math.ceil(_SAMPLE_SECONDS / max(once, 1e-9))))


def _sample_count(once: float, number: int) -> int:
    if once > _SLOW_CALL_SECONDS:
        return _MIN_SAMPLES
    return max(_MIN_SAMPLES, min(_MAX_SAMPLES, int(_BUDGET_SECONDS / max(once * number, 1e-9))))


def _answer(bench: Bench, request: Measure | Duel) -> Outcome | list[Outcome]:
    try:
        return bench.measure(request) if isinstance(request, Measure) else bench.duel(request)
    except CandidateError as failure:
        return failure.outcome


def serve(connection: Connection) -> None:
    """Answers requests until the other side goes away."""
    # Ctrl-C is for the job, which ends this process itself (`launch` has it ignored). The alarm ends it if the
    # job was killed while a candidate hangs: its default action needs no Python to run.
    try:
        setup = connection.recv()
    except EOFError:  # the job has nothing to measure
        return
    bench = Bench(setup)
    connection.send("ready")
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, 2 * request.timeout + 1)
        answer = _answer(bench, request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.send(answer)
