"""Errors that point at the line of the script."""

from __future__ import annotations

import linecache
import re
from typing import NoReturn

from tvm.script.parser._core import doc
from tvm.script.parser.core.diagnostics import Source

from ..errors import SparseTIRError
from .foreign import translated

_AT = re.compile(r"\n  at: +(?P<file>.*):(?P<line>\d+):(?P<column>\d+)$", re.MULTILINE)


def raise_at(source: Source, node: doc.AST, error: Exception | str) -> NoReturn:
    """Raise ``error`` with the place of ``node``, in our words (see `foreign`)."""
    ours = error if isinstance(error, SparseTIRError) else translated(error)
    if "\n  at: " in str(ours):
        raise ours  # the innermost node has spoken
    line, column, _, _ = source.location(node)
    raise at_place(source, ours, line, column) from (error if isinstance(error, Exception) else None)


def at_place(source: Source, error: SparseTIRError, line: int, column: int) -> SparseTIRError:
    """The error with a place, which had none."""
    place = f"\n  at:       {source.source_name}:{line}:{column}{_excerpt(source, line, column)}"
    return type(error)(str(error) + place)


def point_at_line(source: Source, error: SparseTIRError) -> SparseTIRError:
    """The same error with the script line and a caret, if its place is known."""
    found = _AT.search(str(error))
    if found is None:
        return error
    return type(error)(str(error) + _excerpt(source, int(found["line"]), int(found["column"])))


def point_at_file(error: SparseTIRError) -> SparseTIRError:
    """`point_at_line` without the source at hand: the line is read from the file, if there is one."""
    found = _AT.search(str(error))
    if found is None or "\n            | " in str(error):
        return error
    line = linecache.getline(found["file"], int(found["line"])).rstrip("\n")
    return type(error)(str(error) + _marked(line, int(found["column"]) - 1)) if line else error


def _excerpt(source: Source, line: int, column: int) -> str:
    lines = source.source.splitlines()
    index = line - source.start_line
    if not 0 <= index < len(lines):
        return ""
    caret = max(column - 1 - source.start_column, 0)
    return _marked(lines[index], caret)


def _marked(line: str, caret: int) -> str:
    return f"\n            | {line}\n            | {' ' * caret}^"
