"""ST504: the kernel was built for another CPU."""

from __future__ import annotations

import json
from pathlib import Path

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = (
    "kernel.so",
    "no-such-cpu",
)


def wrong() -> None:
    spmm.kernel(4).save("kernel.so")
    metadata = json.loads(Path("kernel.so.json").read_text(encoding="utf-8"))
    metadata["target"]["mcpu"] = "no-such-cpu"
    Path("kernel.so.json").write_text(json.dumps(metadata), encoding="utf-8")
    st.load("kernel.so")
