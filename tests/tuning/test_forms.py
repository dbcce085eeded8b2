"""Damaged JSON files of a work directory: the records still count, and a report says what is missing."""

from __future__ import annotations

import json

import pytest
import scipy.sparse as sp

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.report import render
from sparse_tir.tuning.reading import read_report

JOBS = {
    "no sessions": {"sessions": []},
    "sessions of text": {"sessions": "abc"},
    "an empty session": {"sessions": [{}]},
    "an unknown target": {"target": {"kind": "no-such-kind"}},
    "a number as target": {"target": 5},
    "no signature": {"signature": None},
    "an empty matrix": {"matrix": {}},
    "versions": {"versions": 7},
    "commands": {"commands": "x"},
}
RESULTS = {
    "no best": {"best": None},
    "a number of trials": {"trials": 3},
    "an empty default": {"default": {}},
    "a comparison of text": {"comparison": {"scipy": "fast"}},
    "a time of 0": {"comparison": {"tuned": {"median": 0, "p20": 0, "p80": 0, "n": 3}}},
    "an unknown time": {"comparison": {"tuned": {"median": 1, "p20": 1, "p80": 1, "n": 3, "x": 1}}},
    "times of text": {"best": {"key": "k", "decisions": {}, "trace": [], "seconds": {"median": "x"}}},
}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp("job")
    A = sp.random_array((100, 80), density=0.05, format="csr", dtype="float32", rng=0)

    def tune():
        return st.tune("spmm", A, feat=8, work_dir=work_dir, max_trials_global=2, threads=1)

    tune()
    return work_dir, tune


@pytest.fixture
def damage(job):
    """Changes a file for one test."""
    work_dir, _ = job
    kept = {name: (work_dir / name).read_text() for name in ("job.json", "result.json")}

    def change(name, changes):
        (work_dir / name).write_text(json.dumps({**json.loads(kept[name]), **changes}))

    yield change
    for name, text in kept.items():
        (work_dir / name).write_text(text)


def test_the_files_of_a_job_have_their_forms(job):
    report = read_report(job[0])
    assert report.is_finished
    assert report.comparison.keys() == {"default", "tuned"}


@pytest.mark.parametrize("changes", JOBS.values(), ids=JOBS)
def test_a_report_of_a_damaged_job_is_refused(job, damage, changes):
    damage("job.json", changes)
    with pytest.raises(errors.TuningError) as refused:
        read_report(job[0])
    assert refused.value.code == "ST603"


@pytest.mark.parametrize("changes", RESULTS.values(), ids=RESULTS)
def test_without_a_readable_result_the_records_count(job, damage, changes):
    work_dir, tune = job
    damage("result.json", changes)
    report = read_report(work_dir)
    assert not report.is_finished
    assert len(report.candidates) == 2
    assert "<html" in render(report)
    assert len(tune().trials) == 2


@pytest.mark.parametrize("name", ["sessions of text", "an empty session", "an unknown target"])
def test_a_damaged_job_goes_on(job, damage, name):
    damage("job.json", JOBS[name])
    (job[0] / "result.json").unlink()
    assert len(job[1]().trials) == 2


def test_a_directory_that_no_system_has_is_refused():
    A = sp.eye_array(3, format="csr", dtype="float32")
    with pytest.raises(errors.TuningError, match="ST604"):
        st.tune("spmm", A, feat=8, work_dir="a\0b", max_trials_global=1)
