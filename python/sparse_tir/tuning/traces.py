"""Recorded traces as plain data: JSON of TVM's schedule traces."""

from __future__ import annotations

import json
from typing import Any

#: Before the name of a decision, in the annotations that `problem.choose` and its like leave.
DECISION_PREFIX = "sparse_tir.tune."

#: ``[instructions, decisions]``.
TraceJSON = list[Any]


def decisions_of(trace: TraceJSON) -> dict[str, Any]:
    """The decisions of a trace: named by the annotations that `choose` and its like leave, else numbered."""
    instructions, decisions = trace
    named = {
        inputs[1]: attributes[0][len(DECISION_PREFIX) :]
        for kind, inputs, attributes, _ in instructions
        if kind == "Annotate" and str(attributes[0]).startswith(DECISION_PREFIX)
    }
    result: dict[str, Any] = {}
    for index, decision in decisions:
        kind, _, attributes, outputs = instructions[index]
        name = named.pop(outputs[0], f"sample {len(result)}")
        result[name] = attributes[0][int(decision)] if kind == "SampleCategorical" else decision
    variants = {name: json.loads(word) for word, name in named.items() if word.startswith('"')}
    return {**variants, **result}
