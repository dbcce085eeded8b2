"""The passes, as ordinary TVM passes: they compose in ``tvm.transform.Sequential`` and TVM's instruments time them.

Each states the stage that it takes and gives, and refuses another one (ST420).
"""

from __future__ import annotations

from typing import Any

from tvm_ffi import get_global_func

from .. import _base


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


_ = _base.LIBRARY  # the passes live in the compiled library
