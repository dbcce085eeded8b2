"""Jobs that are interrupted or killed, and go on."""

from __future__ import annotations

import json
import shlex
import signal

import pytest
from cli_cases import DECISIONS, FEAT
from jobs import Job, recorded

#: The known schedules and the first that are drawn: up to here, candidates depend on the seed alone.
TRIALS = 12


def arguments(graph, work_dir, trials=TRIALS, seed=3):
    words = ["spmm", graph, "--feat", FEAT, "--trials", trials, "--work-dir", work_dir]
    return [*map(str, words), "--seed", str(seed), "--threads", "1"]


@pytest.mark.slow
def test_three_stops_lose_nothing_and_change_no_candidate(graph, call, call_json, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert call("tune", *arguments(graph, whole)).exit_code == 0

    n_recorded = 0
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
        with Job(*arguments(graph, stopped)) as job:
            job.measure(2)
            job.send(number)
            code, stdout, stderr = job.end()
        assert "Traceback" not in stderr
        assert stdout == ""
        assert (code, stderr != "") == ((130, True) if number == signal.SIGINT else (-number, False))
        assert [event["trial"] for event in job.events] == list(
            range(n_recorded, n_recorded + len(job.events))
        )
        # What was reported is recorded; at most the candidate in flight is recorded and not reported.
        lines = recorded(stopped)
        assert len(lines) - n_recorded - len(job.events) in (0, 1)
        n_recorded = len(lines)

    found = call_json("tune", *arguments(graph, stopped))
    assert found["trials"] == {"ok": TRIALS, "failed": 0}
    assert (found["skipped_lines"], found["skipped_places"]) == (0, [])
    assert len(recorded(stopped)) == len(set(recorded(stopped))) == TRIALS
    assert recorded(stopped) == recorded(whole)
    sessions = json.loads((stopped / "job.json").read_text())["sessions"]
    assert [s["state"] for s in sessions] == ["interrupted", "killed", "interrupted", "finished"]


@pytest.mark.slow
def test_the_message_of_an_interrupt_says_what_is_saved_and_how_to_go_on(graph, call_json, tmp_path):
    given = arguments(graph, tmp_path, trials=200)
    with Job(*given) as job:
        job.measure(2)
        for _ in range(3):  # impatience does no harm
            job.send(signal.SIGINT)
        code, stdout, stderr = job.end()
    assert (code, stdout) == (130, "")
    saved, command = stderr.splitlines()
    n_known = len(recorded(tmp_path))
    assert saved == (
        f"interrupted: {n_known} of 200 candidates are recorded in {tmp_path}, "
        "the best of them is saved as its kernel.so"
    )
    assert command == "go on with: " + shlex.join(["sparse-tir", "tune", *given, "--json-events"])
    found = call_json("run", "spmm", graph, "--feat", FEAT, "--repeat", 1, "--from", tmp_path)
    assert set(found["kernel"]["decisions"]) == DECISIONS


@pytest.mark.slow
def test_an_interrupt_before_anything_is_measured_is_as_clean(graph, tmp_path):
    with Job(*arguments(graph, tmp_path)) as job:
        while not job.is_importing():
            pass
        job.send(signal.SIGINT)
        code, stdout, stderr = job.end()
    assert (code, stdout) == (130, "")
    assert stderr.startswith("interrupted: ")
    assert stderr.count("\n") == 2


@pytest.mark.slow
@pytest.mark.parametrize("when", ["importing", "measuring"])
def test_a_killed_measuring_process_is_started_again(graph, tmp_path, when):
    with Job(*arguments(graph, tmp_path, trials=5)) as job:
        if when == "importing":
            while not job.is_importing():
                pass
        else:
            job.measure(2)
        job.measuring().kill()
        code, _, stderr = job.end()
    assert (code, stderr) == (0, "")
    assert [event["status"] for event in job.events] == ["ok"] * 5
    assert len(set(recorded(tmp_path))) == 5
