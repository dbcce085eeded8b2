"""What TVM's schedules make of lowered programs: a right kernel, or a refusal; never a wrong kernel.

A schedule is written as steps ``primitive block argument ..``; a loop is named by its place among the loops of its
block, counted from the inside (1 is the innermost one). ``cache`` is cache_write, and reverse_compute_at a loop if
one is named; ``decompose`` is decompose_reduction at a loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import formats
import numpy as np
import pytest
import tvm
from tvm.error import InternalError
from tvm.s_tir import Schedule, ScheduleError

import sparse_tir as st
from sparse_tir import errors

#: What comes of a pair; a refusal of ours is named by its code.
RIGHT, TVM_REFUSES, NOT_BUILT = "right", "TVM refuses", "TVM does not build"

#: formats -> outcome -> schedules
TABLE: dict[str, dict[str, list[str]]] = {
    "csr dcsr csf": {
        RIGHT: [
            "split upd_I 1 4; parallel upd_I 2; split upd 1 4; vectorize upd 1",
            "split upd 2 4; parallel upd_I 1",
            "reorder upd 1 2; parallel upd 2",
            "fuse upd 2 1; split upd 1 6",
            "split upd 1 4; blockize upd 1",
        ],
        TVM_REFUSES: ["split upd 2 4; rfactor upd 2"],
    },
    "csr dcsr": {
        RIGHT: [
            "split upd 1 4; reorder upd 2 3 1; cache upd 3; vectorize upd 1; parallel upd_I 1",
            "reorder upd 1 2; decompose upd 1",
        ],
    },
    "csr": {
        RIGHT: [
            "cache upd_I",
            "cache upd; decompose upd 2",
            "blockize upd 2; cache upd_o",
            "split upd 1 4; unroll upd 1; parallel upd 2",
            "split upd 1 4; reorder upd 2 3 1; fuse upd 2 1",
        ],
        TVM_REFUSES: [
            "parallel upd 2",
            "vectorize upd 2",
            "blockize upd 1; parallel upd_o 1",
            "split upd 1 3; blockize upd 1",
        ],
        NOT_BUILT: ["rfactor upd 2"],
    },
    "csf": {
        RIGHT: ["cache upd_L; parallel upd_I 1", "split upd_L 1 2; unroll upd_L 1"],
        TVM_REFUSES: ["parallel upd_L 1"],
        "ST422": [
            "cache upd",
            "split upd 1 4; reorder upd 2 3 1; cache upd 3",
            "reorder upd 1 2; decompose upd 1",
            "blockize upd 2; cache upd_o",
        ],
    },
    "csc": {
        RIGHT: [
            "parallel upd_init 2; vectorize upd_init 1",
            "split upd 1 4; reorder upd 2 3 1; parallel upd 3",
            "split upd 1 4; vectorize upd 1",
            "split upd 2 4; reorder upd 1 2; unroll upd 1",
            "blockize upd 2",
            "fuse upd 2 1",
        ],
        TVM_REFUSES: ["cache upd"],
        "ST423": [
            "parallel upd_J 1",
            "parallel upd 2",
            "split upd_J 1 4; parallel upd_J 2",
            "fuse upd 2 1; parallel upd 1",
            "reorder upd 1 2; split upd 1 4; vectorize upd 1",
            "blockize upd 1; parallel upd_o 1",
        ],
    },
    "ell": {
        RIGHT: [
            "split upd 2 4; vectorize upd 1; parallel upd 4",
            "rfactor upd 2",
            "blockize upd 1; decompose upd_o 1",
            "partition upd 1 3",
        ],
        TVM_REFUSES: ["split upd 2 4; rfactor upd 2"],
    },
}


def _pairs() -> Iterator[Any]:
    for names, outcomes in TABLE.items():
        for outcome, schedules in outcomes.items():
            for name, steps in itertools.product(names.split(), schedules):
                yield pytest.param(name, steps, outcome, id=f"{name}: {steps}")


def apply(schedule: Schedule, steps: str) -> None:
    """Apply the steps."""
    for step in steps.split("; "):
        primitive, block, *arguments = step.split()
        _apply(schedule, primitive, block, arguments)


def _apply(schedule: Schedule, primitive: str, name: str, arguments: list[str]) -> None:
    block = schedule.get_sblock(name)

    def loop(place: str) -> Any:
        return schedule.get_loops(block)[-int(place)]

    if primitive == "split":
        schedule.split(loop(arguments[0]), [None, int(arguments[1])])
    elif primitive in ("reorder", "fuse"):
        getattr(schedule, primitive)(*map(loop, arguments))
    elif primitive == "decompose":
        schedule.decompose_reduction(block, loop(arguments[0]))
    elif primitive == "cache":
        copy = schedule.cache_write(block, 0, "local")
        if arguments:
            schedule.reverse_compute_at(copy, loop(arguments[0]), True)
    elif primitive == "partition":
        schedule.loop_partition(loop(arguments[0]), [int(arguments[1]), None])
    elif primitive == "rfactor":
        schedule.rfactor(loop(arguments[0]), 0)
    else:
        getattr(schedule, primitive)(loop(arguments[0]))


def scheduled(name: str, steps: str) -> tvm.IRModule:
    """The program at the position stage, scheduled. Always a fresh one: a schedule may alter what it is given."""
    schedule = Schedule(st.lower(st.from_source(formats.text(name)), "position"), debug_mask="all")
    apply(schedule, steps)
    return schedule.mod


def check_right(kernel: st.Kernel, name: str) -> None:
    """The kernel writes every element, and SciPy's values."""
    for matrix in formats.matrices():
        m, n = matrix.shape
        B = np.random.default_rng(1).random((n, formats.FEATURES), np.float32)
        C = np.full((m, formats.FEATURES), np.nan, np.float32)
        kernel(**formats.operands(name, matrix), B=B, C=C)
        np.testing.assert_allclose(C, matrix @ B, rtol=1e-5)


@pytest.mark.parametrize(("name", "steps", "outcome"), list(_pairs()))
def test_a_scheduled_program_is_right_or_refused(name: str, steps: str, outcome: str) -> None:
    if outcome == TVM_REFUSES:
        with pytest.raises((ScheduleError, InternalError)) as refused:
            scheduled(name, steps)
        assert "Cannot find a block" not in str(refused.value)  # a step that names nothing tests nothing
        return
    module = scheduled(name, steps)
    if outcome in errors.CODES:
        with pytest.raises(errors.LegalityError) as illegal:
            st.lower(module, "loop")
        assert illegal.value.code == outcome
        return
    loops = st.lower(module, "loop")
    if outcome == NOT_BUILT:
        with pytest.raises(InternalError, match="used before its definition"):
            st.compile(loops)
        return
    check_right(st.compile(loops), name)


@pytest.mark.parametrize("name", formats.NAMES)
def test_the_program_is_right_as_it_is_lowered(name: str) -> None:
    check_right(st.compile(st.from_source(formats.text(name))), name)


def test_the_matrices_have_the_rows_that_schedules_get_wrong() -> None:
    full, empty = formats.matrices()
    lengths = np.diff(full.indptr)
    assert lengths[[0, 5, -1]].tolist() == [0, 0, 0]
    assert lengths.max() == full.shape[1]
    assert empty.nnz == 0
