"""What a job shows: a live table on a terminal, and lines in a log."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess

import pytest
from cli_cases import FEAT
from jobs import command, environment
from rich.console import Console

from sparse_tir.cli.progress import Progress
from sparse_tir.tuning import Measurement, Trial

TRIALS = 3
_CONTROL = re.compile(r"\x1b\[(\??\d*)([A-Za-z])")


def trial(index, ms=None, reason=None):
    seconds = None if ms is None else Measurement(1e-3 * ms, 1e-3 * ms, 1e-3 * ms, 3)
    return Trial(
        index, "ok" if reason is None else "failed", reason, seconds, {"rows": 2**index, "tile": [1, 8]}
    )


def arguments(graph, tmp_path):
    words = ["spmm", graph, "--feat", FEAT, "--trials", TRIALS, "--threads", 1]
    return command("tune", *words, "--work-dir", tmp_path / "W")


def screen_after(text: str) -> list[str]:
    """The lines of a terminal that has received this text: cursor up, erase line, carriage return, line feed."""
    lines, row, column = [""], 0, 0
    for part in re.split(r"(\x1b\[\??\d*[A-Za-z]|\r|\n)", re.sub(r"\x1b\[[\d;]*m", "", text)):
        control = _CONTROL.fullmatch(part)
        if control and control[2] == "A":
            row = max(0, row - int(control[1] or 1))
        elif control and control[2] == "K":
            lines[row] = ""
        elif part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif not control:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return lines


@pytest.mark.slow
def test_a_terminal_shows_a_live_table_that_makes_room_for_the_summary(graph, tmp_path):
    ours, theirs = pty.openpty()
    variables = {**environment(), "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    with subprocess.Popen(
        arguments(graph, tmp_path), env=variables, stdin=theirs, stdout=theirs, stderr=theirs
    ) as job:
        os.close(theirs)
        received = b""
        while True:
            try:
                received += os.read(ours, 4096)
            except OSError:  # the terminal is closed: the job has ended
                break
    os.close(ours)
    text = received.decode()
    assert job.returncode == 0, text
    frames = [text.index(f"{count} of {TRIALS} candidates") for count in range(TRIALS + 1)]
    assert frames == sorted(frames)
    assert "best so far" in text
    screen = "\n".join(screen_after(text))
    assert "best so far" not in screen  # the live table is gone
    assert f"of {TRIALS} candidates" not in screen
    for words in ("scipy", "default", "tuned", f"{TRIALS} candidates right", "saved ", "wrote "):
        assert words in screen


@pytest.mark.slow
def test_a_log_holds_plain_lines_and_nothing_of_a_terminal(graph, tmp_path):
    done = subprocess.run(arguments(graph, tmp_path), env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    assert "best so far" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("trial ")]
    assert [line.split()[1] for line in lines] == [f"{index + 1}/{TRIALS}" for index in range(TRIALS)]
    assert re.search(r"  \d+\.\d{3} ms  best \d+\.\d{3} ms  1\.00 x default  \d:\d\d$", lines[0])


def shown(progress):
    out = io.StringIO()
    Console(file=out, width=100).print(progress._table())
    return out.getvalue()


def test_the_table_counts_failures_by_reason_and_shows_the_best_so_far():
    progress = Progress(9, to_stderr=False, json_events=False)
    progress.start([trial(0, 4.0), trial(1, reason="time-out")])
    for new in (trial(2, 2.0), trial(3, reason="crashed"), trial(4, reason="time-out"), trial(5, 3.0)):
        progress.show(new)
    text = shown(progress)
    assert re.search(r"6 of 9 candidates  best 2\.000 ms  2\.00 x default  \d+:\d\d", text)
    assert "failed: 2 time-out, 1 crashed" in text
    assert re.search(r"4 │ rows=8 tile=1x8 +│ +crashed │ +2\.000", text)
    assert progress.n_known == 6


def test_earlier_candidates_count_for_the_best_but_not_for_the_first_measurement(capsys):
    progress = Progress(3, to_stderr=False, json_events=False)
    progress.start([trial(0, 1.0)])
    assert progress.first_measurement is None
    progress.show(trial(1, 5.0))
    assert progress.first_measurement > 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("1 candidates are recorded already  best 1.000 ms  1.00 x default")
    assert second.startswith("trial 2/3  rows=2 tile=1x8  5.000 ms  best 1.000 ms")


def test_a_summary_names_failures_and_skipped_lines(capsys):
    times = {name: {"ms": 1.0, "p20": 1.0, "p80": 1.0, "n": 3} for name in ("scipy", "default", "tuned")}
    result = {
        **{"op": "spmm", "feat": 8, "threads": 1, "comparison": times, "kernel": "W/kernel.so"},
        **{"decisions": {}, "default_decisions": {}, "report": "W/[bold]report.html"},
        **{"trials": {"ok": 2, "failed": 3}, "failures": {"time-out": 2, "crashed": 1}},
        **{"skipped_lines": 1, "skipped_places": ["failures.jsonl line 3"]},
    }
    Progress(5, to_stderr=False, json_events=False).summary(result)
    text = capsys.readouterr().out
    assert "2 candidates right, 3 failed: 2 time-out, 1 crashed\n" in text
    assert "1 unreadable lines were skipped: failures.jsonl line 3\n" in text
    assert "wrote W/[bold]report.html\n" in text
