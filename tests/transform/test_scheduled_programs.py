"""What TVM's schedules make of lowered programs: a right kernel, or a refusal; never a wrong kernel.

A schedule is written as steps ``primitive block argument ..``; a loop is named by its place among the loops of its
block, counted from the inside (1 is the innermost one). ``cache`` is cache_write, and reverse_compute_at a loop if
one is named; ``decompose`` is decompose_reduction at a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import formats
import numpy as np
import pytest
import tvm
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import ScheduleError

import sparse_tir as st
from sparse_tir import errors

#: What may come of a pair, beside the code of a refusal of ours.
RIGHT, TVM_REFUSES = "right", "TVM refuses"

REDUCTIONS = ("csr", "dcsr", "csf")

#: Schedules that give right kernels of every format that reduces.
SOUND = [
    "split upd_I 1 4; parallel upd_I 2; split upd 1 4; vectorize upd 1",
]

TABLE: list[tuple[str, str, str]] = []
KNOWN_WRONG: dict[tuple[str, str], str] = {}


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
    elif primitive == "rfactor":
        schedule.rfactor(loop(arguments[0]), 0)
    else:
        getattr(schedule, primitive)(loop(arguments[0]))


def scheduled(name: str, steps: str) -> tvm.IRModule:
    """The program at the position stage, scheduled. Always a fresh one: a schedule may alter what it is given."""
    schedule = Schedule(st.lower(st.from_source(formats.text(name)), "position"), debug_mask="all")
    apply(schedule, steps)
    return schedule.mod
