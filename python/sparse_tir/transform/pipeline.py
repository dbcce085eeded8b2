"""The pipeline as data: everything that lowers, prints or documents the stages reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tvm
from tvm.tirx import PrimFunc

from .. import errors
from ..ir import names
from ..script.location import point_at_file
from . import passes

LOOPS = "loop"
STAGES = (names.COORDINATE_STAGE, names.POSITION_STAGE, LOOPS)


@dataclass(frozen=True)
class Step:
    """One pass, and the stage that it helps to reach."""

    name: str
    towards: str
    make: Callable[[], Any]


#: From a program to ordinary TVM. Schedules apply at the position stage: after the second step, before the third.
PIPELINE: tuple[Step, ...] = (
    Step("LowerSparseIter", names.POSITION_STAGE, passes.LowerSparseIter),
    Step("LowerSparseBuffer", names.POSITION_STAGE, passes.LowerSparseBuffer),
    Step("PlaceInit", LOOPS, passes.PlaceInit),
    Step("ExpandCombine", LOOPS, passes.ExpandCombine),
    Step("LegalizeArithmetic", LOOPS, passes.LegalizeArithmetic),
    Step("InsertPrefetch", LOOPS, passes.InsertPrefetch),
    Step("UnrollMasked", LOOPS, passes.UnrollMasked),
    Step("StreamStores", LOOPS, passes.StreamStores),
)


def stage_of(func: PrimFunc) -> str:
    """``"coordinate"``, ``"position"`` or ``"loop"``."""
    return str(func.attrs.get(names.STAGE, LOOPS))


def lower(program: PrimFunc | tvm.IRModule, stage: str = LOOPS) -> tvm.IRModule:
    """Lower a program to a later stage.

    Parameters
    ----------
    program : PrimFunc or IRModule
        A function (it becomes ``main`` of a module) or a module whose functions are all at one stage.
    stage : {"position", "loop"}
        ``"position"``: TVM blocks over positions, to be scheduled. ``"loop"``: ready for ``tvm.compile``.

    Returns
    -------
    IRModule

    Raises
    ------
    LegalityError
        ST401 to ST411 if the program breaks a law, ST420 to ST423 if it cannot be lowered soundly.
    DataError
        ST159 if it is no program.

    Examples
    --------
    >>> import sparse_tir as st
    >>> from sparse_tir.ops import spmm
    >>> module = st.lower(spmm.program(64), stage="position")
    >>> sorted(module.functions)[0].name_hint
    'main'
    """
    if not isinstance(program, PrimFunc | tvm.IRModule):
        found = f"a {type(program).__name__}"
        raise errors.error("ST159", "st.lower(program)", found, "a function under @S.prim_func, or a module")
    if not isinstance(stage, str) or stage not in STAGES[1:]:
        raise errors.error("ST420", "st.lower: stage", repr(stage), " or ".join(map(repr, STAGES[1:])))
    module = program if isinstance(program, tvm.IRModule) else tvm.IRModule({"main": program})
    current = _common_stage(module)
    if STAGES.index(current) > STAGES.index(stage):
        raise errors.error("ST420", "st.lower", f"stage {current!r}", f"a stage before {stage!r}")
    try:
        for step in PIPELINE:
            if STAGES.index(current) < STAGES.index(step.towards) <= STAGES.index(stage):
                module = step.make()(module)
    except errors.SparseTIRError as error:
        raise point_at_file(error) from None
    return module


def _common_stage(module: tvm.IRModule) -> str:
    stages = {stage_of(f) for f in module.functions.values() if isinstance(f, PrimFunc)}
    if len(stages) != 1:
        raise errors.error(
            "ST420", "st.lower", f"functions at the stages {sorted(stages)}", "functions at one stage"
        )
    return stages.pop()
