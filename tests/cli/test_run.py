"""`sparse-tir run` with the default kernel, and what it refuses."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from cli_cases import FEAT

from sparse_tir.tuning.launch import available_cores


def test_json_has_checksum_and_times(call_json, graph, checksum):
    found = call_json("run", "spmm", graph, "--feat", FEAT, "--repeat", 3)
    assert found["checksum"] == pytest.approx(checksum, rel=1e-5)
    assert {key: found[key] for key in ("op", "shape", "nnz", "feat", "dtype", "n", "kernel", "threads")} == {
        "op": "spmm",
        "shape": [500, 500],
        "nnz": 3000,
        "feat": FEAT,
        "dtype": "float32",
        "n": 3,
        "kernel": "default",
        "threads": 1,
    }
    assert 0 < found["p20"] <= found["ms"] <= found["p80"]


@pytest.mark.parametrize(("given", "expected"), [("1", 1), ("100000", available_cores())])
def test_threads_come_from_the_environment_unless_given(call_json, graph, monkeypatch, given, expected):
    monkeypatch.setenv("TVM_NUM_THREADS", given)
    found = call_json("run", "spmm", graph, "--feat", FEAT, "--repeat", 1)
    assert found["threads"] == expected
    assert call_json("run", "spmm", graph, "--feat", FEAT, "--repeat", 1, "--threads", 1)["threads"] == 1


def test_the_plain_form_shows_the_same(call, graph, checksum):
    result = call("run", "spmm", graph, "--feat", FEAT, "--repeat", 1)
    assert result.exit_code == 0
    assert float(result.stdout.split("checksum ")[1]) == pytest.approx(checksum, rel=1e-5)
    assert "the default kernel" in result.stdout


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64"])
def test_values_are_converted(call_json, graph, tmp_path, dtype):
    matrix = sp.load_npz(graph)
    matrix.data = np.round(100 * matrix.data)
    path = tmp_path / "whole.npz"
    sp.save_npz(path, matrix)
    found = call_json("run", "spmm", path, "--feat", 3, "--repeat", 1, "--dtype", dtype)
    matrix = matrix.astype(dtype)
    assert matrix.count_nonzero() > 100
    draw = np.random.default_rng(0)
    shape = (500, 3)
    operand = draw.random(shape) if dtype == "float64" else draw.integers(-8, 8, shape, dtype=dtype)
    assert found["checksum"] == pytest.approx((matrix @ operand).sum(dtype=np.float64), rel=1e-12)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_values_that_are_no_integers_are_not_cut(call, graph, dtype):
    result = call("run", "spmm", graph, "--feat", 3, "--dtype", dtype)
    assert result.exit_code == 1
    assert f"[ST158] {graph}: --dtype {dtype}" in result.stderr


@pytest.mark.parametrize("value", [3e9, np.nan, np.inf])
def test_values_beyond_the_dtype_are_refused(call, tmp_path, value):
    path = tmp_path / "wide.npz"
    sp.save_npz(path, sp.csr_array(np.array([[0.0, value]])))
    result = call("run", "spmm", path, "--feat", 3, "--dtype", "int32")
    assert result.exit_code == 1
    assert "ST158" in result.stderr


def test_matrix_market_files_are_read(call_json, graph, checksum, tmp_path):
    plain, packed = tmp_path / "graph.mtx", tmp_path / "graph.mtx.gz"
    scipy.io.mmwrite(plain, sp.load_npz(graph), precision=9)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        found = call_json("run", "spmm", path, "--feat", FEAT, "--repeat", 1)
        assert found["checksum"] == pytest.approx(checksum, rel=1e-5)


def test_a_checksum_that_is_no_number_is_null(call_json, tmp_path):
    path = tmp_path / "nan.npz"
    sp.save_npz(path, sp.csr_array(np.array([[np.nan, 1.0]], np.float32)))
    assert call_json("run", "spmm", path, "--feat", 1, "--repeat", 1)["checksum"] is None


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["missing.npz", "--feat", 4], "ST130"),
        (["graph.csv", "--feat", 4], "ST131"),
        (["{graph}", "--feat", 4, "--from", "nowhere"], "ST603"),
    ],
)
def test_bad_files_are_messages_with_codes(call, graph, arguments, code):
    result = call("run", "spmm", *[str(x).format(graph=graph) for x in arguments], "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"[{code}]")
    assert "Traceback" not in result.stderr


def test_complex_values_are_refused(call, tmp_path):
    path = tmp_path / "complex.npz"
    sp.save_npz(path, sp.csr_array(np.array([[1j, 1]])))
    result = call("run", "spmm", path, "--feat", 1)
    assert (result.exit_code, "ST156" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [["spmm", "{graph}"], ["spmm", "{graph}", "--feat", "0"], ["sort", "{graph}", "--feat", "4"], ["spmm"]],
)
def test_wrong_usage_is_exit_code_2(call, graph, arguments):
    result = call("run", *[x.format(graph=graph) for x in arguments])
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_a_wrong_tvm_is_a_message(call, graph, monkeypatch):
    def fail(*arguments):
        raise ImportError("[ST501] sparse_tir needs another TVM")

    monkeypatch.setattr("sparse_tir.cli.options.read_graph", fail)
    result = call("run", "spmm", graph, "--feat", 4)
    assert (result.exit_code, result.stderr) == (1, "[ST501] sparse_tir needs another TVM\n")


def test_other_errors_are_bugs_and_not_hidden(call, graph, monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr("sparse_tir.cli.options.read_graph", fail)
    assert isinstance(call("run", "spmm", graph, "--feat", 4).exception, ZeroDivisionError)
