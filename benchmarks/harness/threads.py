"""Numbers of threads: libraries read them when they start, so each number gets a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

_VARIABLES = (
    "TVM_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
#: Threads of OpenMP that wait actively would take the core from the next contender: milliseconds of waiting.
_WAIT = {"KMP_BLOCKTIME": "1"}


def lines_of(arguments: Sequence[str], threads: int) -> Iterator[str]:
    """Runs this script again with other arguments and this many threads; what it prints, line by line."""
    environment = {**os.environ, **_WAIT, **dict.fromkeys(_VARIABLES, str(threads))}
    command = [sys.executable, sys.argv[0], *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # it is a pipe
        yield from process.stdout
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
