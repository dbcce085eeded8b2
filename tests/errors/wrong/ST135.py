"""ST135: the file cannot be written."""

from __future__ import annotations

from sparse_tir.cli.make_graph import make_graph

#: What the message must mention.
NAMES = ("missing/graph.npz",)


def wrong() -> None:
    assert make_graph.callback is not None
    make_graph.callback("missing/graph.npz", 100, 500, 0, False)
