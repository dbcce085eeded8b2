"""ST506: the kernel was saved by another version."""

from __future__ import annotations

import json
from pathlib import Path

import sparse_tir as st
from sparse_tir.ops import spmm

#: What the message must mention.
NAMES = (
    "kernel.so",
    "schema 99",
)


def wrong() -> None:
    spmm.kernel(4).save("kernel.so")
    metadata = json.loads(Path("kernel.so.json").read_text(encoding="utf-8"))
    metadata["schema_version"] = 99
    Path("kernel.so.json").write_text(json.dumps(metadata), encoding="utf-8")
    st.load("kernel.so")
