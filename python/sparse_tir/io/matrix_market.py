"""Matrix Market files (``.mtx``, ``.mtx.gz``): https://math.nist.gov/MatrixMarket/formats.html."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import islice
from typing import BinaryIO, NoReturn, cast

import numpy as np
from scipy.sparse import coo_array

from sparse_tir.io.matrix_market_body import Body, entry_lines, read_body
from sparse_tir.io.matrix_market_header import Header, malformed, read_header

Refuse = Callable[[int, str], NoReturn]
"""Raises the error of an entry, given by its number, counted from 0."""


def read_matrix_market(path: str, where: str) -> coo_array:
    """Read a Matrix Market file; `where` is the call that messages name. See `sparse_tir.io.load_matrix`."""
    with _open(path) as stream:
        header = read_header(stream, where)
        body = read_body(stream, header, where)

    def refuse(entry: int, found: str) -> NoReturn:
        with _open(path) as again:
            lines = entry_lines(again, read_header(again, where))
            malformed(where, next(islice(lines, entry, None)), found)

    rows, cols = body.coords or _listed_coords(header, len(body.values))
    _check_symmetry(header, rows, cols, body.values, refuse)
    rows, cols, values = _stored(header, Body((rows, cols), body.values))
    rows, cols, values = _mirrored(header.symmetry, rows, cols, values)
    return coo_array((values, (rows, cols)), shape=(header.n_rows, header.n_cols))


def _open(path: str) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb"))


def _listed_coords(header: Header, n_entries: int) -> tuple[np.ndarray, np.ndarray]:
    """The place of each value of an array file: column by column, all rows or those of the lower triangle."""
    n_rows, n_cols = header.n_rows, header.n_cols
    if n_entries == 0:  # such a matrix may have any number of columns: no array of that length
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    columns = np.arange(n_cols)
    first = {"general": 0 * columns, "skew-symmetric": columns + 1}.get(header.symmetry, columns)
    lengths = n_rows - first
    cols = np.repeat(columns, lengths)
    ends = np.cumsum(lengths)
    rows = np.arange(n_entries) - np.repeat(ends - lengths - first, lengths)
    return rows, cols


def _stored(header: Header, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries: all lines of a coordinate file (explicit zeros too), the nonzeros of an array file."""
    rows, cols = cast(tuple[np.ndarray, np.ndarray], body.coords)
    if header.layout == "coordinate":
        return rows, cols, body.values
    kept = np.flatnonzero(body.values)
    return rows[kept], cols[kept], body.values[kept]


def _check_symmetry(
    header: Header, rows: np.ndarray, cols: np.ndarray, values: np.ndarray, refuse: Refuse
) -> None:
    """Refuse entries that contradict the symmetry of the header."""
    if header.symmetry == "general":
        return
    if header.symmetry == "skew-symmetric":
        _refuse_first((rows == cols) & (values != 0), "a skew-symmetric matrix has a zero diagonal", refuse)
        if header.field == "integer":
            smallest = np.iinfo(np.int64).min
            _refuse_first(values == smallest, f"{smallest} has no opposite in int64", refuse)
    if header.symmetry == "hermitian":
        _refuse_first((rows == cols) & (values.imag != 0), "a hermitian matrix has a real diagonal", refuse)
    if (rows < cols).any() and (rows > cols).any():
        _refuse_both_sides(rows, cols, header.symmetry, refuse)


def _refuse_first(wrong: np.ndarray, found: str, refuse: Refuse) -> None:
    if wrong.any():
        refuse(int(wrong.argmax()), found)


def _refuse_both_sides(rows: np.ndarray, cols: np.ndarray, symmetry: str, refuse: Refuse) -> None:
    """Refuse a file that lists a place and its mirror: each would be counted twice.

    The format wants the lower triangle only. Files with each place on either side exist, and are clear.
    """
    low, high, above = np.minimum(rows, cols), np.maximum(rows, cols), rows < cols
    order = np.lexsort((above, high, low))  # the same pair stands together, one side before the other
    a, b = order[:-1], order[1:]
    both = (low[a] == low[b]) & (high[a] == high[b]) & (above[a] != above[b])
    if both.any():
        entry = int(np.maximum(a[both], b[both]).min())
        place = f"row {rows[entry] + 1}, column {cols[entry] + 1}"
        refuse(entry, f"{place} has its mirror in the file too, and a {symmetry} file lists one of them")


def _mirrored(
    symmetry: str, rows: np.ndarray, cols: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries, followed by those of the triangle that the file leaves out."""
    if symmetry == "general":
        return rows, cols, values
    off = rows != cols
    other = values[off]
    if symmetry == "skew-symmetric":
        other = -other
    elif symmetry == "hermitian":
        other = other.conj()
    return (
        np.concatenate((rows, cols[off])),
        np.concatenate((cols, rows[off])),
        np.concatenate((values, other)),
    )
