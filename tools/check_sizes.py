"""Refuses files and functions that have grown too long: part of ``make lint``.

A file counts with every line. A function counts from its ``def`` to its last line, without decorators and without its
docstring, so that nobody saves on documentation; functions inside it count as its lines too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FUNCTION_LIMIT = 50

#: Folders, suffixes, and the number of lines that a file must stay below.
FILES = (
    (("python", "tests", "tools", "benchmarks", "examples"), {".py"}, 400),
    (("src", "tests"), {".cc", ".h"}, 400),
    (("cmake",), {".cmake"}, 400),
)
#: One small picture of a result, not a dump.
GOLDEN_LIMIT = 26
#: Pages that are read in one go.
PAGES = {"README.md": 121, "CONTRIBUTING.md": 81}


def limited_files(root: Path) -> Iterator[tuple[Path, int]]:
    """Every file that has a limit, with the number of lines that it must stay below."""
    for folders, suffixes, limit in FILES:
        for folder in folders:
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in suffixes:
                    yield path, limit
    for folder in sorted((root / "tests").rglob("golden")):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in {".py", ".pyc"}:
                yield path, GOLDEN_LIMIT
    for page, limit in PAGES.items():
        if (root / page).exists():
            yield root / page, limit


def long_functions(source: str) -> Iterator[tuple[int, str, int]]:
    """Line, name and length of each function that is too long."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = _lines(node)
        if ast.get_docstring(node, clean=False) is not None:
            length -= _lines(node.body[0])
        if length >= FUNCTION_LIMIT:
            yield node.lineno, node.name, length


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def complaints(root: Path) -> Iterator[str]:
    """One line for each file or function that is too long."""
    for path, limit in limited_files(root):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root)
        n_lines = len(text.splitlines())
        if n_lines >= limit:
            yield f"{name}: {n_lines} lines; it must stay below {limit}: split it"
        if path.suffix == ".py":
            for line, function, length in long_functions(text):
                yield f"{name}:{line}: {function} has {length} lines; it must stay below {FUNCTION_LIMIT}: split it"


def main() -> int:
    """Print the complaints; 1 if there are any."""
    found = list(complaints(ROOT))
    print("\n".join(found) if found else "All files and functions are of a readable size.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
