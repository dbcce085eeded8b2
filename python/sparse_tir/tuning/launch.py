"""Starting the measuring process, without TVM: importing it there and here takes a second each, at once."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from typing import IO

_START = (
    "import json, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    "sys.path[:] = json.loads(sys.argv[1]);"
    "from sparse_tir.tuning import enter; enter.main(sys.argv[2:])"
)
_LOG_BYTES = 4000
WITH_TORCH, WITHOUT_TORCH = "with-torch", "without-torch"


def available_cores() -> int:
    """Physical cores that this process may use."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.exists() else str(cpu))
    return len(cores)


def anonymous_file() -> IO[bytes]:
    """A file that a child process inherits: nothing is left behind, whatever happens."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("sparse_tir"), "w+b")
    return tempfile.TemporaryFile()


class Child:
    """A measuring process that waits for its `worker.Setup`.

    Attributes
    ----------
    threads
        Threads of its kernels.
    file
        Inherited by it; holds the arrays.
    connection
        To it.
    """

    def __init__(self, threads: int, file: IO[bytes]) -> None:
        self.threads, self.file = threads, file
        self.connection, theirs = Pipe()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by stop)
        has_torch = sys.modules.get("torch") is not None
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                json.dumps(sys.path),
                str(theirs.fileno()),
                WITH_TORCH if has_torch else WITHOUT_TORCH,
            ],
            env={**os.environ, "TVM_NUM_THREADS": str(threads)},
            pass_fds=(theirs.fileno(), file.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        theirs.close()

    def wait(self, seconds: float) -> int:
        """The return code of a process that is ending: minus the signal, if one ended it; 0 if it is not."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return 0

    def stop(self) -> None:
        """Ends the process. The file is not closed."""
        self.connection.close()
        self._process.kill()
        self._process.wait()
        self._log.close()

    def log_tail(self) -> str:
        """The end of what it printed."""
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _LOG_BYTES))
        return self._log.read().decode("utf-8", "replace").strip()


_waiting: list[Child] = []


@contextlib.contextmanager
def started_early(threads: int) -> Iterator[None]:
    """A measuring process gets ready while the block imports TVM and reads its data; `take` finds it."""
    with contextlib.closing(anonymous_file()) as file:
        child = Child(threads, file)
        _waiting.append(child)
        try:
            yield
        finally:
            if child in _waiting:
                _waiting.remove(child)
                child.stop()


def take(threads: int) -> Child | None:
    """The process that `started_early` started, if its kernels have so many threads."""
    found = next((child for child in _waiting if child.threads == threads), None)
    if found is not None:
        _waiting.remove(found)
    return found
