"""Prints what an extra of pyproject.toml needs, one requirement a line: ``python tools/requirements.py lint``.

``pip install .[lint]`` would build the package first; the linters need only what it depends on.
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(extra: str) -> list[str]:
    """The dependencies of the package and of one extra."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][extra]]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
