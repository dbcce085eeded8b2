"""The forms of the JSON files of a work directory: what is read from them later is checked when they are opened."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Form = Callable[[Any], bool]


def text(value: Any) -> bool:
    """A string."""
    return isinstance(value, str)


def number(value: Any) -> bool:
    """A number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def seconds(value: Any) -> bool:
    """A time: a number above 0 that is finite."""
    return number(value) and 0 < value < math.inf


def whole(value: Any) -> bool:
    """An integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def anything(value: Any) -> bool:
    """Any value."""
    return True


def maybe(form: Form) -> Form:
    """That form, or null."""
    return lambda value: value is None or form(value)


def list_of(form: Form, least: int = 0, most: float = math.inf) -> Form:
    """A list of values of one form."""
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(form, value))


def each(form: Form) -> Form:
    """An object whose values are of one form."""
    return lambda value: isinstance(value, Mapping) and all(map(form, value.values()))


def fields(needed: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> Form:
    """An object with these fields, and perhaps others."""

    def fits(value: Any) -> bool:
        if not isinstance(value, Mapping) or not value.keys() >= needed.keys():
            return False
        known = {**needed, **(optional or {})}
        return all(form(value[name]) for name, form in known.items() if name in value)

    return fits


_TIME_FIELDS = {"median": seconds, "p20": seconds, "p80": seconds, "n": whole}


def _times(value: Any) -> bool:
    return fields(_TIME_FIELDS)(value) and value.keys() == _TIME_FIELDS.keys()


_WINNER = fields({"key": text, "decisions": each(anything), "trace": list_of(anything), "seconds": _times})
_MATRIX = fields(
    {
        "shape": list_of(whole, 2, 2),
        "nnz": whole,
        "dtype": text,
        "rows": fields({"longest": whole, "mean": number, "n_empty": whole}),
        "row_lengths": list_of(list_of(whole, 3, 3)),
    }
)
#: A session in ``job.json``.
SESSION = fields(
    {
        "started": text,
        "seconds": maybe(number),
        "state": text,
        "asked": whole,
        "seed": whole,
        "measured": maybe(whole),
    }
)

#: ``result.json``.
RESULT = fields(
    {
        "schema_version": whole,
        "workload": text,
        "target": each(anything),
        "best": _WINNER,
        "default": maybe(_WINNER),
        "trials": fields({"ok": whole, "failed": whole}),
        "records": whole,
        "exhausted": anything,
    },
    {"comparison": each(_times), "failures": each(anything)},
)
#: ``job.json``.
JOB = fields(
    {
        "workload": text,
        "target": each(anything),
        "name": text,
        "signature": each(anything),
        "threads": whole,
        "sessions": list_of(SESSION, 1),
    },
    {
        "matrix": _MATRIX,
        "versions": each(text),
        "commands": each(text),
        "graph": maybe(text),
        "default": maybe(text),
        "processor": maybe(text),
    },
)
