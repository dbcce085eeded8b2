"""The command line, one command per file, which imports what it needs only when it runs."""

from .main import main

__all__ = ["main"]
