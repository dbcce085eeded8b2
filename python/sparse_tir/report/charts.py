"""The charts, as SVG elements for the page: its fonts, its colours, no ids that meet."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .data import Candidate, Matrix
from .effects import Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of the drawing stand for those of the page, which knows whether it is light or dark.
_COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--muted)",
    "#030303": "var(--line)",
    "#040404": "var(--accent)",
    "#050505": "var(--soft)",
    "#060606": "var(--bad)",
    "#070707": "var(--page)",
}
_INK, _MUTED, _LINE, _ACCENT, _SOFT, _BAD, _PAGE = _COLOURS
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": _LINE,
    "ytick.color": _LINE,
    "xtick.labelcolor": _MUTED,
    "ytick.labelcolor": _MUTED,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
}
_POINTS_PER_INCH = 72
_WIDTH = 9.6
_MANY_LABELS = 6
_LOGARITHMIC = 8.0


def progress_chart(candidates: Sequence[Candidate], winner: str | None, default: str | None) -> str:
    """Every candidate as a dot over its number, failures as crosses, and the best so far as a line."""
    right = [c for c in candidates if c.seconds is not None]
    failed = [c.number for c in candidates if c.seconds is None]

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = figure.subplots()
        times = [1e3 * c.seconds.median for c in right if c.seconds is not None]
        best = [min(times[: index + 1]) for index in range(len(times))]
        end = max(c.number for c in candidates)
        axes.plot([c.number for c in right], times, "o", color=_SOFT, markersize=5, label="candidate")
        steps = [*[c.number for c in right], end]
        axes.step(steps, [*best, best[-1]], where="post", color=_ACCENT, linewidth=2, label="best so far")
        for key, style, size, colour, name in (
            (default, "D", 7, _INK, "default"),
            (winner, "*", 12, _ACCENT, "winner"),
        ):
            for c, ms in zip(right, times, strict=True):
                if c.key == key:
                    axes.plot([c.number], [ms], style, color=colour, markersize=size, label=name)
        if failed:
            place = axes.get_xaxis_transform()
            axes.plot([*failed], [0.97] * len(failed), "x", color=_BAD, transform=place, label="failed")
        _time_axis(axes, times)
        axes.set_xlabel("candidate, in the order of measuring")
        axes.set_xlim(0.4, end + 0.6)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=5, frameon=False)

    return _svg("progress", 3.4, draw) if right else ""


def effects_chart(effects: Sequence[Effect], chosen: dict[str, str]) -> str:
    """For each decision the candidates' times over its values; the median of a value is a bar."""

    def draw(figure: Figure) -> None:
        widths = [max(2, len(effect.values)) for effect in effects]
        row = figure.subplots(1, len(effects), sharey=True, squeeze=False, width_ratios=widths)[0]
        times = [1e3 * second for effect in effects for value in effect.values for second in value.seconds]
        for axes, effect in zip(row, effects, strict=True):
            for x, value in enumerate(effect.values):
                colour = _ACCENT if chosen.get(effect.name) == value.text else _SOFT
                ms = [1e3 * second for second in value.seconds]
                axes.plot([x] * len(ms), ms, "o", color=colour, markersize=4.5)
                axes.plot([x - 0.3, x + 0.3], [1e3 * value.median] * 2, color=_INK, linewidth=1.6)
            names = [value.text for value in effect.values]
            turned = len(names) > _MANY_LABELS or max(map(len, names)) > _MANY_LABELS
            axes.set_xticks(
                range(len(names)), names, rotation=45 if turned else 0, ha="right" if turned else "center"
            )
            axes.set_xlim(-0.6, len(names) - 0.4)
            axes.set_title(effect.name, loc="left")
            axes.grid(axis="y")
        _time_axis(row[0], times)

    return _svg("effects", 3.3, draw) if effects else ""


def rows_chart(matrix: Matrix) -> str:
    """How many rows have how many entries."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        counts = [rows for _, _, rows in matrix.row_lengths]
        names = [str(a) if a == b else f"{a}\N{EN DASH}{b}" for a, b, _ in matrix.row_lengths]
        bars = axes.bar(range(len(counts)), counts, color=_SOFT, width=0.8)
        axes.bar_label(
            bars, [f"{count:,}" if count else "" for count in counts], color=_MUTED, fontsize=9, padding=2
        )
        turned = len(names) > _MANY_LABELS + 2
        axes.set_xticks(
            range(len(names)), names, rotation=30 if turned else 0, ha="right" if turned else "center"
        )
        axes.tick_params(axis="x", length=0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("entries in a row")
        axes.set_ylabel("rows")
        axes.margins(x=0.01, y=0.12)

    return _svg("rows", 2.3, draw) if matrix.row_lengths else ""


def _time_axis(axes: Axes, times: Sequence[float]) -> None:
    axes.set_ylabel("median, ms")
    axes.grid(axis="y")
    if max(times) > _LOGARITHMIC * min(times):
        from matplotlib.ticker import LogLocator, ScalarFormatter

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.minorticks_off()
        axes.set_ylim(min(times) / 1.15, max(times) * 1.35)
    else:
        axes.set_ylim(0, max(times) * 1.15)


def _svg(name: str, height: float, draw: Callable[[Figure], None]) -> str:
    """What a function draws, as an ``<svg>`` element that scales with the page.

    Equal data give equal text: nothing of date, place or chance is in it.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        figure.patch.set_alpha(0)
        draw(figure)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        file = io.StringIO()
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure)  # becomes the canvas of the figure
        figure.savefig(file, format="svg", metadata=metadata)
    return _for_page(file.getvalue(), name)


def _for_page(text: str, name: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text).replace("url(#", f"url(#{name}-")
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px var(--sans)", text)
    text = re.sub(r"font: ((?:bold|700) [\d.]+)px [^;\"]*", r"font: \1px var(--sans)", text)
    text = re.sub(r'^<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg class="chart" viewBox="\1" role="img">', text)
    for colour, variable in _COLOURS.items():
        text = text.replace(colour, variable)
    return text
