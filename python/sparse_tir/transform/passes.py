"""The passes, as ordinary TVM passes: they compose in ``tvm.transform.Sequential`` and TVM's instruments time them.

Each states the stage that it takes and gives, and refuses another one (ST420).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm.ir import IRModule
from tvm.tirx import PrimFunc
from tvm.tirx.transform import prim_func_pass
from tvm_ffi import get_global_func

from .. import _base, errors
from ..ir import names
from .masked_unroll import unroll_masked
from .prefetch import insert_prefetch
from .streaming import stream_stores


def LowerSparseIter() -> Any:  # noqa: N802
    """Sparse iterations to s_tir blocks over positions (coordinate stage, first half)."""
    return get_global_func("sparse_tir.transform.LowerSparseIter")()


def LowerSparseBuffer() -> Any:  # noqa: N802
    """Coordinate parameters to value arrays; gives the position stage."""
    return get_global_func("sparse_tir.transform.LowerSparseBuffer")()


def PlaceInit() -> Any:  # noqa: N802
    """Inits to where they run once per iteration, whatever the schedule (position stage)."""
    return get_global_func("sparse_tir.transform.PlaceInit")()


def ExpandCombine() -> Any:  # noqa: N802
    """Accumulating stores to read-modify-writes, if their block owns the elements; gives plain loops."""
    return get_global_func("sparse_tir.transform.ExpandCombine")()


def LegalizeArithmetic() -> Any:  # noqa: N802
    """max and min that propagate NaN, integers that wrap (loops)."""
    return get_global_func("sparse_tir.transform.LegalizeArithmetic")()


def InsertPrefetch() -> Any:  # noqa: N802
    """Prefetches where schedules ask for them (loops)."""
    return _of_loops("InsertPrefetch", insert_prefetch)


def UnrollMasked() -> Any:  # noqa: N802
    """Several iterations of a dynamic loop per branch where schedules ask for it (loops)."""
    return _of_loops("UnrollMasked", unroll_masked)


def StreamStores() -> Any:  # noqa: N802
    """Stores past the cache where schedules ask for them (loops)."""
    return _of_loops("StreamStores", stream_stores)


def _of_loops(name: str, transform: Callable[[PrimFunc], PrimFunc]) -> Any:
    def run(func: PrimFunc, _module: IRModule, _context: Any) -> PrimFunc:
        stage = func.attrs.get(names.STAGE)
        if stage is not None:
            raise errors.error("ST420", name, f"a function at the stage {str(stage)!r}", "loops")
        return transform(func)

    return prim_func_pass(run, opt_level=0, name=f"sparse_tir.{name}")


_ = _base.LIBRARY  # the passes live in the compiled library
