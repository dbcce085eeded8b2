"""Ctrl-C at the right moment."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Ctrl-C waits until the block is left: out of TVM or an import it would come as some other error."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    pending: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _: pending.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pending:
        signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def one_interrupt() -> Iterator[None]:
    """The first Ctrl-C raises KeyboardInterrupt; later ones do nothing, so that what follows can finish.

    Processes that are started after the first one ignore Ctrl-C as well: a compiler that saves the result,
    for example.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
