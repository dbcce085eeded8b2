"""The job as a whole: what it measures, what it returns, what it leaves behind."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tuning_kernels as kernels
import tvm
import tvm_ffi
from tvm.s_tir import meta_schedule as ms

from sparse_tir import errors
from sparse_tir.tuning import best_schedule, tune_problem
from sparse_tir.tuning.launch import available_cores
from sparse_tir.tuning.problem import workload

FILES = {".lock", "database_workload.json", "database_tuning_record.json", "job.json", "result.json"}


def run(module, problem):
    arguments = [tvm.runtime.tensor(x) if isinstance(x, np.ndarray) else x for x in problem.arguments()]
    tvm.compile(problem.finish(module), target=problem.target)["main"](*arguments)
    return arguments[problem.output].numpy()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One job of 16 trials that several tests look at: the default, the warm-up, then evolution."""
    problem, events = kernels.problem(), []
    environment = dict(os.environ)
    result = tune_problem(
        problem, work_dir=tmp_path_factory.mktemp("job"), max_trials_global=16, on_event=events.append
    )
    assert dict(os.environ) == environment
    return problem, result, events


def test_the_best_schedule_computes_the_right_result(finished):
    problem, result, _ = finished
    np.testing.assert_allclose(run(result.best_schedule_module, problem), problem.expected, rtol=1e-4)
    assert not tvm_ffi.structural_equal(result.best_schedule_module, problem.module)


def test_every_trial_is_reported_once_and_the_default_comes_first(finished):
    _, result, events = finished
    assert [trial.index for trial in events] == list(range(16))
    assert tuple(events) == result.trials
    assert events[0].decisions == {"rows": 64, "tile": [1, kernels.FEATURES], "lanes": 16, "unroll": 1}
    assert len({json.dumps(trial.decisions) for trial in events}) == 16
    assert all(trial.seconds.p20 <= trial.seconds.median <= trial.seconds.p80 for trial in events)


def test_the_result_is_never_slower_than_the_default(finished):
    _, result, _ = finished
    assert result.default.decisions == result.trials[0].decisions
    assert result.best.seconds.median <= result.default.seconds.median
    assert result.speedup >= 1


def test_only_the_known_files_are_left_and_the_result_file_tells_all(finished):
    problem, result, _ = finished
    assert {path.name for path in result.work_dir.iterdir()} == FILES
    found = json.loads((result.work_dir / "result.json").read_text())
    assert found["schema_version"] == 1
    assert (found["signature"], found["fingerprint"]) == (problem.signature, problem.fingerprint)
    assert found["versions"]["tvm"] == tvm.__version__
    assert found["mcpu"] == problem.target.attrs["mcpu"]
    assert found["best"]["decisions"] == result.best.decisions
    assert found["best"]["seconds"]["median"] == result.best.seconds.median
    assert found["default"]["seconds"]["median"] == result.default.seconds.median
    assert (found["trials"], found["failures"]) == ({"ok": 16, "failed": 0}, {})


def test_the_database_is_metaschedules_own(finished):
    problem, result, _ = finished
    database = ms.database.JSONDatabase(work_dir=str(result.work_dir))
    assert len(database) == 16
    module = workload(problem, available_cores())
    schedule = database.query_schedule(module, problem.target, "main")
    fastest = min(result.trials, key=lambda trial: trial.seconds.median)
    assert schedule.mod["main"].body.block.annotations["sparse_tir.tune.rows"] in (16, 64, 256)
    assert fastest.status == "ok"


def test_no_tensor_intrinsics_are_imported(finished):
    assert finished[1].trials
    assert "tvm.s_tir.tensor_intrin" not in sys.modules


def test_a_finished_job_is_not_measured_again(finished):
    problem, result, _ = finished
    events = []
    again = tune_problem(problem, work_dir=result.work_dir, max_trials_global=16, on_event=events.append)
    assert events == []
    assert again.best == result.best
    assert again.default == result.default
    assert len(again.trials) == 16


def test_another_process_applies_the_best_schedule(finished):
    problem, result, _ = finished
    program = (
        "import sys, tuning_kernels, tvm\n"
        "from sparse_tir.tuning import best_schedule\n"
        "print(tvm.ir.save_json(best_schedule(tuning_kernels.problem(), sys.argv[1])))\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    answer = subprocess.run(
        [sys.executable, "-c", program, result.work_dir],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_array_equal(
        run(tvm.ir.load_json(answer.stdout), problem), run(result.best_schedule_module, problem)
    )


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "other data"},
        {"signature": {"op": "spmm", "feat": 1}},
        {"target": tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v3"})},
    ],
    ids=["fingerprint", "signature", "target"],
)
def test_records_of_something_else_are_never_applied(finished, change):
    _, result, _ = finished
    with pytest.raises(errors.TuningError, match="ST603"):
        best_schedule(kernels.problem(**change), result.work_dir)


@pytest.mark.slow
def test_a_larger_job_goes_on_where_the_last_one_stopped(tmp_path):
    problem, events = kernels.problem(), []
    first = tune_problem(problem, work_dir=tmp_path, max_trials_global=3)
    second = tune_problem(problem, work_dir=tmp_path, max_trials_global=5, on_event=events.append)
    assert [trial.index for trial in events] == [3, 4]
    assert second.trials[:3] == first.trials
    assert len({json.dumps(trial.decisions) for trial in second.trials}) == 5


@pytest.mark.slow
def test_variants_of_a_branching_space_are_tried_and_named_truly(tmp_path):
    seeds = [functools.partial(kernels.branching_space, variant="direct", rows=64)]
    problem = kernels.problem(space=kernels.branching_space, seeds=seeds)
    result = tune_problem(problem, work_dir=tmp_path, max_trials_global=64)
    # 2 variants of 3 row counts are all there is: the search notices, and ends.
    found = {(trial.decisions["write"], trial.decisions["rows"]) for trial in result.trials}
    assert found == {(write, rows) for write in ("direct", "cached") for rows in (16, 64, 256)}
    assert len(result.trials) == 6
    for line in (tmp_path / "database_tuning_record.json").read_text().splitlines():
        kinds = [instruction[0] for instruction in json.loads(line)[1][0][0]]
        assert ("CacheWrite" in kinds) == ('"\\"cached\\""' in line)


def test_a_job_says_nothing_by_itself(tmp_path, capfd):
    tune_problem(kernels.problem(), work_dir=tmp_path, max_trials_global=2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_killed_job_leaves_whole_records_and_goes_on(tmp_path):
    program = (
        "import sys, tuning_kernels\n"
        "from sparse_tir.tuning import tune_problem\n"
        "tune_problem(tuning_kernels.problem(), work_dir=sys.argv[1], max_trials_global=100,"
        " on_event=lambda trial: print(trial.index, flush=True))\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    job = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    with job, job.stdout:
        for line in job.stdout:
            if int(line) == 4:
                break
        job.send_signal(signal.SIGKILL)
    assert job.returncode == -signal.SIGKILL
    recorded = len(ms.database.JSONDatabase(work_dir=str(tmp_path)))
    assert recorded >= 5
    assert "T.parallel" in best_schedule(kernels.problem(), tmp_path)["main"].script()
    result = tune_problem(kernels.problem(), work_dir=tmp_path, max_trials_global=recorded)
    assert len(result.trials) == recorded
    assert (Path(tmp_path) / "result.json").exists()
