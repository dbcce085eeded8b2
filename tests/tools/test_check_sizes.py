"""The size gate of ``make lint``: what it measures, and what it lets pass."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GATE = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "check_sizes.py"))


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("python/a/b.py", 399),
        ("src/ir/axis.cc", 399),
        ("tests/golden/row_sum.txt", 25),
        ("README.md", 120),
    ],
)
def test_a_file_may_have_this_many_lines_and_no_more(tmp_path, name, most):
    write(tmp_path, name, "\n" * most)
    assert list(GATE["complaints"](tmp_path)) == []
    write(tmp_path, name, "\n" * (most + 1))
    (complaint,) = GATE["complaints"](tmp_path)
    assert complaint.startswith(f"{name}: {most + 1} lines")


def test_a_function_counts_without_its_docstring(tmp_path):
    docstring = '    """What it does.\n' + "\n" * 60 + '    """\n'
    write(tmp_path, "python/a.py", "def short():\n" + docstring + "    x = 1\n" * 48)
    assert list(GATE["complaints"](tmp_path)) == []
    write(tmp_path, "python/a.py", "@cache\ndef long():\n" + docstring + "    x = 1\n" * 49)
    (complaint,) = GATE["complaints"](tmp_path)
    assert complaint.startswith("python/a.py:2: long has 50 lines")


def test_a_method_inside_of_a_class_counts_too():
    source = "class A:\n    async def f(self):\n" + "        x = 1\n" * 49
    assert [name for _, name, _ in GATE["long_functions"](source)] == ["f"]
