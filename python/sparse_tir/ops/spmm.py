"""SpMM: a sparse matrix times a dense matrix."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.target import Target
from tvm.tirx import PrimFunc

from .. import errors
from .. import script as S
from ..runtime import Kernel, compile, resolve_target
from ..runtime.operands import as_input, as_output, kernel_view
from ..runtime.signature import Signature, main_function, signature_of
from ..runtime.target import TARGET_KINDS, is_cuda, private_cache_bytes
from ..transform import lower
from . import spmm_cuda
from .csr import CsrArguments, check_static, csr_arguments, like_operand, sparse_operand, value_dtype
from .kernels import KERNELS
from .spmm_schedule import default_decisions, scheduled_loops, vector_bytes_of


def program(feat_size: int, dtype: str = "float32", idtype: str = "int32") -> PrimFunc:
    """The Stage I program ``C[i, k] = sum_j A[i, j] * B[j, k]`` over a CSR matrix.

    Columns of a row may be in any order and repeat; repeats add up.

    Parameters
    ----------
    feat_size : int
        Columns of B and C, a constant of the kernel.
    dtype : str
        Of A, B and C.
    idtype : {"int32", "int64"}
        Of indptr and indices.

    Returns
    -------
    PrimFunc
        Parameters: A (nnz,), B (n, feat_size), C (m, feat_size), indptr (m + 1,), indices (nnz,), m, n, nnz.

    Raises
    ------
    DataError
        ST158 for a width or a dtype that no kernel has.
    """
    check_static("spmm.program", dtype, idtype, feat_size)
    return _program(int(feat_size), dtype, idtype)


@functools.cache
def _program(feat_size: int, dtype: str, idtype: str) -> PrimFunc:
    """`program`, made once for equal arguments."""

    @S.prim_func
    def spmm(
        a: T.handle,
        b: T.handle,
        c: T.handle,
        indptr: T.handle,
        indices: T.handle,
        m: T.int64,
        n: T.int64,
        nnz: T.int64,
    ) -> None:
        I = S.dense_fixed(m, "int64")
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), idtype, sorted=False, unique=False)
        J_dense = S.dense_fixed(n, "int64")
        K = S.dense_fixed(feat_size, "int64")
        A = S.match_sparse_buffer(a, (I, J), dtype)
        B = S.match_sparse_buffer(b, (J_dense, K), dtype)
        C = S.match_sparse_buffer(c, (I, K), dtype)
        with S.iter([I, J, K], "SRS", "spmm") as [i, j, k]:
            with S.init():
                C[i, k] = T.cast(0, dtype)
            C[i, k] = C[i, k] + A[i, j] * B[j, k]

    return spmm


def kernel(
    feat_size: int, dtype: str = "float32", idtype: str = "int32", target: Target | str | None = None
) -> Kernel:
    """The kernel of the default schedule; compiled once per process and signature."""
    check_static("spmm.kernel", dtype, idtype, feat_size)
    return _cached(feat_size, dtype, idtype, target)


def _cached(feat_size: int, dtype: str, idtype: str, target: Target | str | None = None) -> Kernel:
    # The text of a target takes longer than the rest of a call: this machine's is not asked for it.
    resolved = None if target is None else resolve_target(target, TARGET_KINDS)
    key = ("spmm", feat_size, dtype, idtype, None if resolved is None else str(resolved))
    return KERNELS.get(key, lambda: _build(feat_size, dtype, idtype, resolved or resolve_target()))


def loops(
    feat_size: int, dtype: str = "float32", idtype: str = "int32", target: Target | str | None = None
) -> tvm.IRModule:
    """The program under the default schedule of a target, lowered to loops: what `kernel` compiles.

    Raises
    ------
    DataError
        ST156 for integers on a GPU.
    """
    resolved = resolve_target(target, TARGET_KINDS)
    module = lower(program(feat_size, dtype, idtype), "position")
    if is_cuda(resolved):
        spmm_cuda.check_dtype(dtype)
        sch = Schedule(module, debug_mask="all")
        spmm_cuda.schedule(sch, spmm_cuda.default_decisions(feat_size, dtype))
        return lower(sch.mod, "loop")
    decisions = default_decisions(feat_size, dtype, vector_bytes_of(resolved))
    return scheduled_loops(module, decisions, private_cache_bytes())


def _build(feat_size: int, dtype: str, idtype: str, target: Target) -> Kernel:
    module = loops(feat_size, dtype, idtype, target)
    return compile(module, target, signature=signature(feat_size, dtype, idtype))


def spmm(A: Any, X: Any, out: Any = None, *, kernel: Kernel | None = None) -> Any:
    """Sparse matrix times dense matrix: ``Y[i, :] = sum_j A[i, j] X[j, :]``.

    Parameters
    ----------
    A : (m, n) sparse
        A SciPy array of any layout, a sparse torch tensor on the CPU, or a `SparseMatrix`, which is checked
        only once: make one with `asarray` for repeated calls. Columns may be unsorted and repeat; repeats
        add up.
    X : (n, f) array
        NumPy, torch or any DLPack array on the CPU, of the dtype of A. It is copied once if it is not
        row-major or its address is not a multiple of its element size. An address that is a multiple of 64
        makes the call about a fifth faster: see `aligned_empty`.
    out : (m, f) array, optional
        Receives the result; what it held is never read. It must not share memory with A or X.
    kernel : Kernel, optional
        A tuned kernel for this signature, such as `load` returns, instead of the default one.

    Returns
    -------
    (m, f) array
        ``out``, or a fresh array: a torch tensor if X is one, else a NumPy array.

    Raises
    ------
    DataError
        ST101 to ST107 for A, ST150 to ST156 for X and out.
    BuildError
        ST507 if ``kernel`` is for another signature.

    Notes
    -----
    dtypes float32, float64, int32 (wraps as NumPy's) and int64. Rows without entries give 0; stored zeros
    obey IEEE (0 * Inf is NaN), absent ones never take part. Work: 2 nnz f flop. Least traffic: A, X and Y
    once. The first call with a signature (f, dtype, index width) compiles, about 0.1 s.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sparse_tir as st
    >>> A = sp.csr_array(np.array([[0., 2.], [0., 0.], [1., 3.]]))
    >>> st.spmm(A, np.ones((2, 1))).tolist()
    [[2.0], [0.0], [4.0]]
    """
    where = "st.spmm"
    matrix = sparse_operand(A, where)
    value_dtype(matrix.dtype, where)
    arguments = csr_arguments(matrix)
    if type(X) is np.ndarray and type(out) is np.ndarray and arguments.take(X, out):
        _run(arguments, X, out, kernel)
        return out
    operand = as_input(X, matrix.dtype, (("n", arguments.n), "f"), name="X", where=where)
    operands = {"X": operand, "A.data": matrix.data, "A.indptr": matrix.indptr, "A.indices": matrix.indices}
    shape = (arguments.m, operand.shape[1])
    target, copy_back = as_output(out, shape, matrix.dtype, where=where, operands=operands)
    if target.size:
        _run(arguments, kernel_view(operand), target, kernel)
    if copy_back is not None:
        copy_back()
    return like_operand(X, target) if out is None else out


def _run(a: CsrArguments, X: NDArray[Any], out: NDArray[Any], given: Kernel | None) -> None:
    """The product, by the default kernel or a given one (ST507 if it does not fit)."""
    feat_size = X.shape[1]
    chosen = _default(feat_size, a) if given is None else _fitting(given, feat_size, a)
    chosen.entry(a.data, X, out, a.indptr, a.indices, a.m, a.n, a.nnz)


def _default(feat_size: int, arguments: CsrArguments) -> Kernel:
    known = KERNELS.find(("spmm", feat_size, arguments.dtype, arguments.idtype, None))
    return known or _cached(feat_size, arguments.dtype, arguments.idtype)


#: Kernels that were given, and the call that each was found to fit: comparing signatures takes longer than
#: a call.
_FITTING: weakref.WeakKeyDictionary[Kernel, tuple[int, str, str]] = weakref.WeakKeyDictionary()


def _fitting(given: Kernel, feat_size: int, arguments: CsrArguments) -> Kernel:
    """The kernel, if it is one for this call (ST507)."""
    if type(given) is not Kernel:  # those of other devices take no arrays of the CPU
        raise errors.error(
            "ST507",
            "st.spmm(kernel=)",
            f"a {type(given).__name__}",
            "a kernel for the CPU, such as st.load gives",
        )
    call = (feat_size, arguments.dtype, arguments.idtype)
    if _FITTING.get(given) != call:
        wanted = signature(*call).parameters
        if given.signature.parameters != wanted:
            found, expected = _describe(given.signature.parameters), f"one for {_describe(wanted)}"
            hint = "tune it for this call"
            raise errors.error("ST507", "st.spmm(kernel=)", f"{given.name} for {found}", expected, hint)
        _FITTING[given] = call
    return given


@functools.cache
def signature(feat_size: int, dtype: str = "float32", idtype: str = "int32") -> Signature:
    """What calls of kernels of `program` check; scheduled modules have lost it."""
    func = program(feat_size, dtype, idtype)
    return signature_of(func, main_function(lower(func, "position")))


def _describe(parameters: Any) -> str:
    shapes = {p.name: p for p in parameters}
    try:
        return (
            f"{shapes['B'].shape[1]} features, {shapes['A'].dtype} values, {shapes['indices'].dtype} indices"
        )
    except (KeyError, IndexError, TypeError):
        return f"parameters {', '.join(shapes)}"
