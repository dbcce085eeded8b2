"""``sparse-tir tune`` in processes of its own that tests stop at a given candidate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

import sparse_tir
from sparse_tir.tuning.traces import decisions_of

_A_MOMENT = 0.02
_ROOT = Path(sparse_tir.__file__).parents[1]


def environment() -> dict[str, str]:
    """For a process that imports this package."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path}


def command(*arguments: object) -> list[str]:
    """``sparse-tir`` of this package."""
    return [sys.executable, "-m", "sparse_tir.cli", *map(str, arguments)]


class Job:
    """A tuning job in another process; its events are read one by one. A context manager."""

    def __init__(self, *arguments: object) -> None:
        self._process = subprocess.Popen(
            command("tune", *arguments, "--json-events"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.events: list[dict] = []

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.kill()
        self._process.communicate()

    def measure(self, count: int) -> None:
        """Waits for so many candidates."""
        for _ in range(count):
            line = self._process.stderr.readline()
            assert line.startswith("{"), line + self._process.stderr.read()
            self.events.append(json.loads(line))

    def send(self, number: int) -> None:
        """A signal for the job."""
        self._process.send_signal(number)

    def is_importing(self) -> bool:
        """Whether its measuring process is there, which is started before anything else."""
        time.sleep(_A_MOMENT)
        return bool(psutil.Process(self._process.pid).children())

    def measuring(self) -> psutil.Process:
        """Its measuring process."""
        (child,) = psutil.Process(self._process.pid).children()
        return child

    def end(self) -> tuple[int, str, str]:
        """Return code, stdout, and the lines of stderr that are no events."""
        stdout, rest = self._process.communicate()
        lines = rest.splitlines(keepends=True)
        self.events += [json.loads(line) for line in lines if line.startswith("{")]
        return self._process.returncode, stdout, "".join(line for line in lines if not line.startswith("{"))


def recorded(work_dir: Path) -> list[str]:
    """The decisions of all records, as text, in order."""
    lines = (work_dir / "database_tuning_record.json").read_text().splitlines()
    return [json.dumps(decisions_of(json.loads(line)[1][0])) for line in lines]
