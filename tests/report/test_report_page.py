"""The page: self-contained, escaped, and with the numbers that it was given."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pages import Page, candidate, report

from sparse_tir.report import Session, Timing, render
from sparse_tir.report.effects import changes, effects_of

TIMES = "\N{MULTIPLICATION SIGN}"
HOSTILE = "<script>alert('1')</script><img src=http://x/>\"&.mtx"


def test_the_page_asks_for_nothing_outside_itself():
    page = Page(render(report()))
    page.check_self_contained()
    assert {"svg", "style", "table", "details"} <= page.tags


def test_what_users_name_is_escaped_everywhere():
    commands = {"Run:": f"sparse-tir run {HOSTILE}"}
    failing = candidate(3, reason=HOSTILE, rows=HOSTILE)
    text = render(
        report(
            graph=HOSTILE,
            processor=HOSTILE,
            commands=commands,
            skipped=(HOSTILE,),
            candidates=(*report().candidates[:2], failing, candidate(4, 3.0, rows=HOSTILE, prefetch=0)),
        )
    )
    page = Page(text)
    assert not page.tags & {"script", "img"}
    assert "<script" not in text
    assert page.text.count(HOSTILE) >= 7


def test_the_numbers_are_those_of_the_data():
    found = report()
    page = Page(render(found))
    tuned = found.comparison["tuned"].median
    for name, time in found.comparison.items():
        assert page.values[f"comparison-{name}"] == [time.median, time.p20, time.p80, time.median / tuned]
    for one in found.candidates:
        assert one.seconds is None or one.seconds.median in page.values[""]
    for words in (
        f"3.00 {TIMES} as fast as SciPy",
        f"1.90 {TIMES} as fast as default schedule",
        "1.000 ms",
        "12,345",
    ):
        assert words in page.words


def test_it_says_what_changed_and_what_mattered():
    page = Page(render(report()))
    assert "rows 256 instead of 64, prefetch 0 instead of 16." in page.words
    assert (
        "The decision that matters most is rows: between its values, the median time differs by a factor of 3.00"
        in (page.words)
    )
    assert "overlap" not in page.words


def test_effects_are_medians_by_value_with_the_strongest_first():
    rows, prefetch = effects_of(report().candidates)
    assert [(v.text, v.median, v.best) for v in rows.values] == [("64", 3e-3, 2e-3), ("256", 1e-3, 1e-3)]
    assert (rows.name, rows.ratio, prefetch.name) == ("rows", pytest.approx(3), "prefetch")
    assert changes({"a": 1, "b": [1, 2]}, {"a": 1, "b": [2, 1]}) == [("b", f"1{TIMES}2", f"2{TIMES}1")]


def test_failures_are_counted_and_their_log_is_shown():
    found = report(
        candidates=(*report().candidates, candidate(5, reason="crashed"), candidate(6, reason="crashed"))
    )
    words = Page(render(found)).words
    assert "crashed: 2 line <1> crashed & more time-out: 1 line <1>" in words
    assert "1 lines of the records could not be read and were skipped: failures.jsonl line 3." in words


@pytest.mark.parametrize(
    ("state", "words"),
    [("killed", "its last session was killed"), ("running", "it was killed, or is still running")],
)
def test_a_job_that_did_not_end_is_called_so(state, words):
    sessions = (Session("2026-01-02T03:04:05+00:00", state, 4, 0),)
    page = Page(render(report(is_finished=False, comparison={}, sessions=sessions)))
    assert f"This job did not end: {words}" in page.words
    assert "median of the fastest so far" in page.words
    assert "Schedule of the fastest so far" in page.words


def test_a_winner_that_is_the_default_is_not_praised():
    page = Page(render(report(default_key="key2")))
    assert "The tuned kernel is the default schedule: what differs between these two is noise." in page.words
    assert "as fast as SciPy" in page.words
    assert "as fast as default" not in page.words
    close = {name: Timing(1e-3, 0.9e-3, 1.1e-3, 25) for name in ("default", "tuned")}
    words = Page(render(report(comparison=close))).words
    assert "The intervals of the default and of the tuned kernel overlap" in words
    assert "SciPy was not timed in this job." in words


def test_a_job_with_failures_only_has_a_page():
    page = Page(render(report(candidates=(candidate(1, reason="crashed"),), comparison={}, winner=None)))
    assert "crashed: 1" in page.words
    assert "Why the winner won" not in page.words


def test_equal_reports_give_equal_pages():
    assert render(report()) == render(report())


def test_charts_are_not_imported_before_a_page_is_rendered():
    program = "import sys, sparse_tir.report; sys.exit(str({'matplotlib', 'jinja2'} & set(sys.modules)))"
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stderr == "set()\n"
