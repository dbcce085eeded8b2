"""Candidates that are wrong, crash or hang; damaged files; arguments out of range."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import pickle

import filelock
import numpy as np
import pytest
import tuning_kernels as kernels
import tvm

from sparse_tir import errors
from sparse_tir.tuning import best_schedule, tune_problem
from sparse_tir.tuning.launch import available_cores
from sparse_tir.tuning.runner import SharedArrays
from sparse_tir.tuning.worker import Bench, CandidateError, Setup


def faulty(*faults, **changes):
    """Seeds with these faults, in this order."""
    seeds = [
        functools.partial(kernels.faulty_space, fault=kernels.FAULTS.index(fault), rows=64)
        for fault in faults
    ]
    return kernels.problem(space=kernels.faulty_space, seeds=seeds, finish=kernels.faulty_finish, **changes)


def interrupt_after(count):
    """An event that is a Ctrl-C once so many candidates are measured."""

    def stop(trial):
        if trial.index == count - 1:
            raise KeyboardInterrupt

    return stop


@pytest.mark.slow
def test_candidates_may_be_wrong_crash_hang_or_raise_without_ending_the_job(tmp_path):
    problem = faulty("none", "wrong", "crash", "hang", "raise")
    result = tune_problem(problem, work_dir=tmp_path, max_trials_global=5, timeout_sec=4, threads=1)
    assert [trial.status for trial in result.trials] == ["ok", "failed", "failed", "failed", "failed"]
    reasons = ["wrong result", "crashed", "time-out", "lowering failed"]
    assert [trial.reason for trial in result.trials] == [None, *reasons]
    assert all(trial.seconds is None for trial in result.trials[1:])
    assert result.failures_by_reason == dict.fromkeys(reasons, 1)
    assert result.best.index == 0

    failures = json.loads((tmp_path / "result.json").read_text())["failures"]
    assert failures["crashed"] == {"count": 1, "log": failures["crashed"]["log"]}
    assert "SIGSEGV" in failures["crashed"]["log"]
    assert "cannot be lowered on 1 threads" in failures["lowering failed"]["log"]
    assert "nan instead of" in failures["wrong result"]["log"]
    # Nothing of a failed candidate is in the database, and a failed one is not measured again.
    assert len((tmp_path / "database_tuning_record.json").read_text().splitlines()) == 1
    assert tune_problem(problem, work_dir=tmp_path, max_trials_global=5, threads=1).trials == result.trials


def test_trials_keep_their_order_when_a_job_goes_on(tmp_path):
    problem = faulty("none", "wrong", "none", "raise")
    problem = dataclasses.replace(
        problem,
        seeds=[
            *problem.seeds[:2],
            functools.partial(kernels.faulty_space, fault=0, rows=16),
            problem.seeds[3],
        ],
    )
    seen = []
    with pytest.raises(KeyboardInterrupt):
        tune_problem(problem, work_dir=tmp_path, max_trials_global=4, on_event=interrupt_after(2))
    result = tune_problem(problem, work_dir=tmp_path, max_trials_global=4, on_start=seen.extend)
    assert [trial.status for trial in seen] == ["ok", "failed"]
    assert [trial.status for trial in result.trials] == ["ok", "failed", "ok", "failed"]
    again = tune_problem(problem, work_dir=tmp_path, max_trials_global=4)
    assert again.trials == result.trials


def test_records_of_another_number_of_threads_are_not_applied(tmp_path):
    tune_problem(kernels.problem(), work_dir=tmp_path, max_trials_global=1, threads=1)
    assert best_schedule(kernels.problem(), tmp_path, threads=1)["main"] is not None
    if available_cores() > 1:
        with pytest.raises(errors.TuningError, match="ST603"):
            best_schedule(kernels.problem(), tmp_path, threads=2)


def test_an_operand_damaged_by_one_candidate_does_not_fail_the_next():
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    arrays = SharedArrays()
    stored = [arrays.add(expected), arrays.add(np.full_like(expected, np.nan))]
    setup = Setup(
        module=tvm.ir.save_json(kernels.spmm_module(32)),
        target=str(kernels.TARGET),
        finish=pickle.dumps(kernels.unchanged),
        descriptor=arrays.descriptor,
        arguments=(*stored, 7),
        output=1,
        expected=arrays.add(expected),
        rtol=0,
        atol=0,
    )
    with contextlib.closing(arrays):
        bench = Bench(setup)

        def copy(source, output, scalar):
            assert scalar == 7
            output.copyfrom(source.numpy())

        def zero(source, output, scalar):
            source.copyfrom(np.zeros_like(expected))

        bench.check(copy)
        with pytest.raises(CandidateError, match="wrong result"):
            bench.check(zero)
        bench.check(copy)
        bench._arrays[0][:] = 0  # damage that nobody noticed so far
        bench.check(copy)
        with pytest.raises(CandidateError, match="wrong result"):
            bench.check(lambda *arguments: None)  # the output of the call before does not count


def test_a_wrong_default_is_no_default_and_the_best_right_one_wins(tmp_path):
    result = tune_problem(faulty("wrong", "none"), work_dir=tmp_path, max_trials_global=2)
    assert result.default.reason == "wrong result"
    assert result.best.index == 1
    assert result.speedup is None


def test_a_job_without_a_right_candidate_says_why(tmp_path):
    with pytest.raises(errors.TuningError, match="ST602") as caught:
        tune_problem(faulty("wrong", "raise"), work_dir=tmp_path, max_trials_global=2)
    assert "'wrong result': 1, 'lowering failed': 1" in str(caught.value)
    with pytest.raises(errors.TuningError, match="ST603"):
        best_schedule(faulty("wrong"), tmp_path)


def test_what_an_event_raises_ends_the_job_and_keeps_the_records(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        tune_problem(kernels.problem(), work_dir=tmp_path, max_trials_global=9, on_event=interrupt_after(2))
    assert len((tmp_path / "database_tuning_record.json").read_text().splitlines()) == 2
    assert best_schedule(kernels.problem(), tmp_path)["main"] is not None


@pytest.mark.slow
def test_damaged_lines_are_skipped_counted_and_kept(tmp_path):
    problem = kernels.problem()
    before = tune_problem(problem, work_dir=tmp_path, max_trials_global=3)
    path = tmp_path / "database_tuning_record.json"
    lines = path.read_text().splitlines()
    no_trace = json.loads(lines[0])
    no_trace[1][0] = [[["Fuse", ["l99"], [], ["l100"]]], []]
    damaged = "\n".join([lines[0], "{ not json", json.dumps(no_trace), lines[1], lines[2][:50]])
    path.write_text(damaged)  # its last line is torn, as a killed job may leave it
    after = tune_problem(problem, work_dir=tmp_path, max_trials_global=3)
    assert after.skipped_lines == 3
    places = [f"database_tuning_record.json line {number}" for number in (2, 5, 3)]
    assert after.skipped_places == tuple(places)  # the third one is read, and does not apply
    assert json.loads((tmp_path / "result.json").read_text())["skipped_places"] == places
    assert after.trials[:2] == before.trials[:2]
    assert len(after.trials) == 3
    assert path.read_text().startswith(damaged + "\n")
    assert len(path.read_text().splitlines()) == 6
    assert best_schedule(problem, tmp_path)["main"] is not None
    assert tune_problem(problem, work_dir=tmp_path, max_trials_global=3).trials == after.trials


@pytest.mark.slow
def test_a_damaged_workload_line_hides_its_records_only(tmp_path):
    problem, other = kernels.problem(), kernels.problem(fingerprint="other")
    tune_problem(problem, work_dir=tmp_path, max_trials_global=1)
    tune_problem(other, work_dir=tmp_path, max_trials_global=1)
    path = tmp_path / "database_workload.json"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(["?", lines[1]]) + "\n")
    assert best_schedule(other, tmp_path)["main"] is not None
    (tmp_path / "result.json").unlink()
    with pytest.raises(errors.TuningError, match="1 unreadable lines"):
        best_schedule(problem, tmp_path)
    result = tune_problem(problem, work_dir=tmp_path, max_trials_global=1)
    assert (len(result.trials), result.skipped_lines) == (1, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_trials_global", 0),
        ("max_trials_global", 1.5),
        ("num_trials_per_iter", 0),
        ("seed", -1),
        ("timeout_sec", 0),
        ("threads", 0),
        ("threads", 10_000),
    ],
)
def test_arguments_out_of_range_are_refused(tmp_path, name, value):
    with pytest.raises(errors.TuningError, match=rf"ST604\] st.tune.{name}"):
        tune_problem(kernels.problem(), work_dir=tmp_path, **{name: value})
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.TuningError, match=r"ST604\] st.tune.work_dir"):
        tune_problem(kernels.problem(), work_dir=tmp_path / "file" / "below")
    with pytest.raises(errors.TuningError, match="ST603"):
        best_schedule(kernels.problem(), tmp_path / "file" / "below")


def test_two_jobs_do_not_share_a_directory(tmp_path):
    with filelock.FileLock(tmp_path / ".lock"), pytest.raises(errors.TuningError, match="in use by another"):
        tune_problem(kernels.problem(), work_dir=tmp_path)


def refuse(sch):
    sch.get_sblock("no such block")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": []}, "no seed"),
        ({"target": tvm.target.Target({"kind": "cuda", "arch": "sm_90"})}, "cuda"),
        ({"module": tvm.IRModule({"other": kernels.spmm_module(32)["main"]})}, "named main"),
        ({"seeds": [refuse]}, "no such block"),
        ({"finish": lambda module: module}, "module-level function"),
        ({"arguments": list}, "0 arguments"),
        ({"output": 9}, "output position 9"),
        ({"expected": np.zeros((2, 2))}, r"shape \(2, 2\)"),
    ],
    ids=["seeds", "target", "module", "seed", "finish", "arguments", "output", "expected"],
)
def test_problems_that_cannot_be_tuned_are_refused(tmp_path, change, message):
    problem = dataclasses.replace(kernels.problem(), **change)
    with pytest.raises(errors.TuningError, match="ST601") as caught:
        tune_problem(problem, work_dir=tmp_path, max_trials_global=1)
    assert caught.match(message)


def test_a_measuring_process_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("sparse_tir.tuning.launch._START", "raise SystemExit('no such module')")
    with pytest.raises(errors.TuningError, match="ST605") as caught:
        tune_problem(kernels.problem(), work_dir=tmp_path, max_trials_global=1)
    assert "no such module" in str(caught.value)
