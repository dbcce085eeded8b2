"""ST603: the work directory holds no usable result."""

from __future__ import annotations

from sparse_tir.cli.run import run

#: What the message must mention.
NAMES = ("nowhere",)


def wrong() -> None:
    assert run.callback is not None
    run.callback("spmm", "graph.npz", 64, "nowhere", "float32", 1, None, False)
