"""ST501: this TVM is not the one that sparse_tir was built for."""

from __future__ import annotations

import importlib.metadata
from unittest import mock

from sparse_tir import _base

#: What the message must mention.
NAMES = ("apache-tvm",)


def wrong() -> None:
    with mock.patch.object(importlib.metadata, "version", return_value="0.0.1"):
        _base.check_versions()
