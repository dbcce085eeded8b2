"""Errors that point at the line of the script."""

from __future__ import annotations

import re
from typing import NoReturn

from tvm.script.parser._core import doc
from tvm.script.parser.core.diagnostics import Source

from ..errors import ScriptError, SparseTIRError

_AT = re.compile(r"\n  at: +(?P<file>.*):(?P<line>\d+):(?P<column>\d+)$")


def raise_at(source: Source, node: doc.AST, error: Exception | str) -> NoReturn:
    """Raise ``error`` with the place of ``node``; anything that is not one of ours becomes an ST201."""
    if isinstance(error, SparseTIRError):
        if "\n  at: " in str(error):
            raise error  # the innermost node has spoken
        kind, message = type(error), str(error)
    else:
        text = " ".join(str(error).split()) or type(error).__name__
        kind, message = ScriptError, f"[ST201] script\n  found:    {text}"
    line, column, _, _ = source.location(node)
    located = kind(
        f"{message}\n  at:       {source.source_name}:{line}:{column}{_excerpt(source, line, column)}"
    )
    raise located from (error if isinstance(error, Exception) else None)


def point_at_line(source: Source, error: SparseTIRError) -> SparseTIRError:
    """The same error with the script line and a caret, if its place is known."""
    found = _AT.search(str(error))
    if found is None:
        return error
    return type(error)(str(error) + _excerpt(source, int(found["line"]), int(found["column"])))


def _excerpt(source: Source, line: int, column: int) -> str:
    lines = source.source.splitlines()
    index = line - source.start_line
    if not 0 <= index < len(lines):
        return ""
    caret = max(column - 1 - source.start_column, 0)
    return f"\n            | {lines[index]}\n            | {' ' * caret}^"
