"""ST502: the compiled library of sparse_tir is missing or cannot be opened."""

from __future__ import annotations

from unittest import mock

from sparse_tir import _base

#: What the message must mention.
NAMES = ("libsparse_tir.so",)


def wrong() -> None:
    with mock.patch.object(_base, "__file__", "/nowhere/python/sparse_tir/_base.py"):
        _base.library_path()
