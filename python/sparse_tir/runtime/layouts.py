"""Reading foreign sparse objects: SciPy's layouts and PyTorch's, as CSR pattern and values.

The arrays are taken as raw attributes and checked before anything walks them: users assign to the
attributes of these objects, and the libraries' own conversions can crash on what is then in there. CSR
keeps the arrays; the other layouts are converted in linear time, repeats kept.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import as_input, as_operand
from sparse_tir.runtime.pattern import Pattern, check_shape, validate_csr, validate_indices, validate_indptr
from sparse_tir.runtime.structure import as_structure, counting_order, rows_of_positions

__all__ = ["Parts", "as_values", "read_csr", "read_scipy", "read_torch"]

Parts = tuple[Pattern, NDArray[Any]]
Shape = tuple[int, int]
_LAYOUTS = "csr, csc, coo, bsr, dia, lil or dok"


def as_values(data: Any, nnz: int, where: str) -> NDArray[Any]:
    """The values as a contiguous array of length nnz, without copying where possible.

    Raises
    ------
    DataError
        ST106 length; ST150 not an array; ST151 not one-dimensional; ST155 device; ST156 not numbers.
    """
    return _as_values(data, nnz, where, ndim=1)


def read_csr(indptr: Any, indices: Any, data: Any, shape: Any, policy: str, where: str) -> Parts:
    """CSR arrays under a policy (see `validate_csr`), without copying."""
    pattern = validate_csr(indptr, indices, shape, where=where, policy=policy)
    return pattern, as_values(data, pattern.nnz, where)


def read_scipy(A: Any, policy: str, where: str) -> Parts:
    """A SciPy sparse array or matrix of any layout."""
    layout = str(A.format)
    if len(A.shape) != 2:
        found = f"a SciPy sparse array with {len(A.shape)} dimensions"
        raise errors.error("ST101", where, found, "a sparse matrix with two dimensions")
    shape = check_shape(A.shape, where)
    if layout == "csr":
        return read_csr(A.indptr, A.indices, A.data, shape, policy, where)
    if layout not in _SCIPY_READERS:
        raise errors.error("ST101", where, f"a SciPy layout {layout!r}", _LAYOUTS)
    return _SCIPY_READERS[layout](A, shape, where)


def read_torch(A: Any, policy: str, where: str) -> Parts:
    """A sparse PyTorch tensor on the CPU: CSR (no copy), CSC, COO or BSR."""
    layout = str(getattr(A, "layout", "no layout")).removeprefix("torch.")
    if layout not in ("sparse_csr", "sparse_csc", "sparse_coo", "sparse_bsr"):
        hint = "make it sparse, such as with A.to_sparse_csr()"
        expected = "a sparse torch tensor: CSR, CSC, COO or BSR"
        raise errors.error("ST101", where, f"a torch object with {layout}", expected, hint)
    if A.device.type != "cpu":
        raise errors.error("ST155", where, f"a tensor on device {A.device}", "the CPU")
    shape = check_shape(tuple(A.shape), where)
    A = A.detach()
    if layout == "sparse_coo":
        coordinates = A._indices()  # the public method refuses tensors with repeats
        if len(coordinates) != 2:
            raise errors.error(
                "ST101", where, "a hybrid tensor with a dense dimension", "two sparse dimensions"
            )
        return _read_coo(coordinates[0], coordinates[1], A._values(), shape, where)
    if layout == "sparse_csr":
        return read_csr(A.crow_indices(), A.col_indices(), A.values(), shape, policy, where)
    if layout == "sparse_csc":
        return _read_csc(A.ccol_indices(), A.row_indices(), A.values(), shape, where)
    return _read_bsr(A.crow_indices(), A.col_indices(), A.values(), shape, where)


def _as_values(data: Any, nnz: int, where: str, *, ndim: int, what: str = "column indices") -> NDArray[Any]:
    values = as_operand(data, name="data", where=where)
    if values.dtype.kind not in "biufc" and values.dtype.type.__module__ != "ml_dtypes":
        found = f"data has dtype {values.dtype}"
        raise errors.error("ST156", f"{where}.data", found, "bool, integer, float or complex numbers")
    values = as_input(values, ndim=ndim, name="data", where=where)
    if len(values) != nnz:
        found = f"{nnz} {what} against {len(values)} values"
        raise errors.error("ST106", f"{where}.data", found, "one value for each index")
    return values


def _read_csc(indptr: Any, indices: Any, data: Any, shape: Shape, where: str) -> Parts:
    n_rows, n_cols = shape
    rows = as_structure(indices, where=where, name="indices")
    indptr = validate_indptr(indptr, n_cols, rows.size, where, parent="column")
    start = int(indptr[0])
    rows = validate_indices(rows, n_rows, where, what="row", start=start)
    values = _as_values(data, rows.size, where, ndim=1, what="row indices")
    columns = _narrow(rows_of_positions(indptr, rows.size), n_cols)
    return _sort_by_row(rows[start:], columns[start:], values[start:], shape, where)


def _read_coo(row: Any, col: Any, data: Any, shape: Shape, where: str) -> Parts:
    rows = validate_indices(row, shape[0], where, name="row", what="row")
    columns = validate_indices(col, shape[1], where, name="col")
    if rows.size != columns.size:
        found = f"{rows.size} row indices against {columns.size} column indices"
        raise errors.error("ST102", f"{where}.row", found, "as many rows as columns")
    return _sort_by_row(rows, columns, as_values(data, columns.size, where), shape, where)


def _read_bsr(indptr: Any, indices: Any, data: Any, shape: Shape, where: str) -> Parts:
    """Blocks (nnzb, r, c): every element of a stored block is stored."""
    blocks = as_operand(data, name="data", where=where)
    if blocks.ndim != 3 or 0 in blocks.shape[1:] or shape[0] % blocks.shape[1] or shape[1] % blocks.shape[2]:
        found = f"BSR blocks of shape {blocks.shape} for a matrix of shape {shape}"
        expected = "data (nnzb, r, c) where r divides m and c divides n"
        raise errors.error("ST101", f"{where}.data", found, expected)
    n, r, c = blocks.shape
    pattern = validate_csr(indptr, indices, (shape[0] // r, shape[1] // c), where=where)
    values = _as_values(blocks, pattern.nnz, where, ndim=3, what="block column indices")
    start = int(pattern.indptr[0])
    block_rows = rows_of_positions(pattern.indptr, n)[start:, None, None]
    block_columns = pattern.indices[start:, None, None].astype(np.int64)
    live = (n - start, r, c)
    rows = np.broadcast_to(block_rows * r + np.arange(r)[:, None], live).reshape(-1)
    columns = np.broadcast_to(block_columns * c + np.arange(c), live).reshape(-1)
    return _sort_by_row(rows, _narrow(columns, shape[1]), values[start:].reshape(-1), shape, where)


def _read_dia(offsets: Any, data: Any, shape: Shape, where: str) -> Parts:
    """Diagonals: element (j - offset, j) is ``data[d, j]``. Zeros are fill, as in SciPy's own conversion."""
    n_rows, n_cols = shape
    steps = as_structure(offsets, where=where, name="offsets").astype(np.int64)
    values = _as_values(data, steps.size, where, ndim=2, what="offsets")
    columns = np.arange(min(values.shape[1], n_cols))
    rows = columns - steps[:, None]  # may wrap, but only to negative numbers, which are outside
    kept = values[:, : columns.size]
    diagonal, column = np.nonzero((rows >= 0) & (rows < n_rows) & (kept != 0))
    row = rows[diagonal, column]
    return _sort_by_row(row, _narrow(column, n_cols), kept[diagonal, column], shape, where)


def _read_lil(A: Any, shape: Shape, where: str) -> Parts:
    """Lists of columns and values, row by row."""
    try:
        lengths = [len(row) for row in A.rows]
        if lengths != [len(row) for row in A.data]:
            raise ValueError("rows and data differ in length")
        columns = np.array(list(chain.from_iterable(A.rows)) or np.empty(0, np.int32))
        values = np.array(list(chain.from_iterable(A.data)), dtype=A.dtype)
    except (TypeError, ValueError, OverflowError) as reason:
        found = f"a LIL matrix with broken lists ({reason})"
        expected = "one list of columns and one of values for each row"
        raise errors.error("ST101", where, found, expected) from reason
    indptr = np.cumsum([0, *lengths])
    pattern, values = read_csr(indptr, columns, values, shape, "validate", where)
    narrow = Pattern(
        shape, _narrow(pattern.indptr, pattern.nnz), _narrow(pattern.indices, shape[1]), is_validated=True
    )
    return narrow, values


def _read_dok(A: Any, shape: Shape, where: str) -> Parts:
    """A dictionary from (i, j) to the value."""
    items = dict(A.items())
    try:
        places = np.array(list(items) or np.empty((0, 2), np.int32)).reshape(-1, 2)
        values = np.array(list(items.values()), dtype=A.dtype)
    except (TypeError, ValueError, OverflowError) as reason:
        found = f"a DOK matrix with broken keys or values ({reason})"
        raise errors.error("ST101", where, found, "keys (i, j) and numbers") from reason
    rows = validate_indices(places[:, 0], shape[0], where, name="row", what="row")
    columns = validate_indices(places[:, 1], shape[1], where, name="col")
    return _sort_by_row(rows, _narrow(columns, shape[1]), as_values(values, rows.size, where), shape, where)


_SCIPY_READERS: dict[str, Callable[[Any, Shape, str], Parts]] = {
    "csc": lambda A, shape, where: _read_csc(A.indptr, A.indices, A.data, shape, where),
    "coo": lambda A, shape, where: _read_coo(A.row, A.col, A.data, shape, where),
    "bsr": lambda A, shape, where: _read_bsr(A.indptr, A.indices, A.data, shape, where),
    "dia": lambda A, shape, where: _read_dia(A.offsets, A.data, shape, where),
    "lil": _read_lil,
    "dok": _read_dok,
}


def _index_dtype(largest: int) -> type[np.signedinteger[Any]]:
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def _narrow(numbers: NDArray[Any], largest: int) -> NDArray[Any]:
    return numbers.astype(_index_dtype(largest), copy=False)


def _sort_by_row(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], shape: Shape, where: str
) -> Parts:
    """CSR of validated triplets in a stable order, repeats kept; no copy of what is in row order already."""
    if np.any(rows[1:] < rows[:-1]):
        order = counting_order(rows)
        rows, columns, values = rows[order], columns[order], values[order]
    # One width for both arrays, unless the count needs more: fewer kinds of kernels.
    width = columns.dtype if columns.dtype == np.int64 else _index_dtype(columns.size)
    try:
        indptr = np.zeros(shape[0] + 1, dtype=width)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    except (MemoryError, OverflowError, ValueError) as reason:  # the last two: beyond what NumPy can address
        found = f"{shape[0]} rows, whose row pointer does not fit into memory"
        raise errors.error("ST102", where, found, "fewer rows") from reason
    return Pattern(shape, indptr, columns, is_validated=True), values
