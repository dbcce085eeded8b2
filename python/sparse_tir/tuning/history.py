"""``job.json``: what is tuned, on what machine, and when."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import forms

JOB = "job.json"
SCHEMA_VERSION = 1
RUNNING, FINISHED, INTERRUPTED, FAILED, KILLED = "running", "finished", "interrupted", "failed", "killed"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replaces a file as a whole: a killed process leaves the old one or the new one."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    os.replace(temporary, path)


def read_json(path: Path) -> dict[str, Any] | None:
    """An object; None if there is none, or none that can be read."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text("utf-8"))
        return found if isinstance(found, dict) else None
    return None


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class Session:
    """One process that works on a job. A context manager: what ends it becomes its state.

    Sessions of the same job (workload and target) are kept in order. One that never ended was killed.

    Parameters
    ----------
    work_dir
        Locked by the caller.
    job
        What is tuned; ``workload`` and ``target`` say whether it is the job of the file.
    asked, seed
        Of this session.
    """

    def __init__(self, work_dir: Path, job: Mapping[str, Any], *, asked: int, seed: int) -> None:
        self._path, self._start = work_dir / JOB, time.monotonic()
        old = read_json(self._path) or {}
        is_same = all(old.get(key) == job[key] for key in ("workload", "target"))
        sessions = old.get("sessions") if is_same else None
        known = sessions if isinstance(sessions, list) else []
        self._earlier = [_as_ended(session) for session in known if forms.SESSION(session)]
        self._job = dict(job)
        self._this: dict[str, Any] = {
            "started": _now(),
            "seconds": None,
            "state": RUNNING,
            "asked": asked,
            "seed": seed,
            "measured": None,
        }
        self._measured = 0

    def __enter__(self) -> Session:
        self._write()
        return self

    def count(self) -> None:
        """One more candidate was measured."""
        self._measured += 1

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: object) -> None:
        ended = FINISHED if kind is None else INTERRUPTED if kind is KeyboardInterrupt else FAILED
        seconds = round(time.monotonic() - self._start, 3)
        self._this |= {"state": ended, "seconds": seconds, "measured": self._measured}
        self._write()

    def _write(self) -> None:
        sessions = [*self._earlier, self._this]
        write_json(self._path, {"schema_version": SCHEMA_VERSION, **self._job, "sessions": sessions})


def _as_ended(session: dict[str, Any]) -> dict[str, Any]:
    return {**session, "state": KILLED} if session.get("state") == RUNNING else session
