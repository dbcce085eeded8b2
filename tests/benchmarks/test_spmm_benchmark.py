"""The benchmark of SpMM: it runs, refuses wrong results, and its ratios are those of the medians."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_it_measures_a_cell_with_the_peers_that_there_are(tmp_path):
    files = ["--json", tmp_path / "r.json", "--svg", tmp_path / "r.svg", "--work-dir", tmp_path / "W"]
    cell = ["--graph", "cora", "--feat", "8", "--threads", "1", "--rounds", "3", "--trials", "2"]
    command = [sys.executable, BENCHMARKS / "spmm.py", *files, *cell]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    (cell,) = found["cells"]
    assert {"default", "tuned", "SciPy"} <= set(cell["times"])
    missing = {"torch", "MKL", "numba", "plain C"} - set(cell["times"])
    assert {reason.split(":")[0] for reason in found["absent"]} == missing
    assert all(0 < t["p20"] <= t["median"] <= t["p80"] and t["n"] == 3 for t in cell["times"].values())
    assert found["versions"]["SciPy"]
    assert "<svg" in (tmp_path / "r.svg").read_text()
    assert "best peer" in done.stdout


def test_ratios_are_of_medians_and_means_are_geometric():
    from harness.results import Cell, geometric_mean, summary
    from harness.turns import Times

    def cell(ours, peer, other, bound):
        seconds = {"mine": ours, "slow": peer, "fast": other, "hand": bound}
        times = {name: Times(value, value, value, 1) for name, value in seconds.items()}
        return Cell("g", 1, 1, times, ("mine",), "hand")

    assert geometric_mean([1, 4]) == pytest.approx(2)
    cells = [cell(1, 8, 2, 1), cell(1, 8, 0.5, 4)]
    assert cells[0].best_peer == "fast"
    (row,) = summary(cells)
    assert (row["best_peer"], row["worst_cell"]) == (pytest.approx(1), pytest.approx(0.5))
    assert (row["bound"], row["slow"]) == (pytest.approx(2), pytest.approx(8))


def test_a_contender_that_computes_something_else_is_refused():
    from harness.contender import Contender, check

    out = np.zeros(3)
    right = np.array([1.0, 2, 3])
    check(Contender("right", "1", lambda: out.__setitem__(slice(None), right), lambda: out), right, 1e-6, 0)
    for wrong in (right * 1.1, np.array([1, 2, np.nan])):
        call = lambda wrong=wrong: out.__setitem__(slice(None), wrong)  # noqa: E731
        with pytest.raises(ArithmeticError, match="bad is up to"):
            check(Contender("bad", "1", call, lambda: out), right, 1e-6, 0)
    with pytest.raises(ArithmeticError, match="lazy"):  # writes nothing
        check(Contender("lazy", "1", lambda: None, lambda: out), right, 1e-6, 0)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_every_peer_that_is_installed_agrees():
    import scipy.sparse as sp
    import spmm_peers
    from harness.contender import Contender, check

    A = sp.random_array((50, 40), density=0.1, format="csr", dtype="float32", rng=0)
    A.indptr, A.indices = A.indptr.astype("int32"), A.indices.astype("int32")
    X, out = np.random.default_rng(0).random((40, 16), np.float32), np.empty((50, 16), np.float32)
    found = [make(A, X, out, 1) for make in (*spmm_peers.PEERS, spmm_peers.plain_c)]
    present = [peer for peer in found if isinstance(peer, Contender)]
    assert "SciPy" in {peer.name for peer in present}
    for peer in present:
        check(peer, A.astype(np.float64) @ X, 1e-5, 0)
