"""Importing TVM without PyTorch."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without_torch() -> Iterator[None]:
    """TVM imported inside does not import PyTorch, which it does if it is installed, and which takes seconds.

    For processes that are ours alone. In a user's process TVM must do as it likes: it knows how to live with
    PyTorch's library only if that comes first.
    """
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # makes `import torch` an ImportError
    try:
        yield
    finally:
        del sys.modules["torch"]
