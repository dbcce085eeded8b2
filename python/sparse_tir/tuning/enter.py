"""Where the measuring process begins: TVM is imported here, with PyTorch only if the job has it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from multiprocessing.connection import Connection

from sparse_tir._without_torch import without_torch

from .launch import WITHOUT_TORCH


def main(arguments: Sequence[str]) -> None:
    """Entry point: the file descriptor of the connection, and whether PyTorch is to be imported."""
    descriptor, torch = arguments
    with without_torch() if torch == WITHOUT_TORCH else nullcontext():
        from .worker import serve
    serve(Connection(int(descriptor)))
