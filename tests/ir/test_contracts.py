"""What Python and C++ must agree on: public strings, and the fields of TVM's nodes that C++ reads."""

from __future__ import annotations

import pathlib
import re

import pytest

from sparse_tir import _base
from sparse_tir.ir import names

SOURCES = pathlib.Path(__file__).parents[2] / "src"
pytestmark = pytest.mark.skipif(not SOURCES.is_dir(), reason=f"the C++ sources are not there: no {SOURCES}")


def read(path: str) -> str:
    return (SOURCES / path).read_text(encoding="utf-8")


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def names_in_header() -> dict[str, str]:
    found = re.findall(r'constexpr const char\* k(\w+) = "([^"]+)";', read("ir/names.h"))
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper(): value for name, value in found}


def fields_in_header() -> dict[str, set[str]]:
    """Type key -> fields, of every view that nodes.h declares."""
    text = without_comments(read("tvm_view/nodes.h"))
    binary = re.search(r"#define ST_BINARY\(Name\).*?(?=\n[^\s])", text, re.DOTALL)
    assert binary is not None
    operands = set(re.findall(r"ST_FIELD\((\w+),", binary[0]))
    fields: dict[str, set[str]] = {
        f"prim.{name}": set(operands) for name in re.findall(r"^ST_BINARY\((\w+)\)", text, re.MULTILINE)
    }
    text = text.replace(binary[0], "")
    for view in re.split(r"^(?=ST_VIEW\()", text, flags=re.MULTILINE)[1:]:
        key = re.match(r'ST_VIEW\(\w+, \w+, "([\w.]+)"', view)
        assert key is not None, view
        fields.setdefault(key[1], set()).update(re.findall(r"ST_FIELD\((\w+),", view))
        for owner, field in re.findall(r'ST_FIELD_OF\("([\w.]+)", (\w+),', view):
            fields.setdefault(owner, set()).add(field)
    return fields


def test_the_names_of_python_are_those_of_the_header() -> None:
    in_python = {name: value for name, value in vars(names).items() if name.isupper()}
    assert in_python.pop("POSITION_OP") == "sparse_tir.position"  # C++ does not look for it
    assert in_python == names_in_header()


def test_public_strings_are_written_in_one_header_only() -> None:
    values = [value for value in names_in_header().values() if value.startswith("sparse_tir.")]
    assert values
    for file in SOURCES.rglob("*.[ch]*"):
        if file.name == "names.h":
            continue
        text = without_comments(file.read_text(encoding="utf-8"))
        assert not [value for value in values if f'"{value}"' in text], file


def test_every_field_that_the_library_reads_is_checked_before_it_is_opened() -> None:
    read_by_library = fields_in_header()
    assert len(read_by_library) > 25
    assert {key: set(fields) for key, fields in _base.FIELDS.items()} == read_by_library


def test_this_tvm_passes_the_checks() -> None:
    _base.check_versions()
    _base.check_types()
