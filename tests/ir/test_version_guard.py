"""A Python without the right TVM gets one plain sentence, whatever it imports first."""

from __future__ import annotations

import subprocess
import sys

import pytest

ANOTHER_VERSION = """
import importlib.metadata
true_version = importlib.metadata.version
importlib.metadata.version = lambda name: "0.0.1" if name == {package!r} else true_version(name)
"""
#: As if it had never been installed: neither modules nor metadata.
NO_TVM = """
import importlib.metadata, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tvm", "tvm_ffi"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
true_version = importlib.metadata.version
def version(name):
    if name.startswith("apache-tvm"):
        raise importlib.metadata.PackageNotFoundError(name)
    return true_version(name)
importlib.metadata.version = version
"""
FIRST_USES = ["sparse_tir.spmm", "sparse_tir.compile", "sparse_tir.script", "sparse_tir.load_matrix"]


def last_line_of(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("package", ["apache-tvm", "apache-tvm-ffi"])
def test_another_version_is_refused_in_one_sentence(package: str) -> None:
    line = last_line_of(ANOTHER_VERSION.format(package=package) + "import sparse_tir\nsparse_tir.spmm")
    assert line.startswith("ImportError: [ST501] sparse_tir needs apache-tvm==")
    assert f"but {package} 0.0.1 is installed." in line
    assert "pip install" in line


@pytest.mark.parametrize("use", FIRST_USES)
def test_a_missing_tvm_is_named_in_one_sentence(use: str) -> None:
    line = last_line_of(NO_TVM + f"import sparse_tir\n{use}")
    assert line.startswith("ImportError: [ST501] sparse_tir needs apache-tvm==")
    assert "but apache-tvm is not installed." in line


def test_importing_changes_no_environment() -> None:
    code = (
        "import os; before = dict(os.environ); import sparse_tir; sparse_tir.script; "
        "assert dict(os.environ) == before; raise SystemExit(3)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 3
