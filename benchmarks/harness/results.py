"""What a benchmark found: cells, their summary, and both as table, JSON and SVG."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .turns import Times


@dataclass(frozen=True)
class Cell:
    """One matrix, width and number of threads; seconds of each contender.

    ``ours`` are never peers; neither is ``bound``, a kernel written by hand for this one width.
    """

    graph: str
    feat: int
    threads: int
    times: Mapping[str, Times]
    ours: tuple[str, ...]
    bound: str

    def ratio(self, ours: str, other: str) -> float:
        """How many times as long the other takes."""
        return self.times[other].median / self.times[ours].median

    @property
    def best_peer(self) -> str:
        peers = [name for name in self.times if name not in (*self.ours, self.bound)]
        return min(peers, key=lambda name: self.times[name].median)


def geometric_mean(values: Iterable[float]) -> float:
    """The mean of ratios."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def summary(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Per number of threads and kernel of ours: ratios to the best peer of each cell, and to the bound."""
    rows = []
    for threads in sorted({cell.threads for cell in cells}):
        group = [cell for cell in cells if cell.threads == threads]
        for name in group[0].ours:
            to_peer = [cell.ratio(name, cell.best_peer) for cell in group]
            row = {"threads": threads, "kernel": name, "cells": len(group)}
            row |= {"best_peer": geometric_mean(to_peer), "worst_cell": min(to_peer)}
            if all(cell.bound in cell.times for cell in group):
                row["bound"] = geometric_mean(cell.ratio(name, cell.bound) for cell in group)
            for peer in (n for n in group[0].times if n not in (*group[0].ours, group[0].bound)):
                row[peer] = geometric_mean(cell.ratio(name, peer) for cell in group)
            rows.append(row)
    return rows


def print_tables(cells: Sequence[Cell], console: Console) -> None:
    """Milliseconds (median, and the middle 60 % of the samples) and ratios."""
    names = list(cells[0].times)
    table = Table(title="milliseconds: median (p20 to p80)")
    for column in (
        "graph",
        "features",
        "threads",
        *names,
        "best peer",
        *(f"peer / {n}" for n in cells[0].ours),
    ):
        table.add_column(column, justify="left" if column in ("graph", "best peer") else "right")
    for cell in cells:
        times = [cell.times[name] for name in names]
        ratios = [f"{cell.ratio(name, cell.best_peer):.2f}" for name in cell.ours]
        head = (cell.graph, str(cell.feat), str(cell.threads))
        table.add_row(*head, *map(_milliseconds, times), cell.best_peer, *ratios)
    console.print(table)
    table = Table(title="how many times as long others take (geometric means)")
    rows = summary(cells)
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "kernel" else "right")
    for row in rows:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)


def _milliseconds(times: Times) -> str:
    return f"{1e3 * times.median:.3f} ({1e3 * times.p20:.3f} to {1e3 * times.p80:.3f})"


def write_json(cells: Sequence[Cell], about: Mapping[str, Any], path: Path) -> None:
    """Everything that was measured, and on what."""
    path.parent.mkdir(parents=True, exist_ok=True)
    described = {**about, "summary": summary(cells), "cells": [asdict(cell) for cell in cells]}
    path.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def write_svg(cells: Sequence[Cell], title: str, path: Path) -> None:
    """Bars: how many times as long the best peer of each cell takes, one panel per number of threads."""
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    threads = sorted({cell.threads for cell in cells})
    figure = Figure(figsize=(11, 3.1 * len(threads)), layout="constrained")
    figure.suptitle(title, fontsize=11)
    for axes, count in zip(figure.subplots(len(threads), 1, squeeze=False)[:, 0], threads, strict=True):
        group = [cell for cell in cells if cell.threads == count]
        width = 0.8 / len(group[0].ours)
        for place, name in enumerate(group[0].ours):
            heights = [cell.ratio(name, cell.best_peer) for cell in group]
            axes.bar([x + place * width for x in range(len(group))], heights, width, label=name)
        axes.axhline(1, color="0.4", linewidth=0.8)
        labels = [f"{cell.graph}\n{cell.feat}\n{cell.best_peer}" for cell in group]
        axes.set_xticks(
            [x + (len(group[0].ours) - 1) * width / 2 for x in range(len(group))], labels, fontsize=6
        )
        axes.set_ylabel(f"best peer / ours, {count} thread{'s' if count > 1 else ''}", fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
