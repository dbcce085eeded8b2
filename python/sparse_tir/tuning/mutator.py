"""Mutation of categorical decisions: MetaSchedule's own mutators do not touch them."""

from __future__ import annotations

import random
from typing import Any

from tvm.ir.utils import derived_object
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.schedule import Trace


def mutate_categorical(trace: Trace, state: int) -> Trace | None:
    """The trace with one categorical decision changed; None if there is nothing to change.

    A function of its arguments alone: MetaSchedule draws `state` anew for every mutation, so equal seeds give
    equal candidates.
    """
    draw = random.Random(int(state))
    choices = [
        (instruction, int(trace.get_decision(instruction)))
        for instruction in trace.insts
        if instruction.kind.name == "SampleCategorical" and len(instruction.attrs[0]) > 1
    ]
    if not choices:
        return None
    instruction, old = draw.choice(choices)
    others = [value for value in range(len(instruction.attrs[0])) if value != old]
    return trace.with_decision(instruction, draw.choice(others), True)


@derived_object
class MutateCategorical(ms.mutator.PyMutator):  # type: ignore[misc]
    """`mutate_categorical` as a MetaSchedule mutator."""

    def _initialize_with_tune_context(self, context: ms.TuneContext) -> None:
        """Nothing to keep of the context."""

    def apply(self, trace: Trace, state: int) -> Trace | None:
        """The mutated trace, or None."""
        return mutate_categorical(trace, state)

    def clone(self) -> Any:
        """Another one; there is no state to copy."""
        return MutateCategorical()


_MUTATORS = {
    "SamplePerfectTile": ms.mutator.MutateTileSize,
    "SampleCategorical": MutateCategorical,
    "SampleComputeLocation": ms.mutator.MutateComputeLocation,
}


def mutators_for(traces: list[Trace]) -> dict[Any, float]:
    """Mutators for the decisions that occur, so weighted that every decision is equally likely to change."""
    counts = dict.fromkeys(_MUTATORS, 0)
    for trace in traces:
        for instruction in trace.insts:
            if instruction.kind.name in counts:
                counts[instruction.kind.name] += 1
    total = sum(counts.values())
    return {_MUTATORS[kind](): count / total for kind, count in counts.items() if count}
