"""The bundle for a machine with a GPU, as far as it can be tested without one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sparse_tir.runtime import nvcc

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "gpu"
FEAT = 20


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


check = script("check")


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one kernel."""
    if nvcc.nvcc_path() is None:
        pytest.skip("nvcc is not on the search path")
    folder = tmp_path_factory.mktemp("gpu") / "bundle"
    done = run(SCRIPTS / "export.py", str(folder), "--feat", str(FEAT))
    assert done.returncode == 0, done.stderr
    assert f"spmm_{FEAT}_float32_int32: " in done.stdout
    assert " 0 bytes spilled" in done.stdout
    return folder


@pytest.mark.slow
def test_a_bundle_goes_the_whole_way_without_a_gpu(bundle: Path, tmp_path: Path) -> None:
    done = run(bundle / "check.py", "--dry-run", "--json", str(tmp_path / "result.json"))
    assert done.returncode == check.RIGHT, done.stderr
    assert "1 kernels load with the runtime of the bundle alone" in done.stdout
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["is_dry_run"]
    assert [row["graph"] for row in result["rows"]] == list(check.SMALL_GRAPHS)
    assert all(row["is_right"] and row["feat"] == FEAT and row["ours"] is None for row in result["rows"])


@pytest.mark.slow
def test_a_wrong_kernel_is_found_and_the_check_fails(bundle: Path) -> None:
    (source,) = (bundle / "kernels").glob("*.cu")
    right = source.read_text(encoding="utf-8")
    assert "__1.x = (v_.x+__2.x)" in right
    source.write_text(right.replace("__1.x = (v_.x+__2.x)", "__1.x = (v_.x-__2.x)"), encoding="utf-8")
    try:
        done = run(bundle / "check.py", "--dry-run")
    finally:
        source.write_text(right, encoding="utf-8")
    assert done.returncode == check.WRONG
    assert "WRONG" in done.stdout
    assert "0 of 2 results right" in done.stdout


def test_an_existing_folder_that_is_no_bundle_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvcc, "nvcc_path", lambda: "/bin/nvcc")
    (tmp_path / "precious").touch()
    with pytest.raises(SystemExit, match="neither empty nor a bundle"):
        script("export").main([str(tmp_path)])
    assert (tmp_path / "precious").exists()


def test_without_nvcc_the_export_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nvcc, "nvcc_path", lambda: None)
    assert script("export").main([str(tmp_path / "bundle")]) == 2
    assert "[ST508] export" in capsys.readouterr().err
    assert not (tmp_path / "bundle").exists()


def test_a_check_outside_of_a_bundle_says_so() -> None:
    done = run(SCRIPTS / "check.py", "--dry-run")
    assert done.returncode == check.CANNOT_RUN
    assert "manifest.json is missing" in done.stderr


@pytest.mark.parametrize("is_installed", [True, False])
def test_without_torch_or_a_gpu_the_check_says_so(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = SimpleNamespace(is_available=lambda: False)
    torch = SimpleNamespace(cuda=cuda, __version__="2.0", version=SimpleNamespace(cuda=None))
    monkeypatch.setitem(sys.modules, "torch", torch if is_installed else None)
    with pytest.raises(
        check.CannotRunError, match="finds no GPU" if is_installed else "torch is not installed"
    ):
        check.import_torch()


@pytest.mark.parametrize("driver", [0, 12090, 13000])
def test_a_driver_that_is_too_old_is_named(driver: int) -> None:
    def version(number: int) -> Any:
        return lambda pointer: setattr(pointer._obj, "value", number)

    cudart = SimpleNamespace(cudaDriverGetVersion=version(driver), cudaRuntimeGetVersion=version(13000))
    if driver == 13000:
        check.check_driver(cudart)
    else:
        with pytest.raises(check.CannotRunError, match=f"for CUDA {driver // 1000}, .* for CUDA 13"):
            check.check_driver(cudart)


def test_graphs_are_valid_and_repeat() -> None:
    graph, again = check.rmat(8, 5, (0.57, 0.19, 0.19, 0.05)), check.rmat(8, 5, (0.57, 0.19, 0.19, 0.05))
    matrix = sp.csr_array((graph.data, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    matrix.check_format()
    assert matrix.has_canonical_format
    assert 0.5 * 5 * 256 < matrix.nnz <= 5 * 256
    assert np.diff(graph.indptr).max() > 5 * np.median(np.diff(graph.indptr))
    np.testing.assert_array_equal(graph.indices, again.indices)
    x = np.random.default_rng(0).random((graph.n, 3))
    np.testing.assert_allclose(check.product(graph, x), matrix @ x)


def host_runner(result: Any) -> Any:
    """The runner for a GPU, on the CPU: PyTorch's own kernels, a clock that counts, and a stand-in for ours."""
    torch = pytest.importorskip("torch")
    runner = check.GpuRunner.__new__(check.GpuRunner)
    ticks = iter(range(10**6))

    def event(enable_timing: bool) -> SimpleNamespace:
        assert enable_timing
        return SimpleNamespace(record=lambda: None, elapsed_time=lambda _: float(next(ticks)))

    cuda = SimpleNamespace(synchronize=lambda: None, Event=event)
    names = ("from_numpy", "full", "sparse_csr_tensor", "sparse")
    runner.torch = SimpleNamespace(cuda=cuda, **{name: getattr(torch, name) for name in names})
    runner.place = "cpu"
    runner.flush = torch.ones(4)
    runner.entry = lambda kernel: result
    return runner


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(("factor", "is_right"), [(1.0, True), (1.001, False), (float("nan"), False)])
def test_the_runner_compares_with_cusparse_and_times_both(factor: float, is_right: bool) -> None:
    def result(data: Any, x: Any, out: Any, indptr: Any, indices: Any, m: int, n: int, nnz: int) -> None:
        data, x, out, indptr, indices = map(np.from_dlpack, (data, x, out, indptr, indices))
        assert (m, n, nnz) == (64, 64, indices.size)
        out[...] = sp.csr_array((data, indices, indptr), shape=(m, n)) @ x * np.float32(factor)

    graph = check.rmat(6, 3, (0.25, 0.25, 0.25, 0.25))
    x = np.random.default_rng(0).random((64, 5), dtype=np.float32)
    row = host_runner(result).run({"name": "stand-in"}, "uniform", graph, x)
    assert row.is_right == is_right
    assert (row.nodes, row.entries, row.feat) == (64, graph.indices.size, 5)
    assert row.ours.calls == row.cusparse.calls == check.CALLS
    assert row.ours.p20_ms < row.ours.median_ms < row.ours.p80_ms < row.cusparse.p20_ms
    check.print_row(row)
