"""The settings: one table, printed by ``sparse-tir env``. They are read when they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from . import errors

Value = TypeVar("Value")


@dataclass(frozen=True)
class Setting(Generic[Value]):
    """One environment variable.

    Attributes
    ----------
    name, variable
        What it is called here and in the environment.
    meaning
        What it sets, and who reads it.
    parse
        From the text of the variable to the value; raises ValueError for other texts.
    default
        The value if the variable is missing or empty.
    """

    name: str
    variable: str
    meaning: str
    parse: Callable[[str], Value]
    default: Value

    def value(self) -> Value:
        """What the environment says now.

        Raises
        ------
        TuningError
            ST604 if the variable holds something else.
        """
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        try:
            return self.parse(text)
        except ValueError as reason:
            raise errors.error("ST604", f"${self.variable}", repr(text), str(reason)) from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("a number from 1 on")
    return int(text)


NUM_THREADS: Setting[int | None] = Setting(
    "num_threads",
    "TVM_NUM_THREADS",
    "threads of kernels, read by TVM before the first one runs (by default it takes half of the logical "
    "cores) and by tuning (by default the physical cores)",
    _positive,
    None,
)
WORK_DIR: Setting[Path] = Setting(
    "work_dir",
    "SPARSE_TIR_WORK_DIR",
    "where `sparse-tir tune` keeps its records and kernels unless --work-dir is given",
    Path,
    Path("work-dir"),
)

SETTINGS: tuple[Setting[int | None] | Setting[Path], ...] = (NUM_THREADS, WORK_DIR)
