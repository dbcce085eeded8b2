"""The body of a Matrix Market file: one entry in each line.

SciPy's reader is fast, but it is made for good files: it reserves memory for as many entries as the header
claims, reads ``1.5abc`` as 1.5 and ``1e3`` in an integer file as 1, drops further words, and can crash at a
zero byte. So the file goes through it in blocks, and only after every line of the block has been seen to have
a good *shape*: the line with each run of digits written as one ``0`` and each run of blanks as one blank. A
block has many thousands of lines, but few shapes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO, NoReturn

import numpy as np
from scipy.io import mmread

from sparse_tir.io.matrix_market_header import LONGEST_LINE, Header, malformed, shown

_BLOCK_BYTES = 1 << 20
_BLANK, _DIGIT = b" ", b"0"
_NUMBER = {
    "real": re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE),
    "integer": re.compile(rb"[+-]?\d+"),
    "unsigned-integer": re.compile(rb"\+?\d+"),
}
_NUMBER["complex"] = _NUMBER["real"]
_RANGE = {"integer": np.iinfo(np.int64), "unsigned-integer": np.iinfo(np.uint64)}
_LEADING_PLUS = re.compile(rb"(^|[ \t])\+", re.MULTILINE)
_DTYPE = {
    "real": np.float64,
    "integer": np.int64,
    "unsigned-integer": np.uint64,
    "complex": np.complex128,
    "pattern": np.float32,
}


@dataclass(frozen=True)
class Body:
    """The entries in the order of the file, counted from 0.

    ``coords`` is ``(rows, cols)``, each of shape ``(n_entries,)``, or None for an array file; ``values`` has
    shape ``(n_entries,)``.
    """

    coords: tuple[np.ndarray, np.ndarray] | None
    values: np.ndarray


def read_body(stream: BinaryIO, header: Header, where: str) -> Body:
    """Read all entries and make sure that there are as many as the header promises."""
    grammar = _Grammar(header)
    parts: list[list[np.ndarray]] = []
    n_seen, line = 0, header.line + 1
    while block := _read_block(stream):
        lines = _line_shapes(block)
        shapes = set(lines)
        n_new = grammar.count_entries(lines, shapes)
        if not grammar.is_good(shapes) or n_seen + n_new > header.n_entries:
            _explain(block, header, n_seen, line, where, "not an entry")
        if len(block) == _BLOCK_BYTES + LONGEST_LINE and not block.endswith(b"\n"):
            malformed(where, line + len(lines) - 1, f"more than {LONGEST_LINE} bytes")
        try:
            parts += [_parse(_plain(block, shapes), header, n_new)] if n_new else []
        except (ValueError, OverflowError) as problem:  # SciPy's words have the line of the block
            _explain(block, header, n_seen, line, where, str(problem))
        n_seen += n_new
        line += len(lines)
    if n_seen < header.n_entries:
        malformed(where, line - 1, f"the file ends after {n_seen} of {header.n_entries} promised entries")
    return _joined(parts, header)


def entry_lines(stream: BinaryIO, header: Header) -> Iterator[int]:
    """The line number of each entry in turn; the stream is at the first line of a body known to be good."""
    for number, line in enumerate(stream, header.line + 1):
        if line.strip() and not line.lstrip().startswith(b"%"):
            yield number


def _read_block(stream: BinaryIO) -> bytes:
    """A megabyte or so that ends with a line, or inside of one that is too long; empty at the end."""
    block = stream.read(_BLOCK_BYTES)
    return block if block.endswith(b"\n") else block + stream.readline(LONGEST_LINE)


# ---- shapes


def _shape_table() -> bytes:
    """The kind of each byte: blank, digit, letter of a number (lower case), ``x`` for what no number has."""
    table = bytearray(b"x" * 256)
    for byte in b"\r\n+-.%nafityeNAFITYE":
        table[byte] = ord(chr(byte).lower())
    for byte in b"0123456789":
        table[byte] = ord(_DIGIT)
    for byte in b" \t":
        table[byte] = ord(_BLANK)
    return bytes(table)


_KINDS = _shape_table()


def _line_shapes(block: bytes) -> list[bytes]:
    """The shape of each line of a block."""
    kinds = np.frombuffer(block.translate(_KINDS), np.uint8)
    starts = np.ones(len(kinds), bool)
    np.not_equal(kinds[1:], kinds[:-1], out=starts[1:])
    starts |= (kinds != ord(_DIGIT)) & (kinds != ord(_BLANK))  # runs of other kinds stay as long as they are
    lines = kinds[starts].tobytes().split(b"\n")
    return lines[:-1] if block.endswith(b"\n") else lines


class _Grammar:
    """Which shapes of lines the header allows."""

    def __init__(self, header: Header) -> None:
        number = _NUMBER.get(header.field, _NUMBER["real"]).pattern
        words = [rb"\+?\d+"] * header.n_index_words + [rb"(?:" + number + rb")"] * header.n_value_words
        self._entry = re.compile(rb" ?" + rb" ".join(words) + rb"[ \r]*", re.IGNORECASE)

    def is_entry(self, shape: bytes) -> bool:
        return self._entry.fullmatch(shape) is not None

    def is_good(self, shapes: set[bytes]) -> bool:
        """Whether each line is an entry, a comment or blank."""
        return all(self.is_entry(shape) or _is_comment(shape) or not shape.strip(b" \r") for shape in shapes)

    def count_entries(self, lines: list[bytes], shapes: set[bytes]) -> int:
        """Number of lines that are entries; ``shapes`` are their different shapes."""
        if all(map(self.is_entry, shapes)):
            return len(lines)
        return sum(n for shape, n in Counter(lines).items() if self.is_entry(shape))


def _is_comment(line: bytes) -> bool:
    return line.lstrip(b" \t").startswith(b"%")


def _plain(block: bytes, shapes: set[bytes]) -> bytes:
    """The block without what is right but SciPy does not read: comments, and plus signs before numbers.

    It ends with a line feed: at a last line that ends with a blank instead, SciPy reads on behind its memory.
    """
    if any(map(_is_comment, shapes)):
        block = b"\n".join(line for line in block.split(b"\n") if not _is_comment(line))
    if any(b" +" in b" " + shape for shape in shapes):
        block = _LEADING_PLUS.sub(rb"\1", block)
    return block if block.endswith(b"\n") else block + b"\n"


# ---- numbers


def _parse(block: bytes, header: Header, n_new: int) -> list[np.ndarray]:
    """The arrays of ``n_new`` good-looking lines: rows and columns (of a coordinate file), then values."""
    sizes = (header.n_rows, header.n_cols, n_new) if header.layout == "coordinate" else (n_new, 1)
    banner = f"%%MatrixMarket matrix {header.layout} {header.field} general\n{' '.join(map(str, sizes))}\n"
    matrix: Any = mmread(BytesIO(banner.encode("ascii") + block))
    if header.layout == "array":
        return [matrix.ravel()]
    if header.field == "pattern":
        return [matrix.row, matrix.col]
    return [matrix.row, matrix.col, matrix.data]


def _joined(parts: list[list[np.ndarray]], header: Header) -> Body:
    dtype = _DTYPE[header.field]
    if not parts:
        empty = np.zeros(0, np.int32)
        return Body((empty, empty) if header.layout == "coordinate" else None, np.zeros(0, dtype))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if header.layout == "array":
        return Body(None, columns[0])
    values = np.ones(header.n_entries, dtype) if header.field == "pattern" else columns[2]
    return Body((columns[0], columns[1]), values)


# ---- reasons


def _explain(block: bytes, header: Header, n_seen: int, first: int, where: str, otherwise: str) -> NoReturn:
    """Raise the error of the first wrong line of a block, or ``otherwise`` for the block as a whole."""
    for number, line in enumerate(block.split(b"\n"), first):
        text = line.rstrip(b" \t\r").lstrip(b" \t")
        if not text or text.startswith(b"%"):
            continue
        if n_seen == header.n_entries:
            malformed(where, number, f"more than the {header.n_entries} promised entries")
        n_seen += 1
        words = re.split(rb"[ \t]+", text)
        _check_n_words(words, header, number, where)
        for word, name, size in zip(words, ("row", "column"), (header.n_rows, header.n_cols), strict=False):
            if header.layout == "coordinate":
                _check_index(word, name, size, number, where)
        for word in words[header.n_index_words :]:
            _check_value(word, header.field, number, where)
    n_lines = block.count(b"\n")
    malformed(where, first, f"{otherwise} (in this line or the {n_lines} that follow)")


def _check_n_words(words: list[bytes], header: Header, line: int, where: str) -> None:
    n_words = header.n_index_words + header.n_value_words
    names = ["row", "column"][: header.n_index_words]
    names += {0: [], 1: ["value"], 2: ["real part", "imaginary part"]}[header.n_value_words]
    expected = f"{n_words} in a line of {header.layout} {header.field}: {', '.join(names)}"
    if len(words) < n_words:
        malformed(where, line, f"{names[len(words)]} missing", expected)
    if len(words) > n_words:
        malformed(where, line, f"{len(words)} words: {shown(b' '.join(words))}", expected)


def _check_index(word: bytes, name: str, size: int, line: int, where: str) -> None:
    if not _NUMBER["integer"].fullmatch(word):
        malformed(where, line, f"{name} {shown(word)} is not a whole number")
    if word.startswith(b"-") or not word.lstrip(b"+0"):
        malformed(where, line, f"{name} {shown(word)}, {name}s count from 1")
    digits = word.lstrip(b"+0")
    if len(digits) > len(str(size)) or int(digits) > size:
        malformed(where, line, f"{name} {shown(word)} of {size}")


def _check_value(word: bytes, field: str, line: int, where: str) -> None:
    if not _NUMBER[field].fullmatch(word):
        malformed(where, line, f"{shown(word)} is not a number of field {field}")
    limits = _RANGE.get(field)
    if limits is None:
        return
    digits = word.lstrip(b"+-0")
    too_long = len(digits) > len(str(limits.max))
    if too_long or not limits.min <= int(word) <= limits.max:
        malformed(where, line, f"{shown(word)} is too large", f"{limits.min} to {limits.max}")
