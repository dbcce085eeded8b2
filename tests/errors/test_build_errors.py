"""ST50x: kernels that cannot be built, loaded or called here."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import tvm
from refusals import arguments, check_refusal, refusal
from test_law_errors import FOLD, START, rows, vector

import sparse_tir as st
from sparse_tir import _base, errors
from sparse_tir.ops import spmm

COPY = vector("Y[i] = W[i]")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved kernel, which no test changes."""
    path = tmp_path_factory.mktemp("saved") / "copy.so"
    return st.compile(st.from_source(COPY)).save(path)


def copied(saved: Path, folder: Path, **changes: Any) -> Path:
    """A copy of the saved kernel with some of its metadata replaced (None: removed)."""
    path = folder / "copy.so"
    path.write_bytes(saved.read_bytes())
    metadata = json.loads(Path(f"{saved}.json").read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in metadata.items() if value is not None}
    Path(f"{path}.json").write_text(json.dumps(kept), encoding="utf-8")
    return path


def build_error(call: Callable[[], Any], code: str, *mentions: str) -> None:
    error = refusal(call)
    check_refusal(error, code, *mentions)
    assert isinstance(error, errors.BuildError)


# ---- ST501, ST502: the package itself, so plain import errors
@pytest.mark.parametrize("package", _base.WHEELS)
def test_another_version_of_a_wheel_is_refused(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true_version = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "0.0.1" if name == package else true_version(name)
    )
    with pytest.raises(
        ImportError, match=rf"^\[ST501\] sparse_tir needs .*, but {package} 0.0.1 is installed"
    ):
        _base.check_versions()


@pytest.mark.parametrize(("key", "field"), [("ir.NoSuchNode", ""), ("tirx.For", "no_such_field")])
def test_a_tvm_without_a_node_or_field_that_is_read_is_refused(
    key: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_base.FIELDS, key, frozenset(field.split()))
    with pytest.raises(ImportError, match=rf"^\[ST501\] .* but .*{key}.*{field}"):
        _base.check_types()


def test_a_package_without_its_library_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_base, "__file__", str(tmp_path / "python" / "sparse_tir" / "_base.py"))
    with pytest.raises(ImportError, match=r"^\[ST502\] the compiled library .* is missing") as caught:
        _base.library_path()
    for place in ("python/sparse_tir/libsparse_tir.so", "build/libsparse_tir.so"):
        assert str(tmp_path / place) in str(caught.value)


# ---- ST503: targets
@pytest.mark.parametrize(
    ("target", "mention"),
    [
        ("rocm", "'rocm'"),
        ("c", "'c'"),
        ("no_such_target", "no_such_target"),
        (5, "5"),
        ({"kind": "opencl"}, "'opencl'"),
    ],
)
def test_a_target_without_kernels_is_refused(target: Any, mention: str) -> None:
    build_error(lambda: st.compile(st.from_source(COPY), target), "ST503", "target", mention, "llvm")


# ---- ST504 to ST506: saved kernels
def test_a_saved_kernel_loads_in_its_place(saved: Path, tmp_path: Path) -> None:
    kernel = st.load(copied(saved, tmp_path))
    call = arguments()
    kernel(**call)
    assert call["Y"].tolist() == [5, 6, 7]


def test_a_kernel_for_another_cpu_is_refused(saved: Path, tmp_path: Path) -> None:
    target = {"kind": "llvm", "mcpu": "no-such-cpu", "text": ""}
    path = copied(saved, tmp_path, target=target)
    build_error(lambda: st.load(path), "ST504", str(path), "no-such-cpu")


@pytest.mark.parametrize("changes", [{"schema_version": 99}, {"versions": {"apache-tvm": "0.0.1"}}])
def test_a_kernel_of_another_version_is_refused(changes: dict[str, Any], saved: Path, tmp_path: Path) -> None:
    path = copied(saved, tmp_path, **changes)
    found = "schema 99" if "schema_version" in changes else "0.0.1"
    build_error(lambda: st.load(path), "ST506", str(path), found)


@pytest.mark.parametrize("key", ["schema_version", "name", "target", "signature", "sha256"])
def test_metadata_that_lacks_something_is_refused(key: str, saved: Path, tmp_path: Path) -> None:
    path = copied(saved, tmp_path, **{key: None})
    build_error(lambda: st.load(path), "ST505", str(path), key)


@pytest.mark.parametrize(
    "changes", [{"target": 5}, {"target": {}}, {"signature": {"parameters": 3}}], ids=str
)
def test_metadata_of_another_form_is_refused(changes: dict[str, object], saved: Path, tmp_path: Path) -> None:
    path = copied(saved, tmp_path, **changes)
    build_error(lambda: st.load(path), "ST505", str(path), "a target or signature of another form")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '"text"'])
def test_metadata_that_is_something_else_is_refused(text: str, saved: Path, tmp_path: Path) -> None:
    path = copied(saved, tmp_path)
    Path(f"{path}.json").write_text(text, encoding="utf-8")
    build_error(lambda: st.load(path), "ST505", "copy.so.json")


@pytest.mark.parametrize("missing", ["copy.so", "copy.so.json"])
def test_a_saved_kernel_without_one_of_its_files_is_refused(
    missing: str, saved: Path, tmp_path: Path
) -> None:
    path = copied(saved, tmp_path)
    (tmp_path / missing).unlink()
    build_error(lambda: st.load(path), "ST505", f"no file {str(tmp_path / missing)!r}")


def test_a_library_that_was_replaced_is_refused(saved: Path, tmp_path: Path) -> None:
    path = copied(saved, tmp_path)
    path.write_bytes(b"something else")
    build_error(lambda: st.load(path), "ST505", str(path), "does not describe")


def test_a_kernel_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    kernel = st.compile(st.from_source(COPY))
    build_error(lambda: kernel.save(in_the_way / "kernel.so"), "ST516", "kernel.so", "writable place")


# ---- ST507: kernels and calls
def test_a_module_of_several_functions_is_no_kernel() -> None:
    func = st.from_source(COPY)
    for functions, found in (({"one": func, "two": func}, "2 functions"), ({}, "0 functions")):
        build_error(
            lambda functions=functions: st.compile(tvm.IRModule(functions)), "ST507", "st.compile", found
        )


def test_a_shape_that_a_call_cannot_check_is_refused() -> None:
    text = vector(
        "Y[i] = W[i]",
        more='H = S.dense_fixed(n // 2)\nQ = S.match_sparse_buffer(q, (H,), "float32")\n',
        handles="q",
    )
    build_error(lambda: st.compile(st.from_source(text)), "ST507", "n // 2")


def test_a_kernel_for_other_features_is_refused() -> None:
    A = sp.csr_array(np.eye(3, dtype="float32"))
    kernel = spmm.kernel(4)
    X = np.ones((3, 5), "float32")
    build_error(lambda: st.spmm(A, X, kernel=kernel), "ST507", "st.spmm(kernel=)", "4 features", "5 features")


def test_a_kernel_of_another_operator_is_refused() -> None:
    A = sp.csr_array(np.eye(3, dtype="float32"))
    kernel = st.compile(st.from_source(rows(START, "    Y[i] = 0.0", FOLD)))
    build_error(lambda: st.spmm(A, np.ones((3, 4), "float32"), kernel=kernel), "ST507", "st.spmm(kernel=)")
