"""What every error says, and which class it has."""

from __future__ import annotations

import ast
import pathlib
import pickle

import pytest

from sparse_tir import errors

#: Class of a code, by its first digit.
CLASSES = {
    "1": errors.DataError,
    "2": errors.ScriptError,
    "3": errors.ScheduleError,
    "4": errors.LegalityError,
    "5": errors.BuildError,
    "6": errors.TuningError,
    "9": errors.InternalError,
}


@pytest.mark.parametrize("code", errors.CODES)
def test_an_error_says_code_title_place_and_what_to_do(code: str) -> None:
    error = errors.error(code, "st.call(A)", "a thing", "another thing", "do this")
    assert type(error) is CLASSES[code[2]]
    assert error.code == code
    assert str(error).splitlines() == [
        f"[{code}] st.call(A): {errors.CODES[code]}",
        "  found:    a thing",
        "  expected: another thing",
        "  next:     do this",
        f"  see:      docs/errors/{code}.md",
    ]


def test_titles_tell_codes_apart() -> None:
    assert len(set(errors.CODES.values())) == len(errors.CODES)


def test_an_error_is_caught_as_the_builtin_that_fits() -> None:
    for cls in (errors.DataError, errors.ScriptError, errors.ScheduleError, errors.LegalityError):
        assert issubclass(cls, ValueError)
    for cls in (errors.BuildError, errors.TuningError, errors.InternalError):
        assert issubclass(cls, RuntimeError)
    assert all(issubclass(cls, errors.SparseTIRError) for cls in CLASSES.values())


def test_a_message_without_a_code_counts_as_ours_to_mend() -> None:
    assert errors.SparseTIRError("anything").code == "ST900"


def test_a_message_is_completed_once() -> None:
    error = errors.error("ST104", "st.call(A)", "a thing", "another thing")
    again = type(error)(str(error) + "\n  at:       file.py:1:1")
    lines = str(again).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["found:", "expected:", "next:", "at:", "see:"]
    assert lines[-1] == f"  see:      {errors.page('ST104')}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_message_of_several_lines_stays_below_its_word() -> None:
    error = errors.error("ST602", "st.tune", "first\nsecond", "another thing")
    assert "  found:    first\n            second\n  expected: another thing" in str(error)


@pytest.mark.parametrize(("found", "shown"), [("", "''"), (" ", "' '"), (None, "None"), (0, "0")])
def test_what_was_found_is_always_shown(found: object, shown: str) -> None:
    assert f"\n  found:    {shown}\n" in str(errors.error("ST604", "st.tune", found, "a number"))


PACKAGE = pathlib.Path(errors.__file__).parent


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_error_that_python_raises_says_what_is_expected(path: pathlib.Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "errors.error":
            given = len(node.args) + sum(keyword.arg == "expected" for keyword in node.keywords)
            assert given >= 4, f"line {node.lineno}: {ast.unparse(node)}"
