"""The kernels that operators have compiled in this process, one per signature."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ..runtime import Kernel


@dataclass(frozen=True)
class CacheInfo:
    """How often kernels were found, and how often one was compiled."""

    hits: int
    compiled: int


class KernelCache:
    """Compiles each signature once, also when several threads ask at the same time.

    A key holds what is static: the operator, feature width, dtypes and target. Sizes, numbers of entries and addresses
    are run-time values, so a new matrix of the same signature never compiles.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kernels: dict[Hashable, Kernel] = {}
        self._building: dict[Hashable, threading.Lock] = {}
        self._hits = 0
        self._compiled = 0

    def get(self, key: Hashable, build: Callable[[], Kernel]) -> Kernel:
        """The kernel of ``key``; ``build`` makes it the first time."""
        found = self.find(key)
        if found is not None:
            return found
        with self._lock:
            mine = self._building.setdefault(key, threading.Lock())
        with mine:
            kernel = self._kernels.get(key)
            if kernel is None:
                kernel = build()
                self._kernels[key] = kernel
                self._compiled += 1
            return kernel

    def find(self, key: Hashable) -> Kernel | None:
        """The kernel of ``key`` if it was compiled."""
        kernel = self._kernels.get(key)
        if kernel is not None:
            self._hits += 1
        return kernel

    def info(self) -> CacheInfo:
        """Counts since the process started or `clear`."""
        return CacheInfo(self._hits, self._compiled)

    def clear(self) -> None:
        """Forget all kernels."""
        with self._lock:
            self._kernels.clear()
            self._building.clear()
            self._hits = self._compiled = 0


#: The cache of all operators.
KERNELS = KernelCache()
