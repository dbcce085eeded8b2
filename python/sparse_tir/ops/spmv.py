"""SpMV: a sparse matrix times a vector."""

from __future__ import annotations

import functools
from typing import Any

from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.target import Target
from tvm.tirx import PrimFunc

from .. import script as S
from ..runtime import Kernel, compile, resolve_target
from ..runtime.operands import as_input, as_output, kernel_view
from ..runtime.signature import main_function, signature_of
from ..transform import lower
from .csr import check_static, csr_arguments, like_operand, sparse_operand, value_dtype
from .kernels import KERNELS

#: Rows that one thread takes at a time.
_ROWS = 256


def program(dtype: str = "float32", idtype: str = "int32") -> PrimFunc:
    """The Stage I program ``y[i] = sum_j A[i, j] * x[j]`` over a CSR matrix.

    Returns
    -------
    PrimFunc
        Parameters: A (nnz,), X (n,), Y (m,), indptr (m + 1,), indices (nnz,), m, n, nnz.

    Raises
    ------
    DataError
        ST158 for a dtype that no kernel has.
    """
    check_static("spmv.program", dtype, idtype)
    return _program(dtype, idtype)


@functools.cache
def _program(dtype: str, idtype: str) -> PrimFunc:
    """`program`, made once for equal arguments."""

    @S.prim_func
    def spmv(
        a: T.handle,
        x: T.handle,
        y: T.handle,
        indptr: T.handle,
        indices: T.handle,
        m: T.int64,
        n: T.int64,
        nnz: T.int64,
    ) -> None:
        I = S.dense_fixed(m, "int64")
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), idtype, sorted=False, unique=False)
        J_dense = S.dense_fixed(n, "int64")
        A = S.match_sparse_buffer(a, (I, J), dtype)
        X = S.match_sparse_buffer(x, (J_dense,), dtype)
        Y = S.match_sparse_buffer(y, (I,), dtype)
        with S.iter([I, J], "SR", "spmv") as [i, j]:
            with S.init():
                Y[i] = T.cast(0, dtype)
            Y[i] = Y[i] + A[i, j] * X[j]

    return spmv


def schedule(sch: Schedule) -> None:
    """The default schedule on a CPU: rows in parallel, the sum of a row in a register."""
    update, row = sch.get_sblock("spmv"), sch.get_sblock("spmv_I")
    sch.cache_write(update, 0, "local")
    outer, _ = sch.split(sch.get_loops(row)[0], [None, _ROWS])
    sch.parallel(outer)


def kernel(dtype: str = "float32", idtype: str = "int32", target: Target | str | None = None) -> Kernel:
    """The kernel of the default schedule; compiled once per process and signature."""
    check_static("spmv.kernel", dtype, idtype)
    resolved = resolve_target(target)

    def build() -> Kernel:
        func = program(dtype, idtype)
        module = lower(func, "position")
        sch = Schedule(module, debug_mask="all")
        schedule(sch)
        return compile(sch.mod, resolved, signature=signature_of(func, main_function(module)))

    return KERNELS.get(("spmv", dtype, idtype, str(resolved)), build)


def spmv(A: Any, x: Any, out: Any = None) -> Any:
    """Sparse matrix times vector: ``y[i] = sum_j A[i, j] x[j]``.

    Parameters
    ----------
    A : (m, n) sparse
        As for `spmm`.
    x : (n,) array
        NumPy, torch or any DLPack array on the CPU, of the dtype of A; copied once if it is strided or misaligned.
    out : (m,) array, optional
        Receives the result; what it held is never read. It must not share memory with A or x.

    Returns
    -------
    (m,) array
        ``out``, or a fresh array: a torch tensor if x is one, else a NumPy array.

    Raises
    ------
    DataError
        ST101 to ST107 for A, ST150 to ST156 for x and out.

    Notes
    -----
    dtypes float32, float64, int32 and int64. Work: 2 nnz flop. Least traffic: A, x and y once.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sparse_tir as st
    >>> st.spmv(sp.csr_array(np.array([[0., 2.], [1., 3.]])), np.ones(2)).tolist()
    [2.0, 4.0]
    """
    where = "st.spmv"
    matrix = sparse_operand(A, where)
    m, n = matrix.shape
    dtype = value_dtype(matrix.dtype, where)
    operand = as_input(x, dtype, (("n", n),), name="x", where=where)
    arguments = csr_arguments(matrix)
    operands = {"x": operand, "A.data": matrix.data, "A.indptr": matrix.indptr, "A.indices": matrix.indices}
    target, copy_back = as_output(out, (m,), dtype, where=where, operands=operands)
    if m:
        chosen = kernel(str(dtype), arguments.idtype)
        chosen.entry(
            arguments.data,
            kernel_view(operand),
            target,
            arguments.indptr,
            arguments.indices,
            m,
            n,
            matrix.nnz,
        )
    if copy_back is not None:
        copy_back()
    return like_operand(x, target) if out is None else out
