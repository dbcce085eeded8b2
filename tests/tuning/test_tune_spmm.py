"""`st.tune`: from a matrix to a saved kernel."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
import tvm_ffi
from tvm.s_tir import Schedule
from tvm.tirx import AttrStmt

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops.spmm_schedule import default_decisions, resident_decisions, schedule
from sparse_tir.runtime import resolve_target
from sparse_tir.runtime.target import private_cache_bytes
from sparse_tir.tuning import kernel_path, tune
from sparse_tir.tuning.operators import OPERATORS
from sparse_tir.tuning.operators.reference import product, tolerances, wrong_values
from sparse_tir.tuning.problem import workload
from sparse_tir.tuning.search import draw, replay

FEAT = 8


def matrix(seed=0, shape=(300, 200), dtype="float32", **changes):
    return sp.random_array(shape, density=0.03, format="csr", dtype=dtype, rng=seed, **changes)


def problem(feat=FEAT, dtype="float32"):
    return OPERATORS["spmm"].make_problem(st.asarray(matrix().astype(dtype)), feat, resolve_target())


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    A = matrix()
    events = []
    work_dir = tmp_path_factory.mktemp("job")
    result = tune(
        "spmm", A, feat=FEAT, work_dir=work_dir, max_trials_global=4, threads=1, on_event=events.append
    )
    return A, result, events


def test_the_saved_kernel_computes_spmm_also_for_another_matrix(tuned):
    A, result, _ = tuned
    kernel = st.load(result.kernel_path)
    for other in (A, matrix(seed=5, shape=(77, 31)), sp.csr_array((4, 9), dtype="float32")):
        X = np.random.default_rng(3).random((other.shape[1], FEAT), np.float32)
        np.testing.assert_allclose(st.spmm(other, X, kernel=kernel), other @ X, rtol=1e-5, atol=1e-6)


def test_the_default_is_measured_first_and_every_trial_is_reported(tuned):
    _, result, events = tuned
    assert tuple(events) == result.trials
    default = asdict(resident_decisions(default_decisions(FEAT)))  # the matrix is small
    assert result.trials[0].decisions == {**default, "tile": list(default["tile"])}
    assert result.best.seconds.median <= result.default.seconds.median


def test_the_metadata_say_what_was_tuned_for(tuned):
    A, result, _ = tuned
    assert result.kernel_path == kernel_path(result.work_dir)
    tuning = st.load(result.kernel_path).metadata["tuning"]
    assert tuning["decisions"] == dict(result.best.decisions)
    assert tuning["seconds"]["median"] == result.best.seconds.median
    assert (tuning["op"], tuning["feat"], tuning["dtype"], tuning["trials"]) == ("spmm", FEAT, "float32", 4)
    pattern = st.asarray(A).pattern
    assert tuning["pattern"]["fingerprint"] == pattern.fingerprint
    assert tuning["pattern"]["shape"] == [300, 200]
    assert tuning["pattern"]["rows"]["longest"] == pattern.rows.longest


def test_the_same_job_does_not_measure_again(tuned):
    A, result, _ = tuned
    events = []
    arguments = {"feat": FEAT, "work_dir": result.work_dir, "max_trials_global": 4, "threads": 1}
    assert tune("spmm", A, **arguments, on_event=events.append).best == result.best
    assert events == []


def test_records_of_another_matrix_are_left_alone(tuned):
    _, result, _ = tuned
    before = len((result.work_dir / "database_tuning_record.json").read_text().splitlines())
    other = tune("spmm", matrix(seed=7), feat=FEAT, work_dir=result.work_dir, max_trials_global=1, threads=1)
    assert len(other.trials) == 1
    lines = (result.work_dir / "database_tuning_record.json").read_text().splitlines()
    assert len(lines) == before + 1
    assert json.loads(lines[-1])[0] != json.loads(lines[0])[0]


@pytest.mark.parametrize("given", [{"op": "sort"}, {"op": None}], ids=str)
def test_an_unknown_operator_is_refused(tmp_path, given):
    with pytest.raises(errors.TuningError, match="ST601") as caught:
        tune(given["op"], matrix(), feat=FEAT, work_dir=tmp_path)
    assert "one of 'spmm'" in str(caught.value)


@pytest.mark.parametrize("feat", [0, -1, 1.5, True, "8", 1 << 30])
def test_a_width_out_of_range_is_refused(tmp_path, feat):
    with pytest.raises(errors.TuningError, match=r"ST604\] st.tune.feat"):
        tune("spmm", matrix(), feat=feat, work_dir=tmp_path)


@pytest.mark.parametrize(
    ("A", "code"),
    [
        (np.eye(3), "ST101"),
        (sp.csr_array((0, 3), dtype="float32"), "ST601"),
        (sp.csr_array((3, 3), dtype="float32"), "ST601"),
        (sp.eye_array(3, dtype="complex64"), "ST156"),
    ],
    ids=["dense", "no rows", "no entries", "complex"],
)
def test_a_matrix_that_cannot_be_tuned_for_is_refused(tmp_path, A, code):
    with pytest.raises(errors.SparseTIRError, match=code):
        tune("spmm", A, feat=FEAT, work_dir=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("feat", [1, 3, 8, 64, 143, 520, 524])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_width_has_a_space_whose_seeds_apply(feat, dtype):
    tuned_for = problem(feat, dtype)
    module = workload(tuned_for, 1)
    seeds = [draw(tuned_for, module, seed, 1) for seed in tuned_for.seeds]
    assert tuple(seeds[0].decisions["tile"]) == default_decisions(feat, dtype).tile
    assert len({seed.key for seed in seeds}) == len(seeds) >= 3
    for state in range(1, 4):
        candidate = draw(tuned_for, module, tuned_for.space, state)
        assert np.prod(candidate.decisions["tile"]) == feat
        assert replay(module, candidate.trace).key == candidate.key


def lowered(sch, tuned_for):
    """The loops; the root block, where decisions are written down, left out."""
    body = tuned_for.finish(sch.mod)["main"].body
    return (body.body if isinstance(body, AttrStmt) else body).block.body


@pytest.mark.parametrize(("n_rows", "is_resident"), [(300, True), (20_000, False)])
def test_the_first_seed_is_what_the_default_kernel_runs(n_rows, is_resident):
    tuned_for = OPERATORS["spmm"].make_problem(st.asarray(matrix(shape=(n_rows, 200))), 64, resolve_target())
    assert ((n_rows + 200) * 64 * 4 <= private_cache_bytes()) == is_resident
    seeded, default = Schedule(tuned_for.module), Schedule(tuned_for.module)
    tuned_for.seeds[0](seeded)
    decisions = default_decisions(64)
    schedule(default, resident_decisions(decisions) if is_resident else decisions)
    found, expected = (lowered(sch, tuned_for) for sch in (seeded, default))
    assert tvm_ffi.structural_equal(found, expected, map_free_vars=True)


def test_expected_results_are_rounded_once_and_integers_wrap():
    A = st.asarray(matrix())
    X = np.random.default_rng(0).random((200, 70), np.float32)
    exact = A.to_scipy().astype(np.float64) @ X.astype(np.float64)
    np.testing.assert_array_equal(product(A, X), exact.astype(np.float32))
    whole = st.asarray(sp.csr_array(np.array([[2**30, 2**30]], np.int32)))
    assert product(whole, np.array([[2], [1]], np.int32)).tolist() == [[2**30 * 3 - 2**32]]


@pytest.mark.parametrize("signs", [1, -1], ids=["positive", "cancelling"])
def test_tolerances_accept_another_order_and_refuse_a_lost_entry(signs):
    random = np.random.default_rng(0)
    A = matrix(shape=(40, 3000), seed=2, data_sampler=lambda size: random.random(size))
    A.data[::2] *= signs
    X = random.random((3000, 4), np.float32)
    rtol, atol = tolerances(st.asarray(A), X)
    expected = product(st.asarray(A), X)
    flipped = sp.csr_array(A[:, ::-1])
    np.testing.assert_allclose(flipped @ X[::-1], expected, rtol=rtol, atol=atol)
    wrong = A.copy()
    wrong.data[wrong.indptr[5]] = 0
    assert not np.allclose(wrong @ X, expected, rtol=rtol, atol=atol)


def test_integers_are_compared_exactly():
    assert tolerances(st.asarray(matrix().astype("int32")), np.ones((200, 1), np.int32)) == (0, 0)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_an_output_before_the_call_is_wrong_everywhere(dtype):
    values = np.array([[0, -1], [7, 3]], dtype)
    assert (wrong_values(values) != values).all()
