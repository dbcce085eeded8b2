"""One function for all matrix files: the ending of the name chooses the reader."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

from scipy.sparse import sparray

from sparse_tir import errors
from sparse_tir.io.matrix_market import read_matrix_market
from sparse_tir.io.npz import read_npz

READERS: dict[str, Callable[[str, str], sparray]] = {
    ".npz": read_npz,
    ".mtx": read_matrix_market,
    ".mtx.gz": read_matrix_market,
}
"""Ending of the file name (in lower case) to the function ``(path, where) -> sparse array`` that reads it."""


def load_matrix(path: str | os.PathLike[str]) -> sparray:
    """Read a sparse matrix from a file.

    =============  =======================================================  ==================================
    ending         content                                                  result
    =============  =======================================================  ==================================
    ``.npz``       what ``scipy.sparse.save_npz`` writes, compressed or     the layout and dtype of the file:
                   not                                                      csr, csc, coo, bsr or dia array
    ``.mtx``,      Matrix Market: ``coordinate`` or ``array``; all fields   ``coo_array`` with every stored
    ``.mtx.gz``    and symmetries                                           entry; repeats are kept, so they
                                                                            add up
    =============  =======================================================  ==================================

    A Matrix Market field keeps its kind: ``real`` is float64, ``integer`` int64, ``unsigned-integer`` uint64,
    ``complex`` complex128 and ``pattern`` float32 ones. The triangle that a symmetric, skew-symmetric or
    hermitian file leaves out is filled in, after the entries of the file; the diagonal is not doubled. Of an
    ``array`` file the values other than zero become entries, as in ``coo_array(dense)``.

    Memory is taken for what the file holds, never for what its header claims, and the structure arrays of the
    result are in range, so that SciPy never reads outside of them. Entries of an ``.npz`` before the first
    number of its indptr belong to no row and are left out, as are diagonals outside of the matrix.

    Parameters
    ----------
    path
        Name of the file. The case of the ending does not matter.

    Returns
    -------
    scipy.sparse.sparray
        Two-dimensional, ``(n_rows, n_cols)``, in memory of its own.

    Raises
    ------
    sparse_tir.errors.DataError
        ST130 the file is missing, cut short, not what its ending says, or cannot be read;
        ST131 unknown ending;
        ST132 an ``.npz`` that is not a sparse matrix, or whose arrays contradict each other;
        ST133 an ``.npz`` with pickled objects (they are never loaded);
        ST134 a malformed Matrix Market file, with the number of the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparse_tir.io import load_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "edges.mtx")
    ...     _ = file.write_text("%%MatrixMarket matrix coordinate pattern symmetric\\n3 3 2\\n1 1\\n3 1\\n")
    ...     load_matrix(file).toarray()
    array([[1., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    name = _name(path)
    where = f"load_matrix({name!r})"
    reader = next((read for ending, read in READERS.items() if name.lower().endswith(ending)), None)
    if reader is None:
        raise errors.error(
            "ST131",
            where,
            f"a name that ends in {os.path.splitext(name)[1]!r}",
            "one of " + ", ".join(READERS),
            "save it with scipy.sparse.save_npz or scipy.io.mmwrite",
        )
    try:
        return reader(name, where)
    except OSError as problem:
        raise errors.error("ST130", where, _reason(problem), "a file that can be read") from problem
    except (EOFError, zlib.error) as problem:
        found = f"compressed data that is damaged or cut short ({problem})"
        raise errors.error("ST130", where, found, "a whole file", "fetch it again") from problem
    except MemoryError as problem:
        raise errors.error("ST130", where, "more numbers than there is memory for", "less") from problem


def _name(path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        found = f"a {type(path).__name__}"
        raise errors.error("ST159", "load_matrix(path)", found, "a path: str or os.PathLike")
    name = os.fsdecode(path)
    if "\0" in name:
        raise errors.error("ST130", f"load_matrix({name!r})", "a zero character in the path", "a file name")
    return name


def _reason(problem: OSError) -> str:
    if problem.strerror is None:
        return str(problem)
    return problem.strerror[:1].lower() + problem.strerror[1:]
