"""`SparseMatrix`: a pattern with values, and `asarray`, through which every sparse operand comes in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.layouts import Parts, as_values, read_csr, read_scipy, read_torch
from sparse_tir.runtime.operands import compact, is_torch
from sparse_tir.runtime.pattern import Pattern, check_policy, check_shape

__all__ = ["SparseMatrix", "asarray"]


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse (m, n) matrix in CSR: ``A[i, indices[p]] += data[p]`` for each position p of row i.

    Made by `asarray`. The arrays may be the user's own: they are never modified, and must not change
    meanwhile.

    Attributes
    ----------
    pattern
        The structure, shared by any number of values.
    data : (nnz,)
        The values, one for each position of the pattern, dead head included.
    memo
        What operators keep of this matrix from call to call, by a key of their own.
    """

    pattern: Pattern
    data: NDArray[Any] = field(repr=False)
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, Pattern) or not isinstance(self.data, np.ndarray):
            found = f"a {type(self.pattern).__name__} and a {type(self.data).__name__}"
            hint = "make one with st.asarray"
            raise errors.error(
                "ST159", "st.SparseMatrix", found, "a Pattern and an array of its values", hint
            )
        if self.data.shape != (self.pattern.nnz,):
            found = f"values of shape {self.data.shape} for {self.pattern.nnz} indices"
            raise errors.error("ST106", "st.SparseMatrix.data", found, "one value for each index")
        object.__setattr__(self, "data", compact(self.data))

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Stored entries, explicit zeros and dead head included."""
        return self.pattern.nnz

    @property
    def indptr(self) -> NDArray[Any]:
        return self.pattern.indptr

    @property
    def indices(self) -> NDArray[Any]:
        return self.pattern.indices

    @property
    def validated(self) -> SparseMatrix:
        """This matrix if its structure was checked, else a checked one on the same arrays, remembered."""
        return self if self.pattern.is_validated else self._checked_copy

    @property
    def canonical(self) -> SparseMatrix:
        """The matrix with sorted columns, repeats added up in its own dtype, and no dead head; remembered."""
        return self if self.pattern.is_validated and self.pattern.is_canonical else self._canonical_copy

    @cached_property
    def _checked_copy(self) -> SparseMatrix:
        return SparseMatrix(self.pattern.validated("SparseMatrix"), self.data)

    @cached_property
    def _canonical_copy(self) -> SparseMatrix:
        form = self.pattern.canonical
        return SparseMatrix(form.pattern, form.apply(self.data))

    def with_data(self, data: Any) -> SparseMatrix:
        """The same pattern with other values (nnz,). Errors: ST106, ST150, ST151, ST155, ST156."""
        return SparseMatrix(self.pattern, as_values(data, self.nnz, "SparseMatrix.with_data(data)"))

    def to_scipy(self, *, copy: bool = False) -> sp.csr_array:
        """The matrix as a SciPy array, entries in stored order, without the dead head.

        Parameters
        ----------
        copy
            Whether the result may be modified. Without a copy it shares memory and is read-only, because
            SciPy reorders its arrays in place.

        Raises
        ------
        DataError
            As `asarray`, if the matrix was trusted and is broken.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> asarray(sp.eye_array(2, format="csr")).to_scipy().toarray().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        pattern = self.validated.pattern
        start = int(pattern.indptr[0])
        indptr = pattern.indptr - pattern.indptr[0] if start else pattern.indptr
        parts = [_read_only(part) for part in (self.data[start:], pattern.indices[start:], indptr)]
        return sp.csr_array(tuple(parts), shape=self.shape, copy=copy)


def asarray(
    A: Any, *, shape: Any = None, policy: str = "validate", where: str = "st.asarray(A)"
) -> SparseMatrix:
    """The sparse matrix that an object of another library holds, in CSR.

    Parameters
    ----------
    A
        A SciPy sparse array or matrix of any layout, a sparse PyTorch tensor on the CPU (CSR, CSC, COO,
        BSR), a tuple ``(data, indices, indptr)`` with ``shape=``, a tuple ``(pattern, values)``, or a
        `SparseMatrix`. CSR arrays are kept without copying (integers other than int32 and int64, foreign
        byte orders and strided arrays are copied once); other layouts are converted to CSR with their
        repeats, DIA without its zeros.
    shape
        ``(m, n)`` of a tuple of arrays; for other objects, checked if given.
    policy
        ``"validate"``: the structure is checked, once for each `SparseMatrix`; columns may be in any order
        and repeat, repeats add up. ``"trust"``: the content of CSR arrays is not checked, and wrong arrays
        are undefined behaviour later (other layouts are checked in any case, as they are converted).
        ``"canonicalize"``: checked, then sorted and repeats added up in new arrays; integers wrap, half
        precision is added in float32, bool is "or".
    where
        The call and argument, for error messages.

    Returns
    -------
    SparseMatrix
        ``A`` itself where it is one that satisfies the policy.

    Raises
    ------
    DataError
        ST101 not a sparse matrix, or no shape; ST102 length, ST103 monotony, ST104 end of indptr; ST105
        index out of range; ST106 lengths of indices and data; ST107 dtype or dimension of a structure
        array; ST109 policy; ST150, ST151, ST156 values that are no array, not one-dimensional, not
        numbers; ST155 not on the CPU.

    Notes
    -----
    Work: O(nnz + m + n). Least traffic of validation: one read of indptr and indices.

    Examples
    --------
    >>> import numpy as np
    >>> a = asarray((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    >>> a.nnz, asarray(a, policy="canonicalize").data.tolist()
    (3, [2.0, 1.0])
    """
    check_policy(policy, where)
    matrix = A if isinstance(A, SparseMatrix) else SparseMatrix(*_read(A, shape, policy, where))
    if shape is not None and matrix.shape != check_shape(shape, where):
        raise errors.error("ST101", f"{where}: shape", f"a matrix of shape {matrix.shape}", f"shape {shape}")
    if policy == "trust":
        return matrix
    return matrix.canonical if policy == "canonicalize" else matrix.validated


def _read(A: Any, shape: Any, policy: str, where: str) -> Parts:
    if sp.issparse(A):
        return read_scipy(A, policy, where)
    if is_torch(A):
        return read_torch(A, policy, where)
    if isinstance(A, tuple) and len(A) == 2 and isinstance(A[0], Pattern):
        return A[0], as_values(A[1], A[0].nnz, where)
    if isinstance(A, tuple) and len(A) == 3:
        data, indices, indptr = A
        if shape is None:
            hint = "pass shape=(m, n)"
            raise errors.error("ST101", where, "a tuple of arrays without shape", "the shape as well", hint)
        return read_csr(indptr, indices, data, shape, policy, where)
    found = f"a dense array of shape {A.shape}" if isinstance(A, np.ndarray) else f"a {type(A).__name__}"
    expected = "a SciPy sparse array, a sparse torch tensor, or (data, indices, indptr) with shape="
    raise errors.error("ST101", where, found, expected, "make it sparse: scipy.sparse.csr_array(A)")


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
