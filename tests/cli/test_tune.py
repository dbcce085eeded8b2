"""`sparse-tir tune`, and `run --from` what it saved."""

from __future__ import annotations

import json
import shutil

import pytest
from cli_cases import DECISIONS, FEAT

from sparse_tir.cli import progress

TRIALS = 6


@pytest.fixture(scope="module")
def tuned(graph, tmp_path_factory):
    """A work directory, and what the command said: in a process of its own."""
    from click.testing import CliRunner

    from sparse_tir.cli import main

    work_dir = tmp_path_factory.mktemp("job") / "W"
    arguments = ["tune", "spmm", str(graph), "--feat", str(FEAT), "--trials", str(TRIALS), "--threads", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TVM_NUM_THREADS", "1")
        result = CliRunner().invoke(main, [*arguments, "--work-dir", str(work_dir), "--json"])
    assert result.exit_code == 0, result.stderr
    return work_dir, json.loads(result.stdout), result.stderr


def test_another_process_runs_the_saved_kernel(tuned, graph, checksum, spawn):
    work_dir, _, _ = tuned
    result = spawn("run", "spmm", graph, "--feat", FEAT, "--from", work_dir, "--repeat", 1, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["checksum"] == pytest.approx(checksum, rel=1e-5)
    assert found["kernel"]["path"] == str(work_dir / "kernel.so")
    assert found["kernel"]["decisions"] == tuned[1]["decisions"]


def test_json_tells_what_was_found(tuned, graph):
    work_dir, found, lines = tuned
    assert {
        key: found[key] for key in ("op", "graph", "shape", "nnz", "dtype", "feat", "threads", "seed")
    } == {
        "op": "spmm",
        "graph": str(graph),
        "shape": [500, 500],
        "nnz": 3000,
        "dtype": "float32",
        "feat": FEAT,
        "threads": 1,
        "seed": 0,
    }
    assert found["trials"] == {"ok": TRIALS, "failed": 0}
    assert set(found["decisions"]) == set(found["default_decisions"]) == DECISIONS
    assert set(found["comparison"]) == {"scipy", "default", "tuned"}
    assert all(0 < t["p20"] <= t["ms"] <= t["p80"] and t["n"] == 25 for t in found["comparison"].values())
    assert set(found["speedup"]) == {"scipy", "default"}
    assert (found["kernel"], found["work_dir"]) == (str(work_dir / "kernel.so"), str(work_dir))
    assert (found["failures"], found["skipped_lines"], found["skipped_places"]) == ({}, 0, [])
    assert found["first_measurement_s"] > 0
    assert found["report"] == str(work_dir / "report.html")
    assert lines.count("trial ") == TRIALS  # progress is on stderr


def test_a_finished_job_resumes_without_measuring_and_shows_a_table(tuned, graph, call):
    work_dir, found, _ = tuned
    arguments = ["spmm", graph, "--feat", FEAT, "--trials", TRIALS, "--threads", 1, "--work-dir", work_dir]
    result = call("tune", *arguments)
    assert result.exit_code == 0
    assert "trial 1" not in result.stdout
    for word in ("scipy", "default", "tuned", progress.decisions_text({"rows": found["decisions"]["rows"]})):
        assert word in result.stdout
    assert f"saved {work_dir / 'kernel.so'}" in result.stdout
    assert f"{TRIALS} candidates are recorded already  best " in result.stdout


def test_events_are_json_lines_and_plain_lines_go_to_stdout(graph, call, tmp_path):
    arguments = ["spmm", graph, "--feat", 2, "--trials", 2, "--threads", 1, "--work-dir", tmp_path / "E"]
    result = call("tune", *arguments, "--json-events")
    events = [json.loads(line) for line in result.stderr.splitlines()]
    assert [event["trial"] for event in events] == [0, 1]
    assert events[0].keys() == {
        *("trial", "status", "reason", "decisions"),
        *("ms", "best_ms", "speedup", "elapsed_s"),
    }
    assert 0 < events[0]["elapsed_s"] <= events[1]["elapsed_s"]
    assert events[0]["speedup"] == 1
    result = call("tune", "spmm", graph, "--feat", 3, "--trials", 1, "--work-dir", tmp_path / "P")
    assert result.stdout.startswith("trial 1/1  tile=1x3 rows=256 prefetch=0")


@pytest.mark.parametrize(
    "option", [["--feat", 4], ["--feat", FEAT, "--dtype", "float64"]], ids=["feat", "dtype"]
)
def test_a_kernel_for_another_call_is_refused(tuned, graph, call, option):
    result = call("run", "spmm", graph, *option, "--from", tuned[0])
    assert result.exit_code == 1
    assert "ST507" in result.stderr
    assert f"{FEAT} features, float32 values" in result.stderr


@pytest.mark.parametrize("damage", ["library", "metadata"])
def test_a_damaged_kernel_is_refused(tuned, graph, call, tmp_path, damage):
    shutil.copytree(tuned[0], tmp_path / "W")
    path = tmp_path / "W" / ("kernel.so" if damage == "library" else "kernel.so.json")
    path.write_bytes(path.read_bytes()[:-100])
    result = call("run", "spmm", graph, "--feat", FEAT, "--from", tmp_path / "W")
    assert result.exit_code == 1
    assert "ST505" in result.stderr


def test_ctrl_c_saves_the_best_so_far_and_exits_with_130(graph, call, call_json, tmp_path, monkeypatch):
    show = progress.Progress.show

    def interrupt(self, trial):
        show(self, trial)
        if trial.index == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Progress, "show", interrupt)
    result = call("tune", "spmm", graph, "--feat", FEAT, "--trials", 50, "--work-dir", tmp_path)
    assert result.exit_code == 130
    assert result.stderr.startswith(f"interrupted: 2 of 50 candidates are recorded in {tmp_path}, the best")
    found = call_json("run", "spmm", graph, "--feat", FEAT, "--repeat", 1, "--from", tmp_path)
    assert set(found["kernel"]["decisions"]) == DECISIONS


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--threads", 999], "ST604"), (["--dtype", "int32"], "ST158")],
    ids=["threads", "fractions"],
)
def test_arguments_are_checked(graph, call, tmp_path, arguments, code):
    result = call("tune", "spmm", graph, "--feat", 2, "--trials", 1, "--work-dir", tmp_path, *arguments)
    assert result.exit_code == 1
    assert f"[{code}]" in result.stderr


def test_a_matrix_without_entries_is_refused(call, tmp_path):
    assert call("make-graph", tmp_path / "empty.npz", "--nodes", 5, "--edges", 0).exit_code == 0
    result = call("tune", "spmm", tmp_path / "empty.npz", "--feat", 2, "--work-dir", tmp_path / "W")
    assert result.exit_code == 1
    assert "ST601" in result.stderr
    assert call("run", "spmm", tmp_path / "empty.npz", "--feat", 2, "--repeat", 1).exit_code == 0
