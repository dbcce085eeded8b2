"""SpMM: a sparse matrix times a dense matrix."""

from __future__ import annotations

import functools
from typing import Any

from numpy.typing import NDArray
from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.target import Target
from tvm.tirx import PrimFunc

from .. import errors
from .. import script as S
from ..runtime import Kernel, SparseMatrix, asarray, compile, resolve_target
from ..runtime.operands import as_input, as_output, kernel_view
from ..runtime.signature import main_function, signature_of
from ..transform import lower
from .csr import CsrArguments, csr_arguments, like_operand, value_dtype
from .kernels import KERNELS

#: Elements per vector, and vectors of one row that stay in registers.
_LANES, _TILE = 16, 8
#: Rows that one thread takes at a time.
_ROWS = 64


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


def schedule(sch: Schedule, feat_size: int) -> None:
    """The default schedule on a CPU: rows in parallel, a tile of a row's features in registers.

    Applies to the program at the position stage.
    """
    lanes = next(v for v in (_LANES, 8, 4, 2, 1) if feat_size % v == 0)
    vectors = next(t for t in range(min(_TILE, feat_size // lanes), 0, -1) if feat_size // lanes % t == 0)
    if lanes < 4:  # odd widths: one tile, which LLVM vectorises with a remainder
        lanes, vectors = 1, feat_size
    apply_tiles(sch, [feat_size // (lanes * vectors), vectors, lanes], _ROWS)


def space(sch: Schedule) -> None:
    """The schedules that tuning searches: tile of the features, lanes, rows per task."""
    _, feature = sch.get_loops(sch.get_sblock("spmm"))
    tiles = sch.sample_perfect_tile(feature, n=3, max_innermost_factor=_LANES)
    rows = sch.sample_categorical([8, 16, 32, 64, 128, 256, 512, 1024], [1 / 8] * 8)
    apply_tiles(sch, tiles, rows)


def apply_tiles(sch: Schedule, tiles: Any, rows: Any) -> None:
    """Split the features into [tiles, vectors, lanes]; each tile of a row is folded in a local accumulator.

    Before::

        for i: for j, k: C[i, k] += A[i, j] * B[j, k]

    After::

        for i_outer in parallel: for i_inner: for tile:
            for j: for vector in unroll: for lane in vector: acc += A * B
            C = acc
    """
    update, row = sch.get_sblock("spmm"), sch.get_sblock("spmm_I")
    j, k = sch.get_loops(update)
    tile, vector, lane = sch.split(k, tiles)
    sch.reorder(tile, j, vector, lane)
    copy = sch.cache_write(update, 0, "local")
    sch.reverse_compute_at(copy, tile, preserve_unit_loops=True)
    sch.unroll(vector)
    sch.vectorize(lane)
    copied = sch.get_loops(copy)[-1]
    copy_vector, copy_lane = sch.split(copied, [None, tiles[2]])
    sch.unroll(copy_vector)
    sch.vectorize(copy_lane)
    outer, _ = sch.split(sch.get_loops(row)[0], [None, rows])
    sch.parallel(outer)


def kernel(
    feat_size: int, dtype: str = "float32", idtype: str = "int32", target: Target | str | None = None
) -> Kernel:
    """The kernel of the default schedule; compiled once per process and signature."""
    resolved = resolve_target(target)
    key = ("spmm", feat_size, dtype, idtype, str(resolved))
    return KERNELS.get(key, lambda: _build(feat_size, dtype, idtype, resolved))


def _build(feat_size: int, dtype: str, idtype: str, target: Target) -> Kernel:
    func = program(feat_size, dtype, idtype)
    module = lower(func, "position")
    sch = Schedule(module, debug_mask="all")
    schedule(sch, feat_size)
    return compile(sch.mod, target, signature=signature_of(func, main_function(module)))


def spmm(A: Any, X: Any, out: Any = None, *, kernel: Kernel | None = None) -> Any:
    """Sparse matrix times dense matrix: ``Y[i, :] = sum_j A[i, j] X[j, :]``.

    Parameters
    ----------
    A : (m, n) sparse
        A SciPy array of any layout, a sparse torch tensor on the CPU, or a `SparseMatrix`, which is checked only once:
        make one with `asarray` for repeated calls. Columns may be unsorted and repeat; repeats add up.
    X : (n, f) array
        NumPy, torch or any DLPack array on the CPU, of the dtype of A. It is copied once if it is not row-major or
        its address is not a multiple of its element size.
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
    dtypes float32, float64, int32 (wraps as NumPy's) and int64. Rows without entries give 0; stored zeros obey IEEE
    (0 * Inf is NaN), absent ones never take part. Work: 2 nnz f flop. Least traffic: A, X and Y once. The first call
    with a signature (f, dtype, index width) compiles, about 0.1 s.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sparse_tir as st
    >>> A = sp.csr_array(np.array([[0., 2.], [0., 0.], [1., 3.]]))
    >>> st.spmm(A, np.ones((2, 1))).tolist()
    [[2.0], [0.0], [4.0]]
    """
    where = "st.spmm"
    matrix = asarray(A, where=f"{where}(A)")
    m, n = matrix.shape
    dtype = value_dtype(matrix.dtype, where)
    operand = as_input(X, dtype, (("n", n), "f"), name="X", where=where)
    arguments = csr_arguments(matrix)
    feat_size = operand.shape[1]
    operands = {"X": operand, "A.data": matrix.data, "A.indptr": matrix.indptr, "A.indices": matrix.indices}
    target, copy_back = as_output(out, (m, feat_size), dtype, where=where, operands=operands)
    if m and feat_size:
        chosen = _kernel_for(kernel, feat_size, str(dtype), arguments)
        _call(chosen, arguments, operand, target, matrix)
    if copy_back is not None:
        copy_back()
    return like_operand(X, target) if out is None else out


def _kernel_for(given: Kernel | None, feat_size: int, dtype: str, arguments: CsrArguments) -> Kernel:
    if given is None:
        return kernel(feat_size, dtype, arguments.idtype)
    wanted = [p for p in _signature(feat_size, dtype, arguments.idtype).parameters]
    if list(given.signature.parameters) != wanted:
        found = f"{given.name} for {_describe(given.signature.parameters)}"
        raise errors.error("ST507", "st.spmm(kernel=)", found, f"one for {_describe(wanted)}", "tune it for this call")
    return given


@functools.cache
def _signature(feat_size: int, dtype: str, idtype: str) -> Any:
    func = program(feat_size, dtype, idtype)
    return signature_of(func, main_function(lower(func, "position")))


def _describe(parameters: Any) -> str:
    shapes = {p.name: p for p in parameters}
    try:
        return f"{shapes['B'].shape[1]} features, {shapes['A'].dtype} values, {shapes['indices'].dtype} indices"
    except (KeyError, IndexError, TypeError):
        return f"parameters {', '.join(shapes)}"


def _call(
    chosen: Kernel, arguments: CsrArguments, operand: NDArray[Any], target: NDArray[Any], matrix: SparseMatrix
) -> None:
    m, n = matrix.shape
    chosen.entry(
        arguments.data, kernel_view(operand), target, arguments.indptr, arguments.indices, m, n, matrix.nnz
    )
