"""ST110: a graph of this size cannot be generated."""

from __future__ import annotations

from sparse_tir.io.generate import power_law_graph

#: What the message must mention.
NAMES = (
    "power_law_graph",
    "60 edges",
)


def wrong() -> None:
    power_law_graph(10, 60)
