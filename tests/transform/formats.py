"""Sums ``C[i, k] = sum_j A[i, j] * B[j, k]`` over the formats that lower in different ways, and matrices for them."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FEATURES = 8

_UPDATE = """
    with S.init():
        C[i, k] = T.float32(0)
    C[i, k] = C[i, k] + A[{entry}] * B[j, k]
"""

#: name -> (structure arrays, scalars, axes, axes of the entries, iteration)
_FORMATS: dict[str, tuple[str, str, str, str, str]] = {
    "csr": (
        "indptr indices",
        "m n nnz",
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32")
        """,
        "I, J",
        'with S.iter([I, J, K], "SRS", "upd") as [i, j, k]:' + _UPDATE.format(entry="i, j"),
    ),
    "dcsr": (
        "rows indptr indices",
        "m n nnz nr",
        """
        I = S.sparse_fixed(None, (m, nr), rows)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32")
        """,
        "I, J",
        'with S.iter([I, J, K], "SRS", "upd") as [i, j, k]:' + _UPDATE.format(entry="i, j"),
    ),
    "csf": (
        "outer indptr indices",
        "m n nnz pieces",
        """
        I = S.dense_fixed(m)
        L = S.dense_variable(I, (pieces, pieces), outer, "int32")
        J = S.sparse_variable(L, (n, nnz), (indptr, indices), "int32")
        """,
        "I, L, J",
        'with S.iter([I, L, J, K], "SRRS", "upd") as [i, l, j, k]:' + _UPDATE.format(entry="i, l, j"),
    ),
    "ell": (
        "indices",
        "m n width",
        """
        I = S.dense_fixed(m)
        J = S.sparse_fixed(I, (n, width), indices)
        """,
        "I, J",
        'with S.iter([I, J, K], "SRS", "upd") as [i, j, k]:' + _UPDATE.format(entry="i, j"),
    ),
    "csc": (
        "indptr indices",
        "m n nnz",
        """
        J = S.dense_fixed(n)
        I = S.sparse_variable(J, (m, nnz), (indptr, indices), "int32")
        """,
        "J, I",
        'with S.iter([J, I, K], "RSS", "upd") as [j, i, k]:' + _UPDATE.format(entry="j, i"),
    ),
}

NAMES = tuple(_FORMATS)


def text(name: str, features: int = FEATURES) -> str:
    """The script of a format's SpMM."""
    arrays, scalars, axes, entry, iteration = _FORMATS[name]
    parameters = [f"{handle}: T.handle" for handle in f"a b c {arrays}".split()]
    parameters += [f"{scalar}: T.int32" for scalar in scalars.split()]
    body = f"""
{textwrap.dedent(axes).strip()}
ID = S.dense_fixed(m)
JD = S.dense_fixed(n)
K = S.dense_fixed({features})
A = S.match_sparse_buffer(a, ({entry}), "float32")
B = S.match_sparse_buffer(b, (JD, K), "float32")
C = S.match_sparse_buffer(c, (ID, K), "float32")
{iteration.strip()}
"""
    return f"@S.prim_func\ndef main({', '.join(parameters)}):\n{textwrap.indent(body, '    ')}"


def matrices() -> list[sp.csr_array]:
    """One with empty rows (the first, some inside, the last) and a full row; one without entries."""
    rows, columns = 13, 11
    random = np.random.default_rng(0)
    dense = (random.random((rows, columns)) < 0.3) * (random.random((rows, columns)) + 0.5)
    dense[[0, 5, 6, rows - 1]] = 0
    dense[7] = random.random(columns) + 0.5
    return [
        sp.csr_array(dense.astype(np.float32)),
        sp.csr_array((rows, columns), dtype=np.float32),
    ]


def operands(name: str, matrix: sp.csr_array, features: int = FEATURES) -> dict[str, Any]:
    """Arguments of a format's kernel but B and C."""
    m, n = matrix.shape
    lengths = np.diff(matrix.indptr)
    sizes = {"m": m, "n": n, "nnz": matrix.nnz}
    if name == "csc":
        columns = matrix.tocsc()
        arrays: dict[str, NDArray[Any]] = {
            "A": columns.data,
            "indptr": columns.indptr,
            "indices": columns.indices,
        }
        return {**_with_int32(arrays), **sizes}
    arrays = {"A": matrix.data, "indptr": matrix.indptr, "indices": matrix.indices}
    if name == "dcsr":
        arrays["rows"] = np.flatnonzero(lengths)
        arrays["indptr"] = np.concatenate([[0], lengths[arrays["rows"]].cumsum()])
        sizes["nr"] = arrays["rows"].size
    if name == "csf":  # two pieces a row but the last, the first of them of one entry
        starts, ends = matrix.indptr[:-2], matrix.indptr[1:-1]
        arrays["indptr"] = np.append(np.stack([starts, np.minimum(starts + 1, ends)], 1).ravel(), matrix.nnz)
        arrays["outer"] = 2 * np.minimum(np.arange(m + 1), m - 1)
        sizes["pieces"] = 2 * (m - 1)
    if name == "ell":
        width = int(lengths.max())
        arrays = {"A": np.full((m, width), np.nan), "indices": np.full((m, width), n)}
        for i, length in enumerate(lengths):
            row = slice(matrix.indptr[i], matrix.indptr[i + 1])
            arrays["A"][i, :length], arrays["indices"][i, :length] = matrix.data[row], matrix.indices[row]
        arrays["indices"] = arrays["indices"].ravel()
        sizes = {"m": m, "n": n, "width": width}
    return {**_with_int32(arrays), **sizes}


def _with_int32(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.astype(np.float32 if name == "A" else np.int32) for name, array in arrays.items()}
