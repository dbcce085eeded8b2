"""Sparse matrices in ``.npz`` files, as `scipy.sparse.save_npz` writes them: one rule for each layout.

The lengths of all arrays are compared before one of them is read; then what they hold is compared with the
shape, because SciPy's kernels trust it and would read outside of the arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array, sparray

from sparse_tir.io.npz_archive import NpzArchive

Shape = tuple[int, int]
_NUMBERS, _INTEGERS, _TEXT = "biufc", "iu", "SU"
_LARGEST = 2**63 - 1


def read_npz(path: str, where: str) -> sparray:
    """Read an ``.npz`` file; `where` is the call that messages name. See `sparse_tir.io.load_matrix`."""
    with NpzArchive(path, where) as archive:
        layout = _layout(archive)
        return _LAYOUTS[layout](archive, _shape(archive))


def _layout(archive: NpzArchive) -> str:
    known = "one of " + ", ".join(_LAYOUTS)
    member = archive.member("format", _TEXT, (), f"the name of a layout, {known}")
    if member.dtype.itemsize > 64:
        archive.fail(member, known)
    try:
        value = archive.read(member).item()
    except ValueError:  # code points that no text has
        archive.fail(member, known)
    name = value.decode("ascii", "backslashreplace") if isinstance(value, bytes) else value
    if name not in _LAYOUTS:
        archive.fail(f"member format is {name!r}", known)
    return str(name)


def _shape(archive: NpzArchive) -> Shape:
    expected = "the number of rows and the number of columns"
    n_rows, n_cols = (int(n) for n in archive.read(archive.member("shape", _INTEGERS, (2,), expected)))
    if not (0 <= n_rows <= _LARGEST and 0 <= n_cols <= _LARGEST):
        archive.fail(f"member shape is ({n_rows}, {n_cols})", f"{expected}, each from 0 to {_LARGEST}")
    return n_rows, n_cols


# ---- layouts


def _read_coo(archive: NpzArchive, shape: Shape) -> coo_array:
    data = archive.member("data", _NUMBERS, (None,), "the values, one axis of numbers")
    n = data.shape[0]
    if "coords" in archive:
        names = ("coords[0]", "coords[1]")
        member = archive.member("coords", _INTEGERS, (2, n), f"2 rows of {n} integers, as many as data")
        row, col = archive.read(member)
    else:
        names = ("row", "col")
        members = [archive.member(name, _INTEGERS, (n,), f"{n} integers, as many as data") for name in names]
        row, col = (archive.read(member) for member in members)
    row = _checked_indices(archive, names[0], row, shape[0])
    col = _checked_indices(archive, names[1], col, shape[1])
    return coo_array((archive.read(data), (row, col)), shape=shape)


def _read_csr(archive: NpzArchive, shape: Shape) -> csr_array:
    return csr_array(_read_compressed(archive, shape[0], shape[1], (None,)), shape=shape)


def _read_csc(archive: NpzArchive, shape: Shape) -> csc_array:
    return csc_array(_read_compressed(archive, shape[1], shape[0], (None,)), shape=shape)


def _read_bsr(archive: NpzArchive, shape: Shape) -> bsr_array:
    data = archive.member("data", _NUMBERS, (None, None, None), "the blocks, three axes of numbers")
    block = data.shape[1:]
    if 0 in block or any(n % size for n, size in zip(shape, block, strict=True)):
        archive.fail(data, f"blocks whose sides divide {shape[0]} and {shape[1]}")
    arrays = _read_compressed(archive, shape[0] // block[0], shape[1] // block[1], (None, *block))
    return bsr_array(arrays, shape=shape, blocksize=block)


def _read_dia(archive: NpzArchive, shape: Shape) -> dia_array:
    data = archive.member("data", _NUMBERS, (None, None), "the diagonals, two axes of numbers")
    n = data.shape[0]
    member = archive.member("offsets", _INTEGERS, (n,), f"{n} integers, one for each row of data")
    values, offsets = archive.read(data), archive.read(member)
    if len(np.unique(offsets)) != n:
        archive.fail("member offsets has repeats", "each diagonal once")
    inside = (offsets > -shape[0]) & (offsets < shape[1])  # others hold no entry, but overflow in SciPy
    return dia_array((values[inside], _index_type(offsets[inside])), shape=shape)


_LAYOUTS: dict[str, Callable[[NpzArchive, Shape], sparray]] = {
    "csr": _read_csr,
    "csc": _read_csc,
    "coo": _read_coo,
    "bsr": _read_bsr,
    "dia": _read_dia,
}


# ---- structure arrays


def _read_compressed(
    archive: NpzArchive, n_major: int, n_minor: int, entry: tuple[int | None, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays ``(data, indices, indptr)`` of ``n_major`` segments of numbers below ``n_minor``.

    What stands before ``indptr[0]`` is left out: it is in no segment, and SciPy wants ``indptr[0] == 0``.
    """
    data_member = archive.member("data", _NUMBERS, entry, "the values, one axis of numbers")
    n = data_member.shape[0]
    indices_member = archive.member("indices", _INTEGERS, (n,), f"{n} integers, as many as data")
    why = f"{n_major + 1} integers, one more than the {n_major} segments"
    indptr = archive.read(archive.member("indptr", _INTEGERS, (n_major + 1,), why))
    if indptr[-1] != n:
        archive.fail(f"member indptr ends at {indptr[-1]}", f"{n}, the number of stored entries")
    falls = indptr[1:] < indptr[:-1]
    if indptr[0] < 0 or falls.any():
        place = int(falls.argmax()) if falls.any() else 0
        found = f"member indptr holds {indptr[place : place + 2].tolist()} at {place}"
        archive.fail(found, "numbers from 0 on that never fall")
    indices = _checked_indices(archive, "indices", archive.read(indices_member), n_minor)
    data = archive.read(data_member)
    start, indptr = int(indptr[0]), _index_type(indptr)
    return (data[start:], indices[start:], indptr - start) if start else (data, indices, indptr)


def _checked_indices(archive: NpzArchive, name: str, indices: np.ndarray, size: int) -> np.ndarray:
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        place = int(((indices < 0) | (indices >= size)).argmax())
        archive.fail(f"member {name} holds {indices[place]} at {place}", f"numbers from 0 to {size - 1}")
    return _index_type(indices)


def _index_type(indices: np.ndarray) -> np.ndarray:
    """Indices that are known to fit, in one of the two types that SciPy has kernels for."""
    return indices if indices.dtype in (np.int32, np.int64) else indices.astype(np.int64)
