"""The matrices of the benchmarks: two citation graphs that ship with them, and two generated power-law graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sparse_tir.io.generate import power_law_graph

_DATA = Path(__file__).parents[1] / "data"
#: Nodes and edges of generated graphs: the sizes of ogbn-arxiv and of PPI.
_GENERATED = {"rmat-169k": (169_343, 1_166_243), "rmat-45k": (44_906, 1_271_274)}
NAMES = ("cora", "pubmed", *_GENERATED)


def load(name: str) -> sp.csr_array:
    """A graph as float32 CSR with int32 indices, by one of `NAMES` or the path of a ``.npz`` file."""
    if name in _GENERATED:
        matrix = power_law_graph(*_GENERATED[name])
    else:
        path = Path(name) if name.endswith(".npz") else _DATA / f"{name}.npz"
        matrix = sp.load_npz(path)
    matrix = sp.csr_array(matrix).astype(np.float32)
    matrix.sort_indices()
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return matrix
