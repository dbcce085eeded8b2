"""ST509: the CUDA compiler refuses the kernel."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from sparse_tir.runtime import device_report

#: What the message must mention.
NAMES = ("device_report", "nothing")

#: Refuses what nvcc would refuse, where there is none too.
NVCC = """#!/bin/sh
echo 'kernel.cu(1): error: identifier "nothing" is undefined' >&2
exit 1
"""


def wrong() -> None:
    compiler = Path("bin/nvcc")
    compiler.parent.mkdir()
    compiler.write_text(NVCC, encoding="utf-8")
    compiler.chmod(0o755)
    with mock.patch.dict(os.environ, {"PATH": str(compiler.parent.resolve())}):
        device_report("__global__ void broken(float* out) { out[0] = nothing; }")
