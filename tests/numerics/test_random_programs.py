"""Random programs over random data: interpreter = positions = loops = compiled.

``SPARSE_TIR_FUZZ=3000 pytest tests/numerics/test_random_programs.py`` runs seeds 0 to 2999 instead of the few of CI.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from sparse_tir import errors
from sparse_tir import script as S
from sparse_tir.interpret import interpret
from sparse_tir.testing.agreement import Stages, assert_same
from sparse_tir.testing.data import draw_arguments
from sparse_tir.testing.generate import draw_program

pytestmark = pytest.mark.filterwarnings("ignore::sparse_tir.interpret.OutOfRangeWriteWarning")
SEEDS = range(int(os.environ.get("SPARSE_TIR_FUZZ", "60")))
#: Data sets of a program: structure with garbage in dead places, values that are NaN or infinite.
DATA = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_of_running_a_random_program_agrees(seed: int) -> None:
    drawn = draw_program(random.Random(seed))
    stages, refused = _stages_of(drawn)
    if stages is None:
        assert refused.code[2] in "24", f"seed {seed}: {refused}"  # of the script, or by a law
        return
    bounds = None if drawn.is_exact else _magnitudes(drawn)
    for number, (garbage, special) in enumerate(DATA):
        rng = np.random.default_rng([seed, number])
        given = draw_arguments(drawn, rng, garbage=garbage, specials=special)
        sizes = (
            interpret(bounds, **given.magnitudes)
            if bounds is not None and not (garbage and special)
            else None
        )
        wanted = stages.run("interpreter", given.values)
        for way in ("position", "loop", "compiled"):
            found = stages.run(way, given.values, policy="trust" if garbage else "validate")
            assert_same(found, wanted, f"seed {seed}, data {number}, {way}", sizes)


def _stages_of(drawn):
    try:
        return Stages.of(S.from_source(drawn.text())), None
    except errors.SparseTIRError as error:
        return None, error


def _magnitudes(drawn):  # the program over absolute values, which bounds what rounding may do
    try:
        return S.from_source(drawn.text(magnitude=True))
    except errors.SparseTIRError:
        return None


def test_most_random_programs_are_legal() -> None:
    accepted = 0
    for seed in range(40):
        try:
            S.from_source(draw_program(random.Random(seed)).text())
            accepted += 1
        except errors.SparseTIRError:
            continue
    assert accepted >= 20
