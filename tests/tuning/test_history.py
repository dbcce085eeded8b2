"""``job.json``: the sessions of a job, and what becomes of damaged files."""

from __future__ import annotations

import json

import pytest

from sparse_tir.tuning.history import JOB, Session, read_json

ONE, OTHER = {"workload": "a", "target": {"kind": "llvm"}}, {"workload": "b", "target": {"kind": "llvm"}}


def session(path, job=ONE):
    return Session(path, job, asked=9, seed=3)


def found(path):
    return json.loads((path / JOB).read_text())["sessions"]


def test_a_session_is_written_when_it_starts_and_when_it_ends(tmp_path):
    with session(tmp_path) as this:
        (started,) = found(tmp_path)
        assert (started["state"], started["measured"], started["seconds"]) == ("running", None, None)
        this.count()
        this.count()
    (ended,) = found(tmp_path)
    assert (ended["state"], ended["measured"], ended["asked"], ended["seed"]) == ("finished", 2, 9, 3)
    assert ended["seconds"] >= 0
    assert ended["started"] == started["started"]


@pytest.mark.parametrize(("failure", "state"), [(KeyboardInterrupt, "interrupted"), (ValueError, "failed")])
def test_what_ends_a_session_is_its_state(tmp_path, failure, state):
    with pytest.raises(failure), session(tmp_path):
        raise failure
    assert found(tmp_path)[0]["state"] == state


def test_a_session_that_did_not_end_was_killed(tmp_path):
    session(tmp_path).__enter__()
    with session(tmp_path):
        pass
    assert [s["state"] for s in found(tmp_path)] == ["killed", "finished"]


def test_sessions_of_another_job_are_not_kept(tmp_path):
    for job in (ONE, OTHER):
        with session(tmp_path, job):
            pass
    assert len(found(tmp_path)) == 1
    assert json.loads((tmp_path / JOB).read_text())["workload"] == "b"


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"workload": "a", "target": {"kind": "llvm"}, "sessions": [3]}', "\xff"]
)
def test_a_damaged_file_is_written_anew(tmp_path, text):
    (tmp_path / JOB).write_bytes(text.encode("latin-1"))
    with session(tmp_path):
        pass
    assert [s["state"] for s in found(tmp_path)] == ["finished"]
    assert [path.name for path in tmp_path.iterdir()] == [JOB]


def test_what_is_no_object_is_not_read(tmp_path):
    (tmp_path / "x").write_text("3")
    assert read_json(tmp_path / "x") is None
    assert read_json(tmp_path / "none") is None
