"""The interpreter: what a program means, in pure Python."""

from .interpreter import OutOfRangeWriteWarning, interpret

__all__ = ["OutOfRangeWriteWarning", "interpret"]
