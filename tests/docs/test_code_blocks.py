"""Every Python block of the documentation runs, page by page, as a reader would paste it."""

import pathlib
import re
import runpy

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if "_build" not in page.relative_to(ROOT).parts
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: A text block that follows a Python block, with nothing between them, is what the page prints there.
OUTPUT = re.compile(r"^```python\n(?:(?!```).*\n)*```\n\n```text\n((?:(?!```).*\n)*)```", re.MULTILINE)
#: A text block that holds an error.
ERROR = re.compile(r"^```text\n(\[ST\d{3}\].*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: pathlib.Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    script = tmp_path / f"{page.stem.lower()}.py"  # a file, because TVM reads the source of scripts
    script.write_text("\n\n".join(blocks(page)), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out.replace(f"{tmp_path}/", "")
    shown = page.read_text(encoding="utf-8")
    for text in [*OUTPUT.findall(shown), *ERROR.findall(shown)]:
        assert text in printed, f"{page.name} shows what its code does not print"


def test_the_pages_have_code():
    assert sum(len(blocks(p)) for p in PAGES) >= 10
