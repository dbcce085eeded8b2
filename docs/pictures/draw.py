"""Draws the pictures of the concept pages from one small matrix: ``python docs/pictures/draw.py``.

A test draws them again and compares, so that they cannot differ from what SciPy stores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parent))
from canvas import Canvas

MATRIX = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 0], [0, 3, 0, 4, 5], [6, 0, 0, 0, 0]])
#: The entry that is followed through the pictures: row 2, column 3.
HOT = (2, 3)
CELL = 34


def _grid(canvas: Canvas, x: float, y: float) -> None:
    for (i, j), value in np.ndenumerate(MATRIX):
        style = "hot" if (i, j) == HOT else "cell" if value else "void"
        canvas.box(x + j * CELL, y + i * CELL, CELL - 3, CELL - 3, value or "", style)
    for i in range(MATRIX.shape[0]):
        canvas.text(x - 14, y + i * CELL + 20, i, "dim")
    for j in range(MATRIX.shape[1]):
        canvas.text(x + j * CELL + 15, y - 8, j, "dim")


def draw_csr() -> Canvas:
    """The matrix, its tree of two axes and its three arrays."""
    csr = sp.csr_array(MATRIX)
    indptr, indices = csr.indptr.tolist(), csr.indices.tolist()
    hot = int(indptr[HOT[0]] + indices[indptr[HOT[0]] : indptr[HOT[0] + 1]].index(HOT[1]))
    canvas = Canvas(800, 316, "A CSR matrix, its axis tree and its arrays")
    canvas.text(34, 30, "the matrix A[i, j]", "title left")
    _grid(canvas, 48, 68)
    canvas.text(48, 228, "m = 4, n = 5, nnz = 6", "note left")

    canvas.text(290, 30, "its axis tree", "title left")
    canvas.text(290, 84, "I", "left")
    canvas.text(290, 101, "dense_fixed(m)", "note left")
    canvas.text(290, 188, "J", "left")
    canvas.text(290, 205, "sparse_variable(I, ..)", "note left")
    leaves = [446 + 62 * position for position in range(csr.nnz)]
    roots = [477, 560, 632, 756]
    for i, x in enumerate(roots):
        for position in range(indptr[i], indptr[i + 1]):
            style = "hotline" if position == hot else "line"
            canvas.line((x, 98), (leaves[position], 178), style)
        canvas.box(x - 17, 72, 34, 26, i, "hot" if i == HOT[0] else "cell")
    for position, x in enumerate(leaves):
        canvas.box(x - 17, 178, 34, 26, indices[position], "hot" if position == hot else "cell")
        canvas.text(x, 222, position, "dim")
    canvas.text(290, 222, "positions", "dim left")
    canvas.text(roots[1], 122, "empty", "note")

    for x, name, entries, marked in (
        (34, "indptr", indptr, {HOT[0], HOT[0] + 1}),
        (290, "indices", indices, {hot}),
        (552, "data", csr.data.tolist(), {hot}),
    ):
        canvas.text(x, 284, name, "left")
        canvas.row(x + 62, 266, entries, marked, 29)
    return canvas


def draw_ell() -> Canvas:
    """The same matrix with three slots in every row."""
    width, n = 3, MATRIX.shape[1]
    canvas = Canvas(870, 226, "The same matrix in ELL: three slots per row, padded")
    canvas.text(34, 30, "the matrix A[i, j]", "title left")
    _grid(canvas, 48, 68)
    canvas.text(300, 30, "sparse_fixed(I, (n, 3), indices): three slots in each row", "title left")
    canvas.text(300, 54, "indices", "left")
    canvas.text(500, 54, "data", "left")
    for i, row in enumerate(MATRIX):
        columns = np.flatnonzero(row).tolist()
        for slot in range(width):
            filled = slot < len(columns)
            style = "hot" if filled and (i, columns[slot]) == HOT else "cell" if filled else "void"
            canvas.box(
                300 + slot * CELL, 68 + i * CELL, CELL - 3, CELL - 3, columns[slot] if filled else n, style
            )
            canvas.box(
                500 + slot * CELL,
                68 + i * CELL,
                CELL - 3,
                CELL - 3,
                row[columns[slot]] if filled else "",
                style,
            )
    canvas.text(640, 92, "An index that equals the length", "note left")
    canvas.text(640, 108, f"of the axis ({n}) marks a padded slot.", "note left")
    canvas.text(640, 132, "It is never visited, and what", "note left")
    canvas.text(640, 148, "the value array holds there", "note left")
    canvas.text(640, 164, "is never read.", "note left")
    return canvas


#: Name -> columns of axes; an axis is (name, constructor) and stands below its parent, the axis before it.
TREES: dict[str, list[list[tuple[str, str]]]] = {
    "CSR": [[("I", "dense_fixed"), ("J", "sparse_variable")]],
    "ELL": [[("I", "dense_fixed"), ("J", "sparse_fixed")]],
    "ragged rows": [[("I", "dense_fixed"), ("J", "dense_variable")]],
    "DCSR": [[("O", "sparse_fixed"), ("J", "sparse_variable")]],
    "BSR": [
        [("IO", "dense_fixed"), ("JO", "sparse_variable")],
        [("II", "dense_fixed")],
        [("JI", "dense_fixed")],
    ],
    "heads": [[("H", "dense_fixed")], [("I", "dense_fixed"), ("J", "sparse_variable")]],
}


def draw_trees() -> Canvas:
    """Formats as axis trees."""
    canvas = Canvas(742, 404, "Formats as trees of axes")
    places = {
        "CSR": (24, 0),
        "ELL": (168, 0),
        "ragged rows": (312, 0),
        "DCSR": (456, 0),
        "BSR": (24, 200),
        "heads": (456, 200),
    }
    buffers = {
        "CSR": "values (nnz,)",
        "ELL": "values (m, width)",
        "ragged rows": "values (nnz,)",
        "DCSR": "values (nnz,)",
        "BSR": "values (nnzb, b, b)",
        "heads": "values (h, nnz)",
    }
    for name, (x, y) in places.items():
        canvas.text(x, y + 30, name, "title left")
        for column, axes in enumerate(TREES[name]):
            left = x + column * 138
            for level, (axis, kind) in enumerate(axes):
                top = y + 46 + level * 60
                if level:
                    canvas.line((left + 62, top - 22), (left + 62, top))
                canvas.box(left, top, 124, 38, "", "cell")
                canvas.text(left + 62, top + 16, axis)
                canvas.text(left + 62, top + 31, kind, "note")
        canvas.text(x, y + 176, buffers[name], "note left")
    return canvas


PICTURES = {"csr.svg": draw_csr, "ell.svg": draw_ell, "trees.svg": draw_trees}

if __name__ == "__main__":
    for file, draw in PICTURES.items():
        (Path(__file__).parent / file).write_text(draw().svg(), encoding="utf-8")
