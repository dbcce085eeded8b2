"""Every example in a docstring runs and prints what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import sparse_tir


def modules() -> list[str]:
    found = pkgutil.walk_packages(sparse_tir.__path__, "sparse_tir.")
    others = ("__main__", "libsparse_tir")  # an installed package has its library beside the modules
    return [m.name for m in found if not m.name.endswith(others)]


def examples(name: str) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(importlib.import_module(name)) if test.examples]


@pytest.mark.parametrize(
    "test", [test for name in modules() for test in examples(name)], ids=lambda test: test.name
)
def test_the_example_prints_what_it_shows(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the examples that write files
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    output: list[str] = []
    assert runner.run(test, out=output.append).failed == 0, "".join(output)


def test_there_are_examples():
    assert sum(len(examples(name)) for name in modules()) >= 10
