"""`sparse-tir make-graph`, and the generator behind it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sparse_tir import errors
from sparse_tir.io.generate import power_law_graph


def test_the_file_holds_the_graph_that_the_command_describes(call_json, tmp_path):
    path = tmp_path / "graph.npz"
    found = call_json("make-graph", path, "--nodes", 300, "--edges", 2000, "--seed", 5)
    graph = sp.load_npz(path)
    degrees = np.diff(graph.indptr)
    assert found == {
        "path": str(path),
        "shape": [300, 300],
        "nnz": 2000,
        "longest_row": int(degrees.max()),
        "empty_rows": int((degrees == 0).sum()),
        "seed": 5,
    }
    assert (graph.nnz, graph.dtype, graph.indices.dtype) == (2000, np.float32, np.int32)


def test_equal_seeds_give_equal_graphs_and_others_do_not():
    first, same, other = (power_law_graph(200, 900, seed) for seed in (1, 1, 2))
    assert (first != same).nnz == 0
    assert (first != other).nnz > 0


def test_degrees_are_skewed_and_entries_distinct():
    graph = power_law_graph(4000, 20000)
    graph.check_format(full_check=True)
    assert graph.has_canonical_format
    degrees = np.diff(graph.indptr)
    assert degrees.max() > 20 * degrees.mean()
    assert (degrees == 0).mean() > 0.2


@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (2, 1), (5, 6), (64, 1024), (1000, 0)])
def test_small_and_full_graphs(nodes, edges):
    assert power_law_graph(nodes, edges).nnz == edges


@pytest.mark.parametrize(("nodes", "edges"), [(0, 0), (4, 5), (10, -1), (2**31, 1)])
def test_sizes_out_of_range_are_refused(nodes, edges):
    with pytest.raises(errors.DataError, match="ST110"):
        power_law_graph(nodes, edges)


def test_the_command_refuses_them_as_well(call, tmp_path):
    result = call("make-graph", tmp_path / "g.npz", "--nodes", 4, "--edges", 5)
    assert result.exit_code == 1
    assert "ST110" in result.stderr
    result = call("make-graph", tmp_path / "g.txt", "--nodes", 4, "--edges", 1)
    assert result.exit_code == 2
    result = call("make-graph", tmp_path / "missing" / "g.npz", "--nodes", 4, "--edges", 1)
    assert result.exit_code == 1
    assert "ST135" in result.stderr
    assert not list(tmp_path.iterdir())
