"""Every code of the table is raised by some test, or stands here with the reason why none can."""

from __future__ import annotations

import pathlib
import re

import pytest

from sparse_tir import errors

TESTS = pathlib.Path(__file__).parents[1]
_CODE = re.compile(r"ST[1-69]\d\d")

#: Codes that nothing raises today.
RESERVED: dict[str, str] = {}
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


def codes_in_tests() -> set[str]:
    not_raised = ("test_codes.py", "test_known_gaps.py")
    files = [file for file in TESTS.rglob("test_*.py") if file.name not in not_raised]
    return {code for file in files for code in _CODE.findall(file.read_text(encoding="utf-8"))}


def test_every_code_is_raised_by_a_test_or_reserved_with_a_reason() -> None:
    tested = codes_in_tests()
    assert set(errors.CODES) - tested == set(RESERVED)
    assert tested <= set(errors.CODES), "tests name codes that are not in the table"


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
