"""ST516: the kernel cannot be saved."""

from __future__ import annotations

from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = ("taken/kernel.so",)


def wrong() -> None:
    kernel = spmm.kernel(4)
    open("taken", "w").close()
    kernel.save("taken/kernel.so")
