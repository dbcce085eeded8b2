"""What `sparse-tir tune` shows while it searches: a live table on a terminal, else plain lines."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from ..tuning import Trial

_SHOWN = 12


class Progress:
    """A context manager; `show` takes each new trial, `summary` what the job found.

    Parameters
    ----------
    n_trials
        How many there will be at most.
    to_stderr
        Whether stdout belongs to something else.
    json_events
        Whether each trial is a JSON line on stderr instead.
    """

    def __init__(self, n_trials: int, *, to_stderr: bool, json_events: bool) -> None:
        self._console = Console(stderr=to_stderr, highlight=False)
        self._n_trials, self._json_events = n_trials, json_events
        self._last: deque[tuple[Trial, float | None]] = deque(maxlen=_SHOWN)
        self._best: Trial | None = None
        is_live = self._console.is_terminal and not json_events
        self._live = Live(console=self._console, transient=True, auto_refresh=False) if is_live else None

    def __enter__(self) -> Progress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, trial: Trial) -> None:
        """One more trial."""
        if trial.seconds is not None and (self._best is None or trial.seconds.median < _median(self._best)):
            self._best = trial
        best = None if self._best is None else _median(self._best)
        if self._json_events:
            print(json.dumps(_event(trial, best)), file=sys.stderr, flush=True)
        elif self._live is None:
            self._console.print(_line(trial, best, self._n_trials), soft_wrap=True)
        else:
            self._last.append((trial, best))
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        table = Table(title=f"{self._last[-1][0].index + 1} of {self._n_trials} candidates")
        for name in ("trial", "decisions", "median ms", "best so far"):
            table.add_column(name, justify="left" if name == "decisions" else "right")
        for trial, best in self._last:
            style = "bold" if trial is self._best else None
            table.add_row(
                str(trial.index), decisions_text(trial.decisions), _time(trial), _ms(best), style=style
            )
        return table

    def summary(self, result: Mapping[str, Any]) -> None:
        """Times of SciPy, the default and the tuned kernel; where the kernel is."""
        table = Table(title=f"{result['op']} with {result['feat']} features, {result['threads']} threads")
        for name in ("kernel", "median ms", "p20 to p80", "SciPy / kernel", "decisions"):
            table.add_column(name, justify="right" if name in ("median ms", "SciPy / kernel") else "left")
        decisions = {"default": result["default_decisions"], "tuned": result["decisions"]}
        for name, time in result["comparison"].items():
            spread = f"{time['p20']:.3f} to {time['p80']:.3f}"
            ratio = result["comparison"]["scipy"]["ms"] / time["ms"]
            table.add_row(
                name, f"{time['ms']:.3f}", spread, f"{ratio:.2f}", decisions_text(decisions.get(name, {}))
            )
        self._console.print(table)
        trials = result["trials"]
        failed = f", {trials['failed']} failed: {result['failures']}" if trials["failed"] else ""
        self._console.print(f"{trials['ok']} candidates right{failed}", soft_wrap=True)
        self._console.print(f"saved {result['kernel']}", soft_wrap=True)


def decisions_text(decisions: Mapping[str, Any]) -> str:
    """Such as ``tile=1x4x16 rows=64``."""
    return " ".join(
        f"{name}={'x'.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"
        for name, value in decisions.items()
    )


def _median(trial: Trial) -> float:
    return float("inf") if trial.seconds is None else trial.seconds.median


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3f}"


def _time(trial: Trial) -> str:
    return trial.reason or "failed" if trial.seconds is None else _ms(trial.seconds.median)


def _line(trial: Trial, best: float | None, n_trials: int) -> str:
    found = f"{_time(trial)} ms" if trial.seconds is not None else _time(trial)
    return (
        f"trial {trial.index + 1}/{n_trials}  {decisions_text(trial.decisions)}  {found}  best {_ms(best)} ms"
    )


def _event(trial: Trial, best: float | None) -> dict[str, Any]:
    return {
        "trial": trial.index,
        "status": trial.status,
        "reason": trial.reason,
        "decisions": dict(trial.decisions),
        "ms": None if trial.seconds is None else 1e3 * trial.seconds.median,
        "best_ms": None if best is None else 1e3 * best,
    }
