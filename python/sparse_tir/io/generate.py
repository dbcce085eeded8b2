"""Random graphs for trying things out, where no file is at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sparse_tir import errors

#: R-MAT: the chance of each quarter of the matrix, upper left, upper right, lower left, lower right, in
#: 256ths: nearly the usual 57, 19, 19 and 5 percent, and a random byte chooses.
_QUARTERS = np.repeat(np.arange(4, dtype=np.uint8), (146, 49, 49, 12))
_FULLEST = 4


def power_law_graph(n_nodes: int, n_edges: int, seed: int = 0) -> csr_array:
    """A directed graph whose degrees are as skewed as those of citation and social networks (R-MAT).

    Every edge falls into one quarter of the matrix, with unequal chances, then into a quarter of that, and
    so on; nodes are renumbered at random afterwards. Most nodes have few edges or none, a few have very
    many.

    Parameters
    ----------
    n_nodes : int
        Rows and columns, from 1 on.
    n_edges : int
        Entries, all distinct: up to a quarter of the matrix.
    seed : int
        Equal arguments give equal graphs.

    Returns
    -------
    csr_array
        (n_nodes, n_nodes), sorted, int32 indices, float32 values in [0, 1).

    Raises
    ------
    DataError
        ST110 for sizes out of range.

    Notes
    -----
    D. Chakrabarti, Y. Zhan, C. Faloutsos: R-MAT: a recursive model for graph mining, SDM 2004.

    Examples
    --------
    >>> graph = power_law_graph(1000, 5000)
    >>> graph.nnz, int(graph.indptr[1:].max()), bool((graph.indptr[1:] - graph.indptr[:-1]).max() > 50)
    (5000, 5000, True)
    """
    most = n_nodes * n_nodes // _FULLEST
    if not 1 <= n_nodes <= np.iinfo(np.int32).max or not 0 <= n_edges <= most:
        found = f"{n_nodes} nodes, {n_edges} edges"
        expected = f"from 1 node on, and at most a quarter of all pairs as edges ({most})"
        raise errors.error("ST110", "power_law_graph", found, expected)
    random = np.random.default_rng(seed)
    cells = _distinct_cells(random, n_nodes, n_edges)
    rows, columns = np.divmod(cells, n_nodes)
    indptr = np.zeros(n_nodes + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n_nodes), out=indptr[1:])
    values = random.random(n_edges, dtype=np.float32)
    return csr_array((values, columns.astype(np.int32), indptr), shape=(n_nodes, n_nodes))


def _distinct_cells(random: np.random.Generator, n_nodes: int, n_edges: int) -> NDArray[np.int64]:
    """Sorted numbers ``row * n_nodes + column`` of n_edges distinct cells."""
    bits = max(1, int(n_nodes - 1).bit_length())
    new_numbers = random.permutation(1 << bits)
    cells = np.empty(0, np.int64)
    fit = (n_nodes / (1 << bits)) ** 2
    n_draws = int(1.25 * n_edges / fit) + 1
    while cells.size < n_edges:
        rows, columns = (new_numbers[old] for old in _fall(random, bits, n_draws))
        inside = (rows < n_nodes) & (columns < n_nodes)
        cells = np.union1d(cells, rows[inside] * n_nodes + columns[inside])
    return np.sort(random.choice(cells, n_edges, replace=False, shuffle=False))


def _fall(random: np.random.Generator, bits: int, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows and columns of cells, one bit of both per level."""
    rows, columns = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for _ in range(bits):
        quarter = _QUARTERS[np.frombuffer(random.bytes(count), np.uint8)]
        rows = 2 * rows + (quarter >> 1)
        columns = 2 * columns + (quarter & 1)
    return rows, columns
