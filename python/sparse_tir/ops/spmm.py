"""SpMM: a sparse matrix times a dense matrix."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.target import Target
from tvm.tirx import PrimFunc

from .. import errors
from .. import script as S
from ..runtime import Kernel, compile, resolve_target
from ..runtime.operands import as_input, as_output, kernel_view
from ..runtime.signature import main_function, signature_of
from ..transform import lower
from ..transform.prefetch import PREFETCH, insert_prefetch
from .csr import CsrArguments, csr_arguments, like_operand, sparse_operand, value_dtype
from .kernels import KERNELS

#: Width of AVX-512 vectors, and how many vectors of sums one pass over a row keeps: more are not faster, and
#: 1024 bytes no longer go on the stack.
_VECTOR_BYTES, _VECTORS = 64, 8
_NARROWEST_BYTES = 32


@functools.cache
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
    """

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
    ):
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


@dataclass(frozen=True)
class Decisions:
    """What a schedule decides.

    Attributes
    ----------
    tile
        How the features are split: ``(passes, vectors, lanes)``, or ``(passes, elements)`` for loops that
        LLVM vectorises. A pass walks the entries of a row once, with ``vectors * lanes`` sums in registers.
    rows
        Rows that a thread takes at a time. Threads take turns, so that rows ordered by length do not
        unbalance them.
    prefetch
        How many entries ahead the rows of B are fetched; 0 means not at all.
    """

    tile: tuple[int, ...]
    rows: int = 64
    prefetch: int = 16


def default_decisions(feat_size: int, dtype: str = "float32", vector_bytes: int = _VECTOR_BYTES) -> Decisions:
    """The decisions of the default schedule: up to 8 vectors of sums per pass.

    Widths that are no multiple of a vector are left to LLVM, whose remainder loops beat narrow vectors.
    """
    most = _VECTORS * vector_bytes // np.dtype(dtype).itemsize
    lanes = next((lanes for lanes in vector_lanes(dtype, vector_bytes) if feat_size % lanes == 0), None)
    if lanes is not None:
        vectors = _largest_divisor(feat_size // lanes, most // lanes)
        passes = feat_size // (lanes * vectors)
        if passes == 1 or lanes * vectors >= most // 4:
            return Decisions((passes, vectors, lanes))
    elements = _largest_divisor(feat_size, most * 5 // 4)
    if elements < most // 4:  # many passes over the entries cost more than sums in memory
        elements = feat_size
    return Decisions((feat_size // elements, elements))


def vector_lanes(dtype: str, vector_bytes: int = _VECTOR_BYTES) -> list[int]:
    """Elements of the widest vector, and of its half unless that is too narrow to be worth it."""
    widths = [vector_bytes, *([vector_bytes // 2] if vector_bytes // 2 >= _NARROWEST_BYTES else [])]
    return [width // np.dtype(dtype).itemsize for width in widths]


def vector_bytes_of(target: Target) -> int:
    """Width of the vectors of a target."""
    return int(tvm.get_global_func("target.llvm_get_vector_width")(target)) // 8


def _largest_divisor(number: int, limit: int) -> int:
    return next(d for d in range(max(1, min(number, limit)), 0, -1) if number % d == 0)


def schedule(sch: Schedule, feat_size: int, vector_bytes: int = _VECTOR_BYTES) -> None:
    """The default schedule on a CPU: rows in parallel, the sums of a row in registers.

    Applies to the program at the position stage; `finish` makes loops of the result.

    Parameters
    ----------
    sch : Schedule
    feat_size : int
        Any width, as in `program`.
    vector_bytes : int
        Width of the target's vectors.
    """
    dtype = str(sch.get(sch.get_sblock("spmm")).writes[0].source.ty.dtype.dtype)
    apply_decisions(sch, default_decisions(feat_size, dtype, vector_bytes))


def apply_decisions(sch: Schedule, decisions: Decisions) -> None:
    """Schedule the program as decided; the numbers may be constants or random variables of ``sch``.

    Before::

        for i: for j, k: C[i, k] += A[i, j] * B[j, k]

    After::

        for i_outer in parallel, by turns: for i_inner: for pass:
            for j: for vector in unroll: for lane in vector: sums += A * B
            C = sums
    """
    update, row = sch.get_sblock("spmm"), sch.get_sblock("spmm_I")
    j, k = sch.get_loops(update)
    fold, *inner = sch.split(k, decisions.tile)
    sch.reorder(fold, j, *inner)
    sch.annotate(j, PREFETCH, decisions.prefetch)
    # Of this scope, TVM puts up to 1023 bytes on the stack, where LLVM turns them into registers; a "local"
    # buffer would be allocated at run time, and stored to for every row.
    copy = sch.cache_write(update, 0, "global")
    sch.reverse_compute_at(copy, fold, preserve_unit_loops=True)
    if len(inner) == 2:
        _vectorize(sch, inner)
        _vectorize(sch, sch.split(sch.get_loops(copy)[-1], [None, decisions.tile[2]]))
    outer, _ = sch.split(sch.get_loops(row)[0], [None, decisions.rows])
    _parallel_by_turns(sch, outer)


def _vectorize(sch: Schedule, loops: Sequence[Any]) -> None:
    vector, lane = loops
    sch.unroll(vector)
    sch.vectorize(lane)


def _parallel_by_turns(sch: Schedule, loop: Any) -> None:
    """Thread t of n runs the iterations t, t + n, t + 2n, ..; by default TVM gives it one contiguous part."""
    launch = sch.add_unit_loop(loop)
    sch.annotate(launch, "pragma_parallel_launch_point", 1)
    sch.annotate(launch, "pragma_parallel_stride_pattern", 1)
    sch.parallel(loop)


def finish(module: tvm.IRModule) -> tvm.IRModule:
    """The loops of a scheduled module, prefetches included."""
    return insert_prefetch(lower(module, "loop"))


def kernel(
    feat_size: int, dtype: str = "float32", idtype: str = "int32", target: Target | str | None = None
) -> Kernel:
    """The kernel of the default schedule; compiled once per process and signature."""
    # The text of a target takes longer than the rest of a call: this machine's is not asked for it.
    key = ("spmm", feat_size, dtype, idtype, None if target is None else str(resolve_target(target)))
    return KERNELS.get(key, lambda: _build(feat_size, dtype, idtype, resolve_target(target)))


def _build(feat_size: int, dtype: str, idtype: str, target: Target) -> Kernel:
    func = program(feat_size, dtype, idtype)
    module = lower(func, "position")
    sch = Schedule(module, debug_mask="all")
    schedule(sch, feat_size, vector_bytes_of(target))
    return compile(finish(sch.mod), target, signature=signature_of(func, main_function(module)))


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
    m, n = matrix.shape
    dtype = value_dtype(matrix.dtype, where)
    operand = as_input(X, dtype, (("n", n), "f"), name="X", where=where)
    arguments = csr_arguments(matrix)
    feat_size = operand.shape[1]
    operands = {"X": operand, "A.data": matrix.data, "A.indptr": matrix.indptr, "A.indices": matrix.indices}
    target, copy_back = as_output(out, (m, feat_size), dtype, where=where, operands=operands)
    if m and feat_size:
        chosen = _default(feat_size, arguments) if kernel is None else _fitting(kernel, feat_size, arguments)
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
    return like_operand(X, target) if out is None else out


def _default(feat_size: int, arguments: CsrArguments) -> Kernel:
    return kernel(feat_size, arguments.dtype, arguments.idtype)


#: Kernels that were given, and the call that each was found to fit: comparing signatures takes longer than
#: a call.
_FITTING: weakref.WeakKeyDictionary[Kernel, tuple[int, str, str]] = weakref.WeakKeyDictionary()


def _fitting(given: Kernel, feat_size: int, arguments: CsrArguments) -> Kernel:
    """The kernel, if it is one for this call (ST507)."""
    if not isinstance(given, Kernel):
        raise errors.error(
            "ST507", "st.spmm(kernel=)", f"a {type(given).__name__}", "a kernel, such as st.load gives"
        )
    call = (feat_size, arguments.dtype, arguments.idtype)
    if _FITTING.get(given) != call:
        wanted = _signature(*call).parameters
        if given.signature.parameters != wanted:
            found, expected = _describe(given.signature.parameters), f"one for {_describe(wanted)}"
            hint = "tune it for this call"
            raise errors.error("ST507", "st.spmm(kernel=)", f"{given.name} for {found}", expected, hint)
        _FITTING[given] = call
    return given


@functools.cache
def _signature(feat_size: int, dtype: str, idtype: str) -> Any:
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
