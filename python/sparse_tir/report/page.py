"""From a `Report` to its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .charts import effects_chart, progress_chart, rows_chart
from .data import Candidate, Report, Timing
from .effects import changes, decision_text, effects_of
from .template import PAGE, STYLE

if TYPE_CHECKING:
    import jinja2

_NAMES = {"scipy": "SciPy", "default": "default schedule", "tuned": "tuned"}
_COMMANDS = {
    "tune": "Go on where this job stopped, or do it again in an empty directory:",
    "run": "Run the tuned kernel:",
    "report": "Write this page again:",
}
_LOG_LINES = 12
_MIN_FOR_EFFECTS = 3
_WHOLE = 1000


def render(report: Report) -> str:
    """The page as text. It refers to nothing outside itself, and everything given is escaped.

    Examples
    --------
    >>> from sparse_tir.report import Report, render
    >>> page = render(Report("spmm", 8, 1, "<g>", None, None, "", {}, (), False, (), {}, None, None))
    >>> "&lt;g&gt;" in page, "<g>" in page
    (True, False)
    """
    from markupsafe import Markup

    winner_key = None if report.winner is None else report.winner.key
    is_default = winner_key is not None and winner_key == report.default_key
    winner = next((c for c in report.candidates if c.key == winner_key), None)
    default = next((c for c in report.candidates if c.key == report.default_key), None)
    effects = effects_of(report.candidates)
    n_right = sum(c.seconds is not None for c in report.candidates)
    shown_effects = [e for e in effects if len(e.values) > 1] if n_right >= _MIN_FOR_EFFECTS else []
    chosen = {} if winner is None else {name: decision_text(v) for name, v in winner.decisions.items()}
    return (
        _environment()
        .from_string(PAGE)
        .render(
            report=report,
            style=Markup(STYLE),
            winner=winner,
            default=default,
            comparison=_comparison(report.comparison),
            headline=_headline(report.comparison, is_default),
            is_default=is_default,
            is_noisy=_overlap(report.comparison),
            effects=shown_effects,
            commands=[(_COMMANDS.get(name, name), line) for name, line in report.commands.items()],
            changed=changes(default.decisions, winner.decisions) if default and winner else [],
            chosen=chosen,
            failures=_failures(report),
            n_right=n_right,
            ranked=_ranked(report),
            decision_names=list(dict.fromkeys(name for c in report.candidates for name in c.decisions)),
            charts={
                "progress": Markup(progress_chart(report.candidates, winner_key, report.default_key)),
                "effects": Markup(effects_chart(shown_effects, chosen)),
                "rows": Markup(rows_chart(report.matrix) if report.matrix else ""),
            },
        )
    )


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "ms": _ms,
        "duration": _duration,
        "value": decision_text,
        "thousands": "{:,}".format,
    }
    return environment


def _comparison(times: Mapping[str, Timing]) -> list[dict[str, Any]]:
    """One row per kernel: its time, how it compares, and the length of its bar."""
    longest = max((time.p80 for time in times.values()), default=1.0)
    tuned = times.get("tuned")
    return [
        {
            "key": name,
            "name": _NAMES.get(name, name),
            "time": time,
            "bar": 100 * time.median / longest,
            "low": 100 * time.p20 / longest,
            "high": 100 * time.p80 / longest,
            "ratio": None if tuned is None else time.median / tuned.median,
        }
        for name, time in times.items()
    ]


def _headline(times: Mapping[str, Timing], is_default: bool) -> list[tuple[str, str]]:
    """``(ratio, what it is over)`` of the tuned kernel."""
    if "tuned" not in times:
        return []
    return [
        (f"{times[name].median / times['tuned'].median:.2f}", _NAMES[name])
        for name in ("scipy", "default")
        if name in times and not (name == "default" and is_default)
    ]


def _overlap(times: Mapping[str, Timing]) -> bool:
    """Whether the default and the tuned kernel may be equally fast."""
    both = [times[name] for name in ("default", "tuned") if name in times]
    return len(both) > 1 and max(time.p20 for time in both) <= min(time.p80 for time in both)


def _failures(report: Report) -> list[dict[str, Any]]:
    """Reasons with their counts, and the log of the first of each."""
    failed = [c for c in report.candidates if c.reason is not None]
    counts = Counter(c.reason for c in failed)
    return [
        {"reason": reason, "count": count, "log": _excerpt(next(c.log for c in failed if c.reason == reason))}
        for reason, count in counts.most_common()
    ]


def _excerpt(log: str) -> str:
    lines = log.strip().splitlines()
    cut = ["\N{HORIZONTAL ELLIPSIS}"] if len(lines) > _LOG_LINES else []
    return "\n".join([*cut, *lines[-_LOG_LINES:]])


def _ranked(report: Report) -> list[Candidate]:
    """The fastest first, failures last."""
    return sorted(
        report.candidates,
        key=lambda c: (c.seconds is None, 0.0 if c.seconds is None else c.seconds.median, c.number),
    )


def _ms(seconds: float) -> str:
    """Milliseconds with four digits that mean something."""
    milliseconds = 1e3 * seconds
    return f"{milliseconds:.0f}" if milliseconds >= _WHOLE else f"{milliseconds:#.4g}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
