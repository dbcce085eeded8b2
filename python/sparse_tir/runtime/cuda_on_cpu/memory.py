"""Arrays in memory that the emulator's process shares, each against an unreadable page."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CANARY = 0xA5


class GuardedArray:
    """A copy of an array that ends where its memory ends.

    The process that runs the kernel maps the memory between unreadable guards, so that the first element behind the
    array cannot be read. Bytes before it, and up to 15 behind it if the array must be aligned, hold a pattern that
    is checked afterwards.

    Attributes
    ----------
    fd, room, offset
        The shared memory, its size, and where the array begins.
    view
        The array, as the kernel leaves it.
    """

    def __init__(self, array: NDArray[Any], alignment: int = 1) -> None:
        padded = -(-array.nbytes // alignment) * alignment
        self.room = max(1, -(-padded // mmap.PAGESIZE)) * mmap.PAGESIZE
        self.offset = self.room - padded
        self.fd = os.memfd_create("sparse_tir_array")
        os.ftruncate(self.fd, self.room)
        self._memory = mmap.mmap(self.fd, self.room)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._bytes[:] = _CANARY
        inside = self._bytes[self.offset : self.offset + array.nbytes]
        self.view: NDArray[Any] = inside.view(array.dtype).reshape(array.shape)
        self.view[...] = array

    def stray_write(self) -> int | None:
        """Where a byte outside of the array was written, relative to its begin."""
        touched = self._bytes != _CANARY
        touched[self.offset : self.offset + self.view.nbytes] = False
        places = np.flatnonzero(touched)
        return int(places[0]) - self.offset if places.size else None

    def close(self) -> None:
        """Gives the descriptor back; the memory goes with the last view."""
        os.close(self.fd)
