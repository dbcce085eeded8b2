"""`sparse-tir report`: the page of a job, from its work directory alone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from cli_cases import FEAT

sys.path.append(str(Path(__file__).parents[1] / "report"))

from pages import Page

TRIALS = 5


@pytest.fixture(scope="module")
def work_dir(graph, tmp_path_factory):
    """A finished job on a file with a hostile name, in a directory that is moved afterwards."""
    from click.testing import CliRunner

    from sparse_tir.cli import main

    folder = tmp_path_factory.mktemp("job")
    hostile = folder / "<script>alert('1')<&\".npz"
    shutil.copy(graph, hostile)
    words = ["tune", "spmm", str(hostile), "--feat", FEAT, "--trials", TRIALS, "--threads", 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TVM_NUM_THREADS", "1")
        result = CliRunner().invoke(main, [str(x) for x in [*words, "--work-dir", folder / "W"]])
    assert result.exit_code == 0, result.stderr
    assert f"wrote {folder / 'W' / 'report.html'}\n" in result.stdout
    hostile.unlink()
    return (folder / "W").rename(folder / "moved")


@pytest.fixture
def copy(work_dir, tmp_path):
    return shutil.copytree(work_dir, tmp_path / "W")


def page(path):
    return Page((path / "report.html").read_text("utf-8"))


def test_the_numbers_are_those_of_the_result_file(work_dir):
    found, result = page(work_dir), json.loads((work_dir / "result.json").read_text())
    tuned = result["comparison"]["tuned"]["median"]
    assert set(result["comparison"]) == {"scipy", "default", "tuned"}
    for name, time in result["comparison"].items():
        values = [time["median"], time["p20"], time["p80"], time["median"] / tuned]
        assert found.values[f"comparison-{name}"] == values
    lines = (work_dir / "database_tuning_record.json").read_text().splitlines()
    for line in lines:
        samples = sorted(json.loads(line)[1][1])
        assert any(samples[0] <= value <= samples[-1] for value in found.values[""])
    assert f"{TRIALS} candidates right" in found.words


def test_the_page_stands_alone_and_escapes_the_name_of_the_matrix(work_dir):
    found = page(work_dir)
    found.check_self_contained()
    assert found.text.count("<script>alert('1')<&\".npz") >= 3
    for words in (
        "500 \N{MULTIPLICATION SIGN} 500",
        "3,000, float32",
        f"{FEAT} features",
        "finished",
    ):
        assert words in found.words
    assert "def spmm(" in found.text
    assert "sch.parallel(" in found.text


def test_the_command_writes_the_same_page_again(work_dir, call, call_json, tmp_path):
    before = (work_dir / "report.html").read_text()
    assert (
        call("report", work_dir, "-o", tmp_path / "again.html").stdout == f"wrote {tmp_path / 'again.html'}\n"
    )
    assert (tmp_path / "again.html").read_text() == before
    found = call_json("report", work_dir)
    assert found == {"report": str(work_dir / "report.html"), "finished": True, "candidates": TRIALS}
    assert {path.suffix for path in work_dir.iterdir()} <= {"", ".json", ".so", ".html"}


def test_a_killed_job_is_reported_as_such(copy, call_json):
    job = json.loads((copy / "job.json").read_text())
    job["sessions"][-1] |= {"state": "running", "seconds": None, "measured": None}
    (copy / "job.json").write_text(json.dumps(job))
    (copy / "result.json").unlink()
    with (copy / "database_tuning_record.json").open("a") as file:
        file.write('[0, [[["Spl')
    assert call_json("report", copy)["finished"] is False
    found = page(copy)
    assert "This job did not end: it was killed, or is still running." in found.words
    assert f"skipped: database_tuning_record.json line {TRIALS + 1}." in found.words
    assert f"{TRIALS} candidates right" in found.words


@pytest.mark.parametrize(
    "missing", ["job.json", "database_workload.json", "database_tuning_record.json", "all"]
)
def test_a_directory_without_records_has_no_report(copy, call, missing):
    for path in list(copy.iterdir()):
        if missing in (path.name, "all"):
            path.unlink()
    result = call("report", copy)
    assert result.exit_code == 1
    assert "[ST603]" in result.stderr
    assert call("report", copy / "nowhere").stderr.startswith("[ST603]")


def test_damaged_descriptions_are_no_report(copy, call):
    (copy / "job.json").write_text("[1, 2]")
    assert "[ST603]" in call("report", copy).stderr


def test_a_page_that_cannot_be_written_is_an_error(work_dir, call, tmp_path):
    result = call("report", work_dir, "-o", tmp_path)
    assert result.exit_code == 1
    assert "[ST604]" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert [path.name for path in tmp_path.parent.iterdir() if path.name.endswith(".part")] == []
