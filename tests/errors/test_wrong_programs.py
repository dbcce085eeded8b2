"""Each code of the table has a page, and a wrong program in ``wrong/``, whose message says what it should."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from refusals import caught_place

from sparse_tir import errors
from sparse_tir.next_steps import NEXT

WRONG = Path(__file__).parent / "wrong"
PAGES = Path(__file__).parents[2] / "docs" / "errors"
CODE = re.compile(r"ST\d{3}")
#: The package cannot be imported then, not even its errors: one sentence in an ImportError.
IMPORT_ERRORS = ("ST501", "ST502")
#: A whole tuning job.
SLOW = ("ST602",)
#: Codes about something that has no line in a script.
WITHOUT_LINE = ("ST420", "ST422", "ST423")


def message_of(code: str) -> tuple[str, dict[str, Any]]:
    """What the wrong program of a code is refused with, and the names of its file."""
    program = runpy.run_path(str(WRONG / f"{code}.py"))
    with pytest.raises(ImportError if code in IMPORT_ERRORS else errors.SparseTIRError) as caught:
        program["wrong"]()
    if code not in IMPORT_ERRORS:
        assert caught.value.code == code, caught.value
        assert type(caught.value) is type(errors.error(code, "", ""))
    return str(caught.value), program


def test_codes_pages_and_wrong_programs_are_the_same() -> None:
    pages = {path.stem for path in PAGES.glob("*.md") if path.stem != "index"}
    programs = {path.stem for path in WRONG.glob("*.py")}
    assert pages == set(errors.CODES)
    assert programs == set(errors.CODES)
    assert set(NEXT) == set(errors.CODES)


def test_the_index_lists_every_code_in_order_with_its_title() -> None:
    listed = re.findall(
        r"^\| \[(ST\d{3})\]\(\1\.md\) \| (.*) \|$", (PAGES / "index.md").read_text(encoding="utf-8"), re.M
    )
    assert listed == list(errors.CODES.items())


@pytest.mark.parametrize("code", errors.CODES)
def test_a_page_is_about_its_code(code: str) -> None:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {errors.CODES[code]}\n")
    shown = re.findall(r"^```text\n(\[ST\d{3}\].*?)^```", text, re.M | re.S)
    assert len(shown) == 1
    assert shown[0].startswith(f"[{code}] ")
    assert code in IMPORT_ERRORS or shown[0].splitlines()[0].endswith(errors.CODES[code])
    assert "**Why.** " in text
    assert "**How to mend it.** " in text
    assert set(CODE.findall(text)) <= set(errors.CODES)


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=pytest.mark.slow if code in SLOW else ()) for code in errors.CODES]
)
def test_a_wrong_program_is_refused_with_all_that_a_user_needs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message, program = message_of(code)
    for name in program["NAMES"]:
        assert name in message, f"{name!r} is not mentioned in {message}"
    if code in IMPORT_ERRORS:
        assert message.startswith(f"[{code}] ")
        assert message.endswith(f"See {errors.page(code)}.")
        return
    head, *lines = message.splitlines()
    assert re.fullmatch(rf"\[{code}\] .+: {re.escape(errors.CODES[code])}", head)
    words = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    needs_line = code.startswith(("ST2", "ST4")) and code not in WITHOUT_LINE
    assert words == ["found:", "expected:", "next:", *(["at:"] if needs_line else []), "see:"], message
    assert lines[-1] == f"  see:      docs/errors/{code}.md"
    if needs_line:
        assert caught_place(message).startswith(program["MARKED"]), message
