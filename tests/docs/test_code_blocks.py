"""Every Python block of the documentation runs, page by page, as a reader would paste it."""

import pathlib
import re
import runpy

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: pathlib.Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page, tmp_path, capsys):
    script = tmp_path / f"{page.stem.lower()}.py"  # a file, because TVM reads the source of scripts
    script.write_text("\n\n".join(blocks(page)), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    for text in re.findall(r"^```text\n(\[ST\d{3}\].*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        assert text.splitlines()[0] in printed, f"{page.name} shows an error that its code does not give"


def test_the_pages_have_code():
    assert sum(len(blocks(p)) for p in PAGES) >= 10
