"""The site: its pictures are drawn from the code that makes them, its reference names everything that is public."""

from __future__ import annotations

import importlib
import pathlib
import re
import sys
from xml.etree import ElementTree

import pytest

import sparse_tir

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture
def pictures(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "pictures")
    yield importlib.import_module("draw").PICTURES
    for name in ("draw", "canvas"):
        sys.modules.pop(name)


def test_pictures_are_what_the_script_draws(pictures):
    for name, draw in pictures.items():
        drawn = (DOCS / "pictures" / name).read_text(encoding="utf-8")
        assert drawn == draw().svg(), f"{name} is out of date: python docs/pictures/draw.py"


def test_pictures_are_well_formed_and_say_what_they_show():
    for path in (DOCS / "pictures").glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.find("{http://www.w3.org/2000/svg}title").text, path.name


def test_the_reference_names_everything_that_is_public():
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    listed = set(re.findall(r"\.\. (?:auto\w+|data):: sparse_tir\.(\w+)$", text, re.MULTILINE))
    modules = {"script"}  # a page of its own
    assert set(sparse_tir.__all__) - modules <= listed


def test_the_reference_names_every_construct_of_scripts():
    text = (DOCS / "reference" / "script.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\.\. (?:auto)?\w+:: (\w+)", text))
    elsewhere = {"prim_func", "from_source"}
    assert set(sparse_tir.script.__all__) - elsewhere <= listed
