"""What a report shows. All times are in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: median and 20th and 80th percentile of n samples."""

    median: float
    p20: float
    p80: float
    n: int


@dataclass(frozen=True)
class Candidate:
    """One schedule that was tried. `seconds` is None for a failed one, and `reason` and `log` say why.

    `key` tells candidates apart; `number` counts from 1 in the order of measuring.
    """

    number: int
    key: str
    decisions: Mapping[str, Any]
    seconds: Timing | None = None
    reason: str | None = None
    log: str = ""


@dataclass(frozen=True)
class Matrix:
    """The sparse operand. `row_lengths` holds ``(first, last, rows)``: so many rows have so many entries."""

    shape: tuple[int, int]
    nnz: int
    dtype: str
    longest: int
    mean: float
    n_empty: int
    row_lengths: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Session:
    """One process that worked on the job. `seconds` and `measured` are None if it was killed."""

    started: str
    state: str
    asked: int
    seed: int
    seconds: float | None = None
    measured: int | None = None


@dataclass(frozen=True)
class Winner:
    """The best candidate: its schedule as Python, and the program that the schedule makes."""

    key: str
    trace: str
    program: str


@dataclass(frozen=True)
class Report:
    """One job.

    Attributes
    ----------
    operator, features, threads
        What was tuned.
    graph
        The name of the matrix, if it has one.
    is_finished
        Whether the job came to its end; if not, `winner` is the fastest candidate so far.
    comparison
        Times measured in turns at the end: ``scipy``, ``default``, ``tuned``, as far as they are known.
    default_key
        Of the default schedule.
    commands
        Command lines by the name of the command: ``tune``, ``run``, ``report``.
    skipped
        Lines of the records that could not be read.
    """

    operator: str
    features: int | None
    threads: int
    graph: str | None
    matrix: Matrix | None
    processor: str | None
    mcpu: str
    versions: Mapping[str, str]
    sessions: tuple[Session, ...]
    is_finished: bool
    candidates: tuple[Candidate, ...]
    comparison: Mapping[str, Timing]
    default_key: str | None
    winner: Winner | None
    commands: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
