"""The search by itself: nothing is measured here."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import subprocess
import sys

import numpy as np
import tuning_kernels as kernels
from tvm.s_tir import Schedule

from sparse_tir.tuning.mutator import mutate_categorical, mutators_for
from sparse_tir.tuning.problem import workload
from sparse_tir.tuning.search import Search, decisions_of, draw, plain, replay

PROBLEM = kernels.problem()
WORKLOAD = workload(PROBLEM, 1)
SIZES = {5: 300, 6: 200, 7: 1800}


def trace(seed=1):
    return draw(PROBLEM, WORKLOAD, kernels.space, seed).measure.sch.trace


def decisions(some):
    return decisions_of(plain(some.as_json(True)))


def proposals(seed, problem=PROBLEM, batches=3):
    """What a search proposes if more rows per chunk are faster and unrolling is slower."""
    search, keys = Search(problem, workload(problem, 1), SIZES, batch=6, seed=seed, threads=1), []
    for _ in range(batches):
        batch = search.propose(keys) or []
        keys += [candidate.key for candidate in batch]
        seconds = [c.decisions.get("unroll", 1) / c.decisions["rows"] for c in batch]
        search.learn(batch, [[x, x] for x in seconds])
    return keys


def test_equal_seeds_and_times_give_equal_candidates():
    first = proposals(3)
    assert len(set(first)) == len(first) >= 14
    assert proposals(3) == first
    assert proposals(4) != first


def test_another_process_proposes_the_same_whatever_its_hashes_are():
    program = "import json, test_tune_search as t; print(json.dumps(t.proposals(3)))"
    path = os.pathsep.join(filter(None, sys.path))
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(answer.stdout) == proposals(3)


def test_a_small_space_is_exhausted_without_touching_the_random_state_of_the_caller():
    # With 6 candidates the cost model never gets warm, so that its scores stay random.
    problem = dataclasses.replace(PROBLEM, space=kernels.branching_space)
    state = np.random.get_state()
    assert len(proposals(3, problem)) == 6
    np.testing.assert_equal(np.random.get_state(), state)


def test_known_candidates_are_not_proposed():
    search = Search(PROBLEM, WORKLOAD, SIZES, batch=50, seed=1, threads=1)
    first = [candidate.key for candidate in search.propose(())]
    again = Search(PROBLEM, WORKLOAD, SIZES, batch=50, seed=1, threads=1)
    assert not {candidate.key for candidate in again.propose(first)} & set(first)


def test_a_categorical_mutation_changes_one_decision_to_another_value():
    old = trace()
    seen = set()
    for state in range(1, 40):
        new = mutate_categorical(old, state)
        changed = {name for name, value in decisions(new).items() if value != decisions(old)[name]}
        assert len(changed) == 1
        seen |= changed
        assert decisions(mutate_categorical(old, state)) == decisions(new)
    assert seen == {"rows", "lanes", "unroll"}


def test_a_trace_without_categorical_decisions_is_not_mutated():
    assert mutate_categorical(Schedule(WORKLOAD).trace, 1) is None


def test_mutators_are_weighted_by_the_decisions_that_occur():
    assert sorted(mutators_for([trace(1), trace(2)]).values()) == [0.25, 0.75]


def test_a_recorded_trace_gives_the_same_candidate_and_names_its_decisions():
    values = {"rows": 256, "tile": [2, 16], "lanes": 8, "unroll": 4}
    candidate = draw(PROBLEM, WORKLOAD, functools.partial(kernels.space, **values), 1)
    assert candidate.decisions == values
    assert replay(WORKLOAD, candidate.trace).key == candidate.key


def test_unnamed_decisions_are_numbered():
    sch = Schedule(WORKLOAD)
    sch.work_on("main")
    sch.sample_categorical([3, 5], [0.5, 0.5], 1)
    assert decisions(sch.trace) == {"sample 0": 5}
