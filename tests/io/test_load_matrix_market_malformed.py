"""Broken Matrix Market files: each is refused with its line, before memory is taken for what it claims."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from sparse_tir import errors
from sparse_tir.io import load_matrix, matrix_market_body

PEAK_BYTES = 50_000_000
REAL = "%%MatrixMarket matrix coordinate real general\n"
INTEGER = REAL.replace("real", "integer")
UNSIGNED = REAL.replace("real", "unsigned-integer")
COMPLEX = REAL.replace("real", "complex")
PATTERN = REAL.replace("real", "pattern")
ARRAY = REAL.replace("coordinate", "array")


def refusal(path: Path, content: str | bytes) -> str:
    """The message for a file, after a look at the memory that it took."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    tracemalloc.start()
    try:
        with pytest.raises(errors.DataError) as caught:
            load_matrix(path)
        assert tracemalloc.get_traced_memory()[1] < PEAK_BYTES
    finally:
        tracemalloc.stop()
    assert caught.value.code == "ST134"
    assert str(path) in str(caught.value)
    return str(caught.value)


BODIES = {
    "counting from zero": (REAL + "3 3 2\n0 1 3.0\n2 2 1.0\n", "line 3: row 0, rows count from 1"),
    "column zero": (REAL + "3 3 2\n1 1 3.0\n2 0 1.0\n", "line 4: column 0, columns count from 1"),
    "negative row": (REAL + "3 3 1\n-1 1 3.0\n", "line 3: row -1"),
    "row beyond the shape": (REAL + "3 3 1\n4 1 1.0\n", "line 3: row 4 of 3"),
    "column beyond the shape": (REAL + "3 2 1\n1 3 1.0\n", "line 3: column 3 of 2"),
    "row beyond 32 bits": (REAL + "3 3 1\n4294967297 1 1.0\n", "line 3: row 4294967297 of 3"),
    "row beyond 64 bits": (REAL + "3 3 1\n18446744073709551617 1 1.0\n", "row 18446744073709551617 of 3"),
    "row of thousands of digits": (REAL + f"3 3 1\n{'9' * 9000} 1 1.0\n", "line 3: row 9999"),
    "row beyond after remarks": (REAL + "3 3 2\n% a\n+1 1 1\n\n% b\n4 1 1\n", "line 7: row 4 of 3"),
    "no rows": (REAL + "0 3 1\n1 1 1.0\n", "line 3: row 1 of 0"),
    "row is a float": (REAL + "3 3 1\n1.0 1 1.0\n", "line 3: row 1.0 is not a whole number"),
    "column is a float": (REAL + "3 3 2\n1 2.5\n2 2 1.0 7\n", "line 3: value missing"),
    "column is a float with a value": (REAL + "3 3 1\n1 2.5 3.0\n", "line 3: column 2.5"),
    "file cut short": (
        REAL + "3 3 3\n1 1 1.0\n2 2 2.0\n",
        "line 4: the file ends after 2 of 3 promised entries",
    ),
    "cut short without line feed": (REAL + "3 3 3\n1 1 1.0\n2 2 2.0", "line 4: the file ends after 2 of 3"),
    "no body": (REAL + "3 3 3\n", "line 2: the file ends after 0 of 3 promised entries"),
    "too many entries": (REAL + "3 3 2\n1 1 1\n2 2 2\n3 3 3\n", "line 5: more than the 2 promised entries"),
    "too many after blanks": (REAL + "3 3 1\n\n%\n1 1 1\n\n3 3 3\n", "line 7: more than the 1 promised"),
    "too many, of none": (REAL + "3 3 0\n1 1 1\n", "line 3: more than the 0 promised entries"),
    "absurd entry count below 64 bits": (REAL + "2 2 9000000000\n1 1 1\n", "after 1 of 9000000000 promised"),
    "value missing": (REAL + "2 2 2\n1 1 1.0\n2 2\n", "line 4: value missing"),
    "value on the next line": (REAL + "2 2 1\n1 1\n1.0\n", "line 3: value missing"),
    "column missing": (PATTERN + "2 2 2\n1\n1 2\n", "line 3: column missing"),
    "imaginary part missing": (COMPLEX + "2 2 1\n1 1 1.5\n", "line 3: imaginary part missing"),
    "a value in a pattern": (PATTERN + "2 2 1\n1 1 1.0\n", "line 3: 3 words: 1 1 1.0"),
    "one word more": (REAL + "2 2 1\n1 1 1.0 7.0\n", "line 3: 4 words: 1 1 1.0 7.0"),
    "a remark behind": (REAL + "2 2 1\n1 1 1.0 % one\n", "line 3: 5 words"),
    "two entries in a line": (REAL + "2 2 2\n1 1 1.5 2 2 2.5\n", "line 3: 6 words"),
    "commas": (REAL + "2 2 1\n1,1,1.5\n", "line 3"),
    "not a number": (REAL + "2 2 1\n1 1 abc\n", "line 3: abc is not a number"),
    "a lone sign": (REAL + "2 2 1\n1 1 -\n", "line 3: - is not a number"),
    "a lone point": (REAL + "2 2 1\n1 1 .\n", "line 3: . is not a number"),
    "letters behind": (REAL + "2 2 1\n1 1 1.0abc\n", "line 3: 1.0abc"),
    "exponent without digits": (REAL + "2 2 1\n1 1 1e\n", "line 3: 1e is"),
    "two points": (REAL + "2 2 1\n1 1 1.2.3\n", "line 3: 1.2.3"),
    "two signs": (REAL + "2 2 1\n1 1 --1\n", "line 3: --1"),
    "exponent without its letter": (REAL + "2 2 1\n1 1 1.0+100\n", "line 3: 1.0+100"),
    "exponent of Fortran": (REAL + "2 2 1\n1 1 1.0D+02\n", "line 3: 1.0D+02"),
    "hexadecimal": (REAL + "2 2 1\n1 1 0x10\n", "line 3: 0x10"),
    "underscore": (REAL + "2 2 1\n1 1 1_0\n", "line 3: 1_0"),
    "zero byte": (REAL + "2 2 1\n1 1 1.5\0\n", r"line 3: 1.5\x00"),
    "digits of another script": (REAL + "2 2 1\n1 1 \u0663\n", r"line 3: \xd9\xa3"),
    "vertical tab": (REAL + "2 2 1\n1 1\v1.5\n", "line 3"),
    "integer with a fraction": (INTEGER + "2 2 1\n1 1 2.5\n", "line 3: 2.5 is not a number of field integer"),
    "integer with an exponent": (INTEGER + "2 2 1\n1 1 1e3\n", "line 3: 1e3"),
    "integer beyond 64 bits": (
        INTEGER + "2 2 1\n1 1 9223372036854775808\n",
        "line 3: 9223372036854775808 is too",
    ),
    "integer below 64 bits": (
        INTEGER + "2 2 2\n1 1 1\n1 1 -9223372036854775809\n",
        "line 4: -9223372036854775809",
    ),
    "integer of thousands of digits": (INTEGER + f"2 2 1\n1 1 {'7' * 9000}\n", "line 3: 7777"),
    "unsigned beyond 64 bits": (
        UNSIGNED + "2 2 1\n1 1 18446744073709551616\n",
        "line 3: 18446744073709551616",
    ),
    "negative unsigned": (
        UNSIGNED + "2 2 1\n1 1 -1\n",
        "line 3: -1 is not a number of field unsigned-integer",
    ),
    "array cut short": (ARRAY + "2 2\n1\n2\n3\n", "line 5: the file ends after 3 of 4 promised entries"),
    "array too long": (ARRAY + "2 2\n1\n2\n3\n4\n5\n", "line 7: more than the 4 promised entries"),
    "array with rows in lines": (ARRAY + "2 2\n1 2\n3 4\n", "line 3: 2 words: 1 2"),
    "array with a word": (ARRAY + "2 2\n1\nabc\n3\n4\n", "line 4: abc"),
    "array that would not fit": (ARRAY + "1000000 1000000\n1\n", "after 1 of 1000000000000 promised"),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_broken_body_is_refused_with_its_line(tmp_path, name, line_end):
    text, expected = BODIES[name]
    assert expected in refusal(tmp_path / "a.mtx", text.replace("\n", line_end))


@pytest.mark.parametrize("name", BODIES)
def test_a_broken_body_is_refused_with_the_same_line_in_small_blocks(tmp_path, name, monkeypatch):
    monkeypatch.setattr(matrix_market_body, "_BLOCK_BYTES", 3)
    text, expected = BODIES[name]
    assert expected in refusal(tmp_path / "a.mtx", text)


HEADS = {
    "absurd entry count": (
        REAL + "2 2 18446744073709551615\n1 1 1\n",
        "line 2: entry count 18446744073709551615",
    ),
    "entry count of thousands of digits": (REAL + f"2 2 {'9' * 9000}\n", "line 2: entry count 9999"),
    "dense size overflows": (
        ARRAY + "4294967296 4294967296\n1.0\n",
        "line 2: 4294967296 x 4294967296 is too large",
    ),
    "triangle overflows": (
        ARRAY.replace("general", "symmetric") + "8589934592 8589934592\n1\n",
        "line 2: 8589934592 x 8589934592 is too large",
    ),
    "too many rows": (REAL + "9223372036854775808 2 0\n", "line 2: rows 9223372036854775808"),
    "negative size": (REAL + "-2 2 0\n", "line 2: size -2"),
    "negative columns": (REAL + "% remark\n\n2 -3 0\n", "line 4: size -3 (columns)"),
    "negative entry count": (REAL + "2 2 -1\n", "line 2: size -1 (entry count)"),
    "a size missing": (REAL + "3 3\n1 1 1\n", "line 2: 2 sizes: 3 3"),
    "a size too many": (REAL + "3 3 1 1\n1 1 1\n", "line 2: 4 sizes"),
    "a size too many for an array": (ARRAY + "2 2 4\n1\n2\n3\n4\n", "line 2: 3 sizes"),
    "a size with a fraction": (REAL + "3.0 3 1\n1 1 1\n", "line 2: rows 3.0"),
    "a size that is a word": (REAL + "3 x 1\n1 1 1\n", "line 2: columns x"),
    "no size line": (REAL, "line 1: the file ends before the size line"),
    "only remarks": (REAL + "% a\n%b\n\n", "line 4: the file ends before the size line"),
    "no line feed at all": (REAL.strip(), "line 1: the file ends before the size line"),
    "empty file": ("", "line 1: the file is empty"),
    "no banner": ("1 1 1\n1 1 1.0\n", "line 1: no MatrixMarket banner"),
    "a blank line first": ("\n" + REAL + "1 1 1\n1 1 1\n", "line 1: no MatrixMarket banner"),
    "binary": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "line 1: no MatrixMarket banner"),
    "UTF-16": ((REAL + "1 1 1\n1 1 1\n").encode("utf-16"), "UTF-16"),
    "zip": (b"PK\x03\x04", ".npz"),
    "unknown field": (REAL.replace("real", "quaternion") + "1 1 1\n1 1 1\n", "line 1: field quaternion"),
    "unknown object": (REAL.replace(" matrix", " vector") + "1 1 1\n1 1 1\n", "line 1: object vector"),
    "unknown layout": (REAL.replace("coordinate", "sparse") + "1 1 1\n1 1 1\n", "line 1: layout sparse"),
    "unknown symmetry": (REAL.replace("general", "odd") + "1 1 1\n1 1 1\n", "line 1: symmetry odd"),
    "no symmetry": (REAL.replace(" general", "") + "1 1 1\n1 1 1\n", "line 1: no symmetry"),
    "only the first word": ("%%MatrixMarket\n1 1 1\n1 1 1\n", "line 1: no object"),
    "a word too many": (REAL.strip() + " foo\n1 1 1\n1 1 1\n", "line 1: foo"),
    "carriage returns only": ((REAL + "1 1 1\n1 1 1\n").replace("\n", "\r"), "line 1: a carriage return"),
    "pattern array": (ARRAY.replace("real", "pattern") + "2 2\n", "line 1: field pattern cannot be array"),
    "skew pattern": (PATTERN.replace("general", "skew-symmetric") + "1 1 0\n", "line 1: field pattern"),
    "hermitian real": (REAL.replace("general", "hermitian") + "1 1 0\n", "line 1: field real"),
    "symmetric but not square": (REAL.replace("general", "symmetric") + "3 4 0\n", "line 2: 3 x 4"),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_broken_head_is_refused_with_its_line(tmp_path, name):
    content, expected = HEADS[name]
    assert expected in refusal(tmp_path / "a.mtx", content)


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("real symmetric", "1 2 5\n% x\n2 2 1\n2 1 5\n", "line 6: row 2, column 1 has its mirror"),
        ("pattern symmetric", "2 1\n2 1\n1 2\n", "line 5: row 1, column 2 has its mirror"),
        ("real skew-symmetric", "2 1 5\n1 2 -5\n3 1 1\n", "line 4: row 1, column 2 has its mirror"),
        (
            "real skew-symmetric",
            "2 1 5\n\n2 2 1\n3 1 1\n",
            "line 5: a skew-symmetric matrix has a zero diagonal",
        ),
        ("real skew-symmetric", "2 1 5\n3 3 nan\n3 1 1\n", "line 4: a skew-symmetric matrix"),
        (
            "integer skew-symmetric",
            "2 1 5\n3 1 -9223372036854775808\n3 2 1\n",
            "line 4: -9223372036854775808",
        ),
        (
            "complex hermitian",
            "2 1 5 1\n3 3 1 1\n3 2 1 0\n",
            "line 4: a hermitian matrix has a real diagonal",
        ),
    ],
)
def test_an_entry_against_the_symmetry_is_refused_with_its_line(tmp_path, head, body, expected):
    text = f"%%MatrixMarket matrix coordinate {head}\n3 3 3\n{body}"
    assert expected in refusal(tmp_path / "a.mtx", text)


def test_an_array_against_the_symmetry_is_refused_with_its_line(tmp_path):
    text = "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n% x\n4 5\n"
    assert "line 6: a hermitian matrix has a real diagonal" in refusal(tmp_path / "a.mtx", text)


def test_the_first_of_several_wrong_lines_is_named(tmp_path):
    text = REAL + "3 3 2\n1 1 abc\n4 4 1\n1 1 1\n"
    assert "line 3: abc" in refusal(tmp_path / "a.mtx", text)
    text = REAL + "3 3 2\n4 4 1\n1 1 abc\n1 1 1\n"
    assert "line 3: row 4 of 3" in refusal(tmp_path / "a.mtx", text)


def test_a_wrong_line_some_blocks_down_is_named_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_market_body, "_BLOCK_BYTES", 1 << 12)
    n = 30_000
    text = PATTERN + f"9 9 {n}\n" + "1 1\n" * (n - 1) + "1 99\n"
    assert f"line {n + 2}: column 99 of 9" in refusal(tmp_path / "a.mtx", text)


def test_a_line_without_end_is_refused_before_it_is_in_memory(tmp_path):
    bomb = gzip.compress((REAL + "1 1 1\n1 1 ").encode() + b"1" * 60_000_000, compresslevel=1)
    assert "line 3" in refusal(tmp_path / "a.mtx.gz", bomb)


def test_a_banner_without_end_is_refused_before_it_is_in_memory(tmp_path):
    assert "line 1" in refusal(tmp_path / "a.mtx.gz", gzip.compress(b"%" * 60_000_000, compresslevel=1))


def test_a_compressed_flood_of_entries_is_refused_at_the_first_too_many(tmp_path):
    flood = gzip.compress((REAL + "1 1 2\n").encode() + b"1 1 1\n" * 5_000_000, compresslevel=1)
    assert "line 5: more than the 2 promised entries" in refusal(tmp_path / "a.mtx.gz", flood)


@pytest.mark.parametrize("problem", [ValueError("Line 3: odd"), OverflowError("odd")])
def test_a_refusal_of_scipy_that_has_no_other_reason_keeps_its_words(tmp_path, monkeypatch, problem):
    def refuse(stream: object) -> None:
        raise problem

    monkeypatch.setattr(matrix_market_body, "mmread", refuse)
    message = refusal(tmp_path / "a.mtx", REAL + "1 1 1\n\n1 1 1\n")
    assert "line 3: " in message
    assert "odd" in message
