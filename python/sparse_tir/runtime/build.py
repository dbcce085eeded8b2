"""`compile`: from a program, at any stage, to a kernel."""

from __future__ import annotations

from typing import Any

import tvm
from tvm.tirx import PrimFunc

from .. import errors
from ..transform import lower
from .artifact import make_metadata
from .cuda_kernel import compile_cuda
from .kernel import Kernel
from .signature import Signature, main_function, signature_of
from .target import TARGET_KINDS, is_cuda, mcpu_of, resolve_target


def compile(
    program: PrimFunc | tvm.IRModule,
    target: Any = None,
    *,
    signature: Signature | None = None,
    extra: dict[str, Any] | None = None,
) -> Kernel:
    """Compile a program. A schedule is applied by the caller; without one the loops run as they are written.

    Parameters
    ----------
    program : PrimFunc or IRModule
        One function: with sparse iterations, or lowered to positions and scheduled, or loops.
    target : None, str or Target
        None means this machine's CPU. ``"cuda"`` means a GPU of compute capability 9.0: loops must be bound to it by
        a schedule, and nvcc must be there, but no GPU.
    signature : Signature, optional
        What a call checks; by default read off the program. A scheduled module has lost its axes: pass the signature
        of the program that it was made from to keep the checks of its structure arrays.
    extra : dict, optional
        More entries for the metadata, such as the schedule's decisions.

    Returns
    -------
    Kernel
        A `CudaKernel` for a GPU.

    Raises
    ------
    LegalityError
        The program breaks a law, or its schedule cannot be lowered soundly.
    BuildError
        ST503 unknown target, ST507 no function, or a module of several; for a GPU ST508 without nvcc, ST509 if nvcc
        fails, ST515 if no loop is bound.
    DataError
        ST159 a signature or metadata of another type.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sparse_tir as st
    >>> from sparse_tir.ops import spmm
    >>> kernel = st.compile(spmm.program(4))
    >>> A, X, Y = sp.eye_array(3, format="csr", dtype="float32"), np.ones((3, 4), "float32"), np.empty((3, 4), "float32")
    >>> kernel(A.data, X, Y, A.indptr, A.indices)
    >>> float(Y.sum())
    12.0
    """
    resolved = resolve_target(target, TARGET_KINDS)
    if not isinstance(program, PrimFunc | tvm.IRModule):
        expected = "a function or a module of one"
        raise errors.error("ST507", "st.compile(program)", f"a {type(program).__name__}", expected)
    if signature is not None and not isinstance(signature, Signature):
        found = f"a {type(signature).__name__}"
        raise errors.error("ST159", "st.compile(signature=)", found, "a Signature, such as kernel.signature")
    if extra is not None and not isinstance(extra, dict):
        raise errors.error(
            "ST159", "st.compile(extra=)", f"a {type(extra).__name__}", "a dict of JSON values"
        )
    module = program if isinstance(program, tvm.IRModule) else tvm.IRModule({"main": program})
    func = main_function(module)
    name = str(func.attrs.get("global_symbol", "main"))
    loops = main_function(lower(module, "loop"))
    signature = signature_of(func, loops) if signature is None else signature
    # the entry point of every library has one name, whatever the program is called
    named = tvm.IRModule({"main": loops.with_attr("global_symbol", "main")})
    described = {"kind": str(resolved.kind.name), "mcpu": mcpu_of(resolved), "text": str(resolved)}
    metadata = make_metadata(name, signature, described, extra or {})
    if is_cuda(resolved):
        return compile_cuda(name, named, signature, resolved, metadata)
    built = tvm.compile(named, target=resolved)
    return Kernel(name, signature, built["main"], built, metadata)
