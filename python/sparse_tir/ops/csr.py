"""What operators over CSR matrices share: dtypes, and a matrix as the arguments of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import may_share_memory
from numpy.typing import NDArray

from .. import errors
from ..runtime import SparseMatrix, asarray
from ..runtime.operands import is_torch, kernel_view

SUPPORTED = ("float32", "float64", "int32", "int64")
INDEX_DTYPES = ("int32", "int64")
LARGEST_FEAT = int(np.iinfo(np.int32).max)
_SUPPORTED = frozenset(
    np.dtype(name) for name in SUPPORTED
)  # names of dtypes take ten times as long to compare


@dataclass(frozen=True)
class CsrArguments:
    """The arrays of an (m, n) matrix as compiled code takes them, both index arrays of one width."""

    m: int
    n: int
    nnz: int
    data: NDArray[Any]
    indptr: NDArray[Any]
    indices: NDArray[Any]
    dtype: str
    idtype: str

    def take(self, X: NDArray[Any], out: NDArray[Any]) -> bool:
        """Whether a kernel can run on ``X`` (n, f) and ``out`` (m, f) as they are.

        The quick test for the usual case; where it fails, `as_input` and `as_output` find out why. Arrays with a
        dimension of 0 or 1 may have any strides there, which compiled code does not take.
        """
        data, rows, columns = self.data, X.shape, out.shape
        dtype = data.dtype
        return (
            len(rows) == len(columns) == 2
            and rows[0] == self.n > 1
            and columns[0] == self.m > 1
            and rows[1] == columns[1] > 1
            and X.dtype == dtype == out.dtype
            and X.flags.carray
            and out.flags.carray
            and not may_share_memory(out, X)
            and not may_share_memory(out, data)
            and not may_share_memory(out, self.indptr)
            and not may_share_memory(out, self.indices)
        )


_MEMO = "csr_arguments"


def csr_arguments(matrix: SparseMatrix) -> CsrArguments:
    """The arguments of a matrix, made once for each `SparseMatrix`.

    Indices of mixed width meet at the width of ``indices``: indptr is the shorter array, and it fits, unless
    there are 2**31 entries or more.
    """
    found: CsrArguments | None = matrix.memo.get(_MEMO)
    if found is None:
        found = matrix.memo[_MEMO] = _prepare(matrix)
    return found


def _prepare(matrix: SparseMatrix) -> CsrArguments:
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype != indices.dtype:
        if matrix.nnz <= np.iinfo(indices.dtype).max:
            indptr = indptr.astype(indices.dtype)
        else:
            indices = indices.astype(indptr.dtype)
    return CsrArguments(
        *matrix.shape,
        matrix.nnz,
        data=kernel_view(matrix.data),
        indptr=kernel_view(indptr),
        indices=kernel_view(indices),
        dtype=str(matrix.dtype),
        idtype=str(indices.dtype),
    )


def sparse_operand(A: Any, where: str) -> SparseMatrix:
    """The sparse operand of a call; a `SparseMatrix` keeps the policy that it was made with."""
    return A if isinstance(A, SparseMatrix) else asarray(A, where=f"{where}(A)")


def value_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    """The dtype, if operators compute in it (ST156)."""
    if dtype not in _SUPPORTED:
        hint = "convert the values, for example A.astype('float32')"
        raise errors.error("ST156", f"{where}(A)", f"values of dtype {dtype}", ", ".join(SUPPORTED), hint)
    return dtype


def check_static(where: str, dtype: Any, idtype: Any, feat_size: Any = 1) -> None:
    """ST158 unless a program can be written for the dtypes and the number of features."""
    for name, value, possible in (("dtype", dtype, SUPPORTED), ("idtype", idtype, INDEX_DTYPES)):
        if not isinstance(value, str) or value not in possible:
            raise errors.error("ST158", f"{where}: {name}", f"{value!r}", f"one of {', '.join(possible)}")
    is_integer = isinstance(feat_size, int | np.integer) and not isinstance(feat_size, bool)
    if not is_integer or not 1 <= feat_size <= LARGEST_FEAT:
        raise errors.error(
            "ST158", f"{where}: feat_size", f"{feat_size!r}", f"an integer from 1 to {LARGEST_FEAT}"
        )


def like_operand(operand: Any, result: NDArray[Any]) -> Any:
    """A torch tensor over the result if the operand is one, else the result."""
    if not is_torch(operand):
        return result
    import torch

    return torch.from_numpy(result)
