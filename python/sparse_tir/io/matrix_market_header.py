"""The head of a Matrix Market file: banner, comments and size line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from sparse_tir import errors

LONGEST_LINE = 1 << 16
"""No line but a comment is longer than this many bytes (the specification says 1024)."""
_LARGEST = 2**63 - 1
_UTF8_MARK = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DISGUISES = {
    b"\x1f\x8b": "it is compressed by gzip: name it .mtx.gz",
    b"\xff\xfe": "it is UTF-16 text: save it as ASCII",
    b"\xfe\xff": "it is UTF-16 text: save it as ASCII",
    b"PK": "it is a zip archive: unpack it, or name it .npz if SciPy wrote it",
}

LAYOUTS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "unsigned-integer", "complex", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class Header:
    """What the head of the file claims; all numbers are in ``0 .. 2**63 - 1``.

    ``n_entries`` is the number of entries that have to follow, one in a line; ``line`` is the number of the
    size line, counted from 1.
    """

    layout: str
    field: str
    symmetry: str
    n_rows: int
    n_cols: int
    n_entries: int
    line: int

    @property
    def n_index_words(self) -> int:
        """Number of coordinates that a line of the body begins with."""
        return 2 if self.layout == "coordinate" else 0

    @property
    def n_value_words(self) -> int:
        """Number of words for the value that a line of the body ends with."""
        return {"pattern": 0, "complex": 2}.get(self.field, 1)


_ALLOWED = "what the format allows in this line"


def malformed(
    where: str, line: int, found: str, expected: str = _ALLOWED, hint: str | None = None
) -> NoReturn:
    """Refuse the file because of one of its lines (ST134)."""
    raise errors.error("ST134", where, f"line {line}: {found}", expected, hint)


def shown(word: str | bytes) -> str:
    """A word of the file, short and printable enough for a message."""
    text = word.decode("ascii", "backslashreplace") if isinstance(word, bytes) else word
    text = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return text if len(text) <= 40 else f"{text[:40]}..."


def read_header(stream: BinaryIO, where: str) -> Header:
    """Read up to and including the size line.

    Parameters
    ----------
    stream
        The file, at its beginning; afterwards at the first line of the body.
    where
        The call, for messages.
    """
    layout, field, symmetry = _read_banner(stream, where)
    line, words = _read_size_line(stream, where)
    n_numbers = 3 if layout == "coordinate" else 2
    names = ("rows", "columns", "entry count")[:n_numbers]
    if len(words) != n_numbers:
        found = f"{len(words)} sizes: {shown(' '.join(words))}"
        malformed(where, line, found, f"{n_numbers}: {', '.join(names)}")
    numbers = [_size(word, name, line, where) for word, name in zip(words, names, strict=True)]
    n_rows, n_cols = numbers[:2]
    if symmetry != "general" and n_rows != n_cols:
        malformed(where, line, f"{n_rows} x {n_cols} is {symmetry}, but not square")
    n_entries = numbers[2] if layout == "coordinate" else _n_listed(n_rows, n_cols, symmetry)
    if n_entries > _LARGEST:
        malformed(where, line, f"{n_rows} x {n_cols} is too large", f"at most {_LARGEST} values")
    return Header(layout, field, symmetry, n_rows, n_cols, n_entries, line)


def _read_banner(stream: BinaryIO, where: str) -> tuple[str, str, str]:
    first = stream.readline(LONGEST_LINE)
    expected = "%%MatrixMarket matrix coordinate real general, or other words in its places"
    if not first:
        malformed(where, 1, "the file is empty", expected)
    words = first.removeprefix(_UTF8_MARK).decode("latin-1").lower().split()
    if not words or words[0] not in ("%%matrixmarket", "%matrixmarket"):
        hint = next((hint for start, hint in _DISGUISES.items() if first.startswith(start)), None)
        malformed(where, 1, "no MatrixMarket banner", expected, hint)
    if b"\r" in first.rstrip(b"\r\n"):
        malformed(where, 1, "a carriage return inside the line", "lines that end with LF or CR LF")
    places = {"object": ("matrix",), "layout": LAYOUTS, "field": FIELDS, "symmetry": SYMMETRIES}
    for word, (place, known) in zip([*words[1:5], *[""] * 4], places.items(), strict=False):
        if word not in known:
            found = f"{place} {shown(word)}" if word else f"no {place}"
            malformed(where, 1, found, "one of " + ", ".join(known))
    if len(words) > 5:
        malformed(where, 1, f"{shown(words[5])} after the symmetry", expected)
    _, layout, field, symmetry = words[1:]
    _check_combination(layout, field, symmetry, where)
    return layout, "real" if field == "double" else field, symmetry


def _check_combination(layout: str, field: str, symmetry: str, where: str) -> None:
    """Refuse words that contradict each other, by the table of the specification."""
    pairs = {
        "array": ("pattern",),
        "skew-symmetric": ("pattern", "unsigned-integer"),
        "hermitian": tuple(name for name in FIELDS if name != "complex"),
    }
    for word in (layout, symmetry):
        if field in pairs.get(word, ()):
            malformed(where, 1, f"field {field} cannot be {word}")


def _read_size_line(stream: BinaryIO, where: str) -> tuple[int, list[str]]:
    number = 1
    while line := stream.readline(LONGEST_LINE):
        number += 1
        text = line.strip(b" \t\r\n")
        if text and not text.startswith(b"%"):
            return number, text.decode("latin-1").split()
        while line and not line.endswith(b"\n"):  # the rest of a long comment, piece by piece
            line = stream.readline(LONGEST_LINE)
    malformed(where, number, "the file ends before the size line")


def _size(word: str, name: str, line: int, where: str) -> int:
    if not _INTEGER.fullmatch(word):
        malformed(where, line, f"{name} {shown(word)}", "a whole number")
    if word.startswith("-") and word.strip("-0"):
        malformed(where, line, f"size {shown(word)} ({name})", "no negative size")
    digits = word.lstrip("+-0")
    # The length first: Python refuses to convert thousands of digits.
    if len(digits) > len(str(_LARGEST)) or int(digits or "0") > _LARGEST:
        malformed(where, line, f"{name} {shown(word)} is too large", f"at most {_LARGEST}")
    return int(digits or "0")


def _n_listed(n_rows: int, n_cols: int, symmetry: str) -> int:
    """Number of values that an array file lists: all, or one triangle with or without the diagonal."""
    if symmetry == "general":
        return n_rows * n_cols
    return n_rows * (n_rows - 1) // 2 + (0 if symmetry == "skew-symmetric" else n_rows)
