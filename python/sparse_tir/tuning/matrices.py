"""A matrix in numbers, for the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from sparse_tir.runtime import SparseMatrix


def describe_matrix(matrix: SparseMatrix) -> dict[str, Any]:
    """Shape, entries, dtype, statistics of the row lengths, and how many rows have which length.

    ``row_lengths`` counts empty rows, rows of 1 entry, 2 to 3, 4 to 7 and so on: ``[first, last, rows]``.
    """
    lengths = matrix.pattern.row_lengths
    # frexp gives the bit length: 0 for 0, 1 for 1, 2 for 2 and 3, ..
    counts = np.bincount(np.frexp(lengths)[1]) if lengths.size else np.zeros(0, np.int64)
    ranges = [(0, 0)] + [(1 << bits, (2 << bits) - 1) for bits in range(max(len(counts) - 1, 0))]
    return {
        "shape": list(matrix.shape),
        "nnz": matrix.nnz,
        "dtype": str(matrix.dtype),
        "rows": asdict(matrix.pattern.rows),
        "row_lengths": [
            [first, last, int(rows)] for (first, last), rows in zip(ranges, counts, strict=False)
        ],
    }
