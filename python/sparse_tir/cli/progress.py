"""What `sparse-tir tune` shows while it searches: a live table on a terminal, else plain lines."""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .clock import process_seconds

if TYPE_CHECKING:
    from ..tuning import Trial

_SHOWN = 12


class Progress:
    """A context manager; `start` and `show` take the trials, `summary` what the job found.

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
        self._default: Trial | None = None
        self._failures: Counter[str] = Counter()
        self.is_started = False
        self.n_known = 0
        #: Seconds from the start of the process to the first candidate it measured.
        self.first_measurement: float | None = None
        is_live = self._console.is_terminal and not json_events
        self._live = Live(console=self._console, transient=True, auto_refresh=False) if is_live else None

    def __enter__(self) -> Progress:
        if self._live is not None:
            self._live.start()
            self._live.update(self._table(), refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def has_best(self) -> bool:
        """Whether a candidate ran right."""
        return self._best is not None

    def start(self, known: Sequence[Trial]) -> None:
        """What is recorded already."""
        self.is_started = True
        for trial in known:
            self._take(trial)
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif known and not self._json_events:
            self._console.print(
                f"{len(known)} candidates are recorded already{self._standing()}", soft_wrap=True
            )

    def show(self, trial: Trial) -> None:
        """One more trial."""
        if self.first_measurement is None:
            self.first_measurement = process_seconds()
        self._take(trial)
        if self._json_events:
            print(json.dumps(self._event(trial)), file=sys.stderr, flush=True)
        elif self._live is None:
            text = (
                f"trial {trial.index + 1}/{self._n_trials}  {decisions_text(trial.decisions)}  {_time(trial)}"
            )
            self._console.print(Text(text + self._standing()), soft_wrap=True)
        else:
            self._live.update(self._table(), refresh=True)

    def _take(self, trial: Trial) -> None:
        self.n_known += 1
        if trial.index == 0:
            self._default = trial
        if trial.reason is not None:
            self._failures[trial.reason] += 1
        if trial.seconds is not None and trial.seconds.median < _median(self._best):
            self._best = trial
        self._last.append((trial, None if self._best is None else _median(self._best)))

    def _speedup(self) -> float | None:
        """Of the best so far over the default schedule, both as the search timed them."""
        if self._best is None or self._default is None or self._default.seconds is None:
            return None
        return self._default.seconds.median / _median(self._best)

    def _standing(self) -> str:
        best = "" if self._best is None else f"  best {_ms(_median(self._best))} ms"
        speedup = self._speedup()
        return (
            best
            + ("" if speedup is None else f"  {speedup:.2f} x default")
            + f"  {_clock(process_seconds())}"
        )

    def _table(self) -> Table:
        failed = f"\nfailed: {counts_text(self._failures)}" if self._failures else ""
        title = f"{self.n_known} of {self._n_trials} candidates{self._standing()}{failed}"
        table = Table(title=Text(title), title_justify="left", min_width=60)
        for name in ("trial", "decisions", "median ms", "best so far"):
            table.add_column(name, justify="left" if name == "decisions" else "right")
        for trial, best in self._last:
            style = "bold" if trial is self._best else None
            cells = (str(trial.index + 1), decisions_text(trial.decisions), _time(trial, ""))
            table.add_row(*map(Text, cells), "" if best is None else _ms(best), style=style)
        return table

    def _event(self, trial: Trial) -> dict[str, Any]:
        return {
            "trial": trial.index,
            "status": trial.status,
            "reason": trial.reason,
            "decisions": dict(trial.decisions),
            "ms": None if trial.seconds is None else 1e3 * trial.seconds.median,
            "best_ms": None if self._best is None else 1e3 * _median(self._best),
            "speedup": self._speedup(),
            "elapsed_s": process_seconds(),
        }

    def summary(self, result: Mapping[str, Any]) -> None:
        """Times of SciPy, the default and the tuned kernel; where the kernel and the report are."""
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
        failed = f", {trials['failed']} failed: {counts_text(result['failures'])}" if trials["failed"] else ""
        lines = [f"{trials['ok']} candidates right{failed}"]
        if result["skipped_places"]:
            places = ", ".join(result["skipped_places"])
            lines.append(f"{result['skipped_lines']} unreadable lines were skipped: {places}")
        if self.first_measurement is not None:
            lines.append(f"first measurement after {self.first_measurement:.1f} s")
        lines += [f"saved {result['kernel']}", f"wrote {result['report']}"]
        for line in lines:
            self._console.print(Text(line), soft_wrap=True)


def decisions_text(decisions: Mapping[str, Any]) -> str:
    """Such as ``tile=1x4x16 rows=64``."""
    return " ".join(
        f"{name}={'x'.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"
        for name, value in decisions.items()
    )


def counts_text(failures: Mapping[str, int]) -> str:
    """Such as ``2 time-out, 1 crashed``."""
    return ", ".join(f"{count} {reason}" for reason, count in failures.items())


def _median(trial: Trial | None) -> float:
    return float("inf") if trial is None or trial.seconds is None else trial.seconds.median


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f}"


def _time(trial: Trial, unit: str = " ms") -> str:
    return (trial.reason or "failed") if trial.seconds is None else _ms(trial.seconds.median) + unit


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
