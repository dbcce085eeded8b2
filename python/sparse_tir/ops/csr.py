"""What operators over CSR matrices share: dtypes, and a matrix as the arguments of a kernel."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import errors
from ..runtime import SparseMatrix, asarray
from ..runtime.operands import is_torch, kernel_view

SUPPORTED = ("float32", "float64", "int32", "int64")
_SUPPORTED = frozenset(
    np.dtype(name) for name in SUPPORTED
)  # names of dtypes take ten times as long to compare


@dataclass(frozen=True)
class CsrArguments:
    """The arrays of a matrix as compiled code takes them, both index arrays of one width."""

    data: NDArray[Any]
    indptr: NDArray[Any]
    indices: NDArray[Any]
    dtype: str
    idtype: str


_PREPARED: weakref.WeakKeyDictionary[SparseMatrix, CsrArguments] = weakref.WeakKeyDictionary()


def csr_arguments(matrix: SparseMatrix) -> CsrArguments:
    """The arguments of a matrix, made once for each `SparseMatrix`.

    Indices of mixed width meet at the width of ``indices``: indptr is the shorter array, and it fits, unless
    there are 2**31 entries or more.
    """
    found = _PREPARED.get(matrix)
    if found is None:
        found = _prepare(matrix)
        _PREPARED[matrix] = found
    return found


def _prepare(matrix: SparseMatrix) -> CsrArguments:
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype != indices.dtype:
        if matrix.nnz <= np.iinfo(indices.dtype).max:
            indptr = indptr.astype(indices.dtype)
        else:
            indices = indices.astype(indptr.dtype)
    return CsrArguments(
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


def like_operand(operand: Any, result: NDArray[Any]) -> Any:
    """A torch tensor over the result if the operand is one, else the result."""
    if not is_torch(operand):
        return result
    import torch

    return torch.from_numpy(result)
