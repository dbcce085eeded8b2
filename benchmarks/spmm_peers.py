"""The peers of SpMM, each in its best form: int32 indices, prepared handles, a given output, warm."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from harness.contender import Absent, Contender
from numpy.typing import NDArray
from scipy.sparse import _sparsetools

Floats = NDArray[np.float32]
PLAIN_C = Path(__file__).with_name("spmm_plain.c")


def scipy_spmm(A: sp.csr_array, X: Floats, out: Floats, threads: int) -> Contender:
    """What ``A @ X`` runs, without the allocation of its result; it adds, so the output is set to zero."""
    (m, n), feat = A.shape, X.shape[1]
    arrays = (A.indptr, A.indices, A.data, X.ravel(), out.reshape(-1))

    def call() -> None:
        out.fill(0)
        _sparsetools.csr_matvecs(m, n, feat, *arrays)

    return Contender("SciPy", scipy.__version__, call, lambda: out)


def torch_spmm(A: sp.csr_array, X: Floats, out: Floats, threads: int) -> Contender | Absent:
    """``torch.addmm(beta=0, out=)`` of a CSR tensor with int32 indices, which its MKL takes directly."""
    try:
        import torch
    except ImportError as reason:
        return Absent("torch", str(reason))
    torch.set_num_threads(threads)
    arrays = [torch.from_numpy(array) for array in (A.indptr, A.indices, A.data)]
    matrix = torch.sparse_csr_tensor(*arrays, size=A.shape, check_invariants=False)
    operand, result = torch.from_numpy(X), torch.from_numpy(out)
    call = functools.partial(torch.addmm, result, matrix, operand, beta=0, out=result)
    return Contender("torch", torch.__version__, call, lambda: out)


class _Description(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


_NON_TRANSPOSE, _GENERAL, _ROW_MAJOR, _MANY_CALLS = 10, 20, 101, 1000


def mkl_spmm(A: sp.csr_array, X: Floats, out: Floats, threads: int) -> Contender | Absent:
    """MKL's inspector-executor: the handle is optimised for many products of this width."""
    try:
        library, version = _mkl()
    except (ImportError, OSError) as reason:
        return Absent("MKL", str(reason))
    library.MKL_Set_Num_Threads(threads)
    (m, n), feat = A.shape, X.shape[1]
    handle, description = ctypes.c_void_p(), _Description(_GENERAL, 0, 0)
    starts, indices, data = (ctypes.c_void_p(a.ctypes.data) for a in (A.indptr, A.indices, A.data))
    ends = ctypes.c_void_p(A.indptr.ctypes.data + A.indptr.itemsize)
    _done(library.mkl_sparse_s_create_csr(ctypes.byref(handle), 0, m, n, starts, ends, indices, data))
    hint = library.mkl_sparse_set_mm_hint
    _done(hint(handle, _NON_TRANSPOSE, description, _ROW_MAJOR, feat, _MANY_CALLS))
    _done(library.mkl_sparse_optimize(handle))
    multiply = library.mkl_sparse_s_mm
    x, y = ctypes.c_void_p(X.ctypes.data), ctypes.c_void_p(out.ctypes.data)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def call() -> None:
        _done(multiply(_NON_TRANSPOSE, one, handle, description, _ROW_MAJOR, x, feat, feat, zero, y, feat))

    return Contender("MKL", version, call, lambda: _keeping(out, A, X))


def _keeping(out: Floats, *_: Any) -> Floats:
    """The output; the arrays that a handle points to live as long as the contender."""
    return out


def _done(status: int) -> None:
    if status:
        raise RuntimeError(f"MKL returned status {status}")


@functools.cache
def _mkl() -> tuple[ctypes.CDLL, str]:
    files = importlib.metadata.files("mkl") or []
    path = next((file.locate() for file in files if "libmkl_rt.so" in file.name), None)
    if path is None:
        raise ImportError("the package mkl has no libmkl_rt.so")
    return ctypes.CDLL(str(Path(str(path)).resolve())), importlib.metadata.version("mkl")


def numba_spmm(A: sp.csr_array, X: Floats, out: Floats, threads: int) -> Contender | Absent:
    """Loops over rows, entries and features, compiled with ``fastmath`` and ``prange``."""
    try:
        import numba
    except ImportError as reason:
        return Absent("numba", str(reason))
    numba.set_num_threads(threads)
    call = functools.partial(_numba_kernel(), A.indptr, A.indices, A.data, X, out)
    return Contender("numba", numba.__version__, call, lambda: out)


@functools.cache
def _numba_kernel() -> Callable[..., None]:
    import numba

    @numba.njit(parallel=True, fastmath=True, boundscheck=False)
    def spmm(indptr, indices, data, X, out):  # type: ignore[no-untyped-def]
        for i in numba.prange(out.shape[0]):
            out[i, :] = 0
            for p in range(indptr[i], indptr[i + 1]):
                j, a = indices[p], data[p]
                for k in range(X.shape[1]):
                    out[i, k] += a * X[j, k]

    return spmm  # type: ignore[no-any-return]


def plain_c(
    A: sp.csr_array, X: Floats, out: Floats, threads: int, source: Path = PLAIN_C
) -> Contender | Absent:
    """The bound: hand-written C for this width (`spmm_plain.c`), by the machine's own compiler."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return Absent(_name(source), "no C compiler")
    function, version = _compiled_c(compiler, source, X.shape[1])
    addresses = [ctypes.c_void_p(a.ctypes.data) for a in (A.indptr, A.indices, A.data, X, out)]
    sizes = [ctypes.c_int64(A.shape[0]), ctypes.c_int64(A.nnz)]
    os.environ["OMP_NUM_THREADS"] = str(threads)
    call = functools.partial(function, *sizes, *addresses)
    return Contender(_name(source), version, call, lambda: _keeping(out, A, X))


def _name(source: Path) -> str:
    return "plain C" if source == PLAIN_C else source.stem.replace("_", " ")


@functools.cache
def _compiled_c(compiler: str, source: Path, feat: int) -> tuple[Any, str]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"spmm_{feat}.so"
        # Not -ffast-math: GCC then links code that makes the whole process flush small numbers to zero.
        flags = [
            "-O3",
            "-march=native",
            "-mprefer-vector-width=512",
            "-fopenmp",
            "-shared",
            "-fPIC",
        ]
        subprocess.run([compiler, *flags, f"-DF={feat}", str(source), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
    version = subprocess.run(
        [compiler, "-dumpfullversion"], check=True, capture_output=True, text=True
    ).stdout
    return loaded.spmm, version.strip()


#: In the order of the tables. The plain C kernel is a bound, not a peer.
PEERS = (scipy_spmm, torch_spmm, mkl_spmm, numba_spmm)
