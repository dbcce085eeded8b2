"""Legal programs beside those of test_law_errors.py: at every stage they give numbers worked out by hand.

The matrix is [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4]]; X = 1, 10, 100, 1000; W = 5, 6, 7; Y, Z are sevens.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from refusals import arguments, check_values, program
from test_law_errors import FOLD, INDEX, MATRIX, START, SUM_W, entries, nested, rows, vector

SEVENS = np.full((3, 4), 7, "float32")


def coo(**others: Any) -> dict[str, Any]:
    """Two entries of row 2 and one of row 0."""
    structure = {"rows": np.array([2, 0, 2], "int32"), "V": np.array([1, 20, 300], "float32"), "e": 3}
    return arguments(**structure, **others)


def repeated(**others: Any) -> dict[str, Any]:
    """Row 2 holds column 3 twice."""
    return arguments(**{"indices": np.array([0, 0, 2, 3, 3], "int32"), **others})


def dense(*at: tuple[int, int, float]) -> np.ndarray:
    """Sevens but for some elements."""
    whole = SEVENS.copy()
    for i, j, value in at:
        whole[i, j] = value
    return whole


K = "K = S.dense_fixed(2)\n"

#: (law, name) -> (program, arguments, outputs)
LEGAL: dict[tuple[int, str], tuple[str, dict[str, Any], dict[str, Any]]] = {
    (1, "repeated rows as a reduction"): (
        entries("Y[e_] = Y[e_] + V[e_]", kind="R"),
        coo(),
        {"Y": [27, 7, 308]},
    ),
    (1, "repeated rows, started"): (
        entries(START, "    Z[e_ * 2 + 1] = 0.0", "Z[e_ * 2 + 1] = Z[e_ * 2 + 1] + V[e_]", kind="R"),
        coo(),
        {"Z": [7, 20, 7, 0, 7, 301, 7]},
    ),
    (1, "repeated rows at their own positions"): (
        entries("V[e_] = W[e_]"),
        coo(),
        {"V": [7, 5, 7]},
    ),
    (1, "repeated columns at their own positions"): (
        rows("A[i, j] = X[j]", kinds="SS", flags=", unique=False"),
        repeated(),
        {"A": [9, 1, 100, 1000, 1000]},
    ),
    (1, "repeated columns in a fold of their row"): (
        rows("Y[i] = Y[i] + A[i, j] * X[j]", flags=", unique=False"),
        repeated(),
        {"Y": [208, 7, 7007]},
    ),
    (1, "unique columns in a dense copy"): (
        rows("C[i, j] = A[i, j]", kinds="SS", more=MATRIX, handles="c"),
        arguments(C=SEVENS),
        {"C": dense((0, 0, 1), (0, 2, 2), (2, 1, 3), (2, 3, 4))},
    ),
    (2, "a search among unique columns"): (vector("Y[i] = A[i, 1]"), arguments(), {"Y": [0, 0, 3]}),
    (2, "a search among unsorted columns"): (
        vector("Y[i] = A[i, 1]", flags=", sorted=False"),
        arguments(indices=np.array([0, 2, 0, 3, 1], "int32")),
        {"Y": [0, 0, 4]},
    ),
    (2, "another row of unique columns"): (
        rows(START, "    Y[i] = 0.0", "Y[i] = Y[i] + A[m - 1 - i, j]"),
        arguments(indices=np.array([0, 0, 2, 2, 3], "int32")),
        {"Y": [3, 0, 2]},
    ),
    (2, "a read past the end"): (vector("Y[i] = W[i + 1]"), arguments(), {"Y": [6, 7, 0]}),
    (2, "a read before the beginning"): (vector("Y[i] = W[i - 2]"), arguments(), {"Y": [0, 0, 5]}),
    (2, "a default"): (
        vector(
            "Y[i] = Q[i + 2]", more='Q = S.match_sparse_buffer(q, (I,), "float32", default=-1)\n', handles="q"
        ),
        arguments(Q=np.array([1, 2, 3], "float32")),
        {"Y": [3, -1, -1]},
    ),
    (3, "positions of its own iterators"): (
        rows("A[i, j] = A[i, j] * X[j]", kinds="SS"),
        arguments(),
        {"A": [9, 1, 200, 30, 4000]},
    ),
    (3, "positions of an inner iteration"): (
        nested("S", "S A[i, j] = W[i]"),
        arguments(),
        {"A": [9, 5, 5, 7, 7]},
    ),
    (3, "a write in reverse"): (vector("Y[m - 1 - i] = W[i]"), arguments(), {"Y": [7, 6, 5]}),
    (3, "an affine place"): (
        vector("Z[i * 2 + 1] = W[i]"),
        arguments(),
        {"Z": [7, 5, 7, 6, 7, 7, 7]},
    ),
    (3, "a write that may be out of range"): (vector("Y[i + 1] = W[i]"), arguments(), {"Y": [7, 5, 6]}),
    (3, "a dense place of a reduction"): (
        rows("C[i, j] = C[i, j] + A[i, j]", kinds="RR", more=MATRIX, handles="c"),
        arguments(C=SEVENS),
        {"C": dense((0, 0, 8), (0, 2, 9), (2, 1, 10), (2, 3, 11))},
    ),
    (4, "an init of an iteration of its own"): (
        rows(START, "    X[j] = 0.0", "X[j] = X[j] + A[i, j]", kinds="RS"),
        arguments(),
        {"X": [1, 3, 2, 4]},
    ),
    (4, "an init under rows that select"): (
        nested("S", "R with S.init():;    Y[i] = 0.0;" + FOLD),
        arguments(),
        {"Y": [3, 0, 7]},
    ),
    (4, "an init under reduced rows that select"): (
        nested("R", "R with S.init():;    Y[i] = 0.0;" + FOLD),
        arguments(),
        {"Y": [3, 0, 7]},
    ),
    (4, "an init of digits under rows"): (
        program(
            'with S.iter([I], "S", "outer") as [i]:\n    with S.iter([K, J], "SR", "inner") as [k, j]:\n'
            "        with S.init():\n            Z[i * 2 + k] = 0.0\n"
            "        Z[i * 2 + k] = Z[i * 2 + k] + A[i, j]\n",
            more=K,
        ),
        arguments(),
        {"Z": [3, 3, 0, 0, 7, 7, 7]},
    ),
    (4, "an init without reductions"): (
        vector(START, "    Y[i] = 2.0", "Y[i] = Y[i] * W[i]"),
        arguments(),
        {"Y": [10, 12, 14]},
    ),
    (4, "a start from another buffer"): (
        rows(START, "    Y[i] = W[i]", FOLD),
        arguments(),
        {"Y": [8, 6, 14]},
    ),
    (4, "two starts of two elements"): (
        rows(START, "    Y[i] = 0.0", "    W[i] = 1.0", FOLD, "W[i] = W[i] * A[i, j]"),
        arguments(),
        {"Y": [3, 0, 7], "W": [2, 1, 12]},
    ),
    (4, "a start before another fold"): (
        rows(START, "    Z[i] = 0.0", "Z[i] = Z[i] + A[i, j]", "Z[j] = Z[j] + A[i, j]", kinds="RR"),
        arguments(),
        {"Z": [3 + 1, 0 + 3, 7 + 2, 7 + 4, 7, 7, 7]},
    ),
    (9, "rows that share a column as a reduction"): (
        rows("X[j] = X[j] + A[i, j]", kinds="RS"),
        arguments(),
        {"X": [2, 13, 102, 1004]},
    ),
    (9, "a constant place as a reduction"): (
        vector("Y[0] = Y[0] + W[i]", kind="R"),
        arguments(),
        {"Y": [25, 7, 7]},
    ),
    (9, "halves as a reduction"): (
        vector(START, "    Z[i // 2] = 0.0", "Z[i // 2] = Z[i // 2] + W[i]", kind="R"),
        arguments(),
        {"Z": [11, 7, 7, 7, 7, 7, 7]},
    ),
    (9, "a place from data as a reduction"): (
        vector("Z[P[i]] = Z[P[i]] + W[i]", kind="R", more=INDEX, handles="p"),
        arguments(P=np.array([3, -1, 3], "int32")),
        {"Z": [7, 7, 7, 19, 7, 7, 7]},
    ),
    (9, "digits"): (
        program('with S.iter([I, K], "SS", "digits") as [i, k]:\n    Z[i * 2 + k] = W[i]\n', more=K),
        arguments(),
        {"Z": [5, 5, 6, 6, 7, 7, 7]},
    ),
    (9, "digits of one spatial and one reduced iterator"): (
        program(
            'with S.iter([I, K], "SR", "digits") as [i, k]:\n    Z[i * 2 + k] = Z[i * 2 + k] + W[i]\n', more=K
        ),
        arguments(),
        {"Z": [12, 12, 13, 13, 14, 14, 7]},
    ),
    (9, "three digits of unknown radix"): (
        program(
            'with S.iter([P, I, K], "SSS", "digits") as [p, i, k]:\n    Z[(p * m + i) * q + k] = W[i]\n',
            more="P = S.dense_fixed(1)\nK = S.dense_fixed(q)\n",
            scalars="q",
        ),
        arguments(q=2),
        {"Z": [5, 5, 6, 6, 7, 7, 7]},
    ),
    (9, "quotient and remainder"): (
        vector("C[i % 2, i // 2] = W[i]", more=MATRIX, handles="c"),
        arguments(C=SEVENS),
        {"C": dense((0, 0, 5), (1, 0, 6), (0, 1, 7))},
    ),
    (9, "a place in 64 bits"): (vector('Y[T.cast(i, "int64")] = W[i]'), arguments(), {"Y": [5, 6, 7]}),
    (9, "two statements that never meet"): (
        vector("Z[2 * i] = W[i]", "Z[2 * i + 1] = 1.0"),
        arguments(),
        {"Z": [5, 1, 6, 1, 7, 1, 7]},
    ),
    (9, "a difference"): (rows("Y[i] = Y[i] - A[i, j]"), arguments(), {"Y": [4, 7, 0]}),
    (9, "operands in any order"): (
        rows("Y[i] = A[i, j] + Y[i] + X[j]"),
        arguments(),
        {"Y": [111, 7, 1024]},
    ),
    (9, "max and min"): (
        rows("Y[i] = T.max(Y[i], A[i, j] * 4.0)", "W[i] = T.min(A[i, j], W[i])"),
        arguments(),
        {"Y": [8, 7, 16], "W": [1, 6, 3]},
    ),
    (9, "one combiner twice"): (rows(FOLD, "Y[i] = Y[i] + X[j]"), arguments(), {"Y": [111, 7, 1024]}),
    (9, "two combiners one after the other"): (
        nested("S", "R " + FOLD, "R Y[i] = T.max(Y[i], A[i, j] * 5.0)"),
        arguments(),
        {"Y": [10, 7, 20]},
    ),
    (10, "the element itself, twice"): (
        vector("Y[i] = Y[i] * Y[i] + W[i]"),
        arguments(Y=np.array([2, 3, 4], "float32")),
        {"Y": [9, 15, 23]},
    ),
    (10, "two statements about one element"): (
        vector("Y[i] = Y[i] + W[i]", "Y[i] = Y[i] * 2.0"),
        arguments(),
        {"Y": [24, 26, 28]},
    ),
    (10, "an inner read of the same row"): (
        nested("S", SUM_W, "R Y[i] = Y[i] + W[i] * A[i, j]"),
        arguments(),
        {"W": [3, 0, 7], "Y": [7 + 3 * 3, 7, 7 + 7 * 7]},
    ),
    (10, "a start from the same row"): (
        nested("S", SUM_W, "R with S.init():;    Y[i] = W[i];" + FOLD),
        arguments(),
        {"W": [3, 0, 7], "Y": [6, 0, 14]},
    ),
    (10, "a read after the iteration has ended"): (
        vector("W[i] = W[i] * 2.0")
        + '    with S.iter([I], "S", "later") as [i]:\n        Y[i] = W[m - 1 - i]\n',
        arguments(),
        {"W": [10, 12, 14], "Y": [14, 12, 10]},
    ),
    (10, "a place from data that is not written"): (
        vector("Z[i + P[0]] = W[i]", more=INDEX, handles="p"),
        arguments(P=np.array([2, 0, 0], "int32")),
        {"Z": [7, 7, 5, 6, 7, 7, 7]},
    ),
}


@pytest.mark.parametrize("key", LEGAL, ids=[f"law {law}: {name}" for law, name in LEGAL])
def test_a_legal_neighbour_gives_the_same_numbers_everywhere(key: tuple[int, str]) -> None:
    text, call, expected = LEGAL[key]
    check_values(text, call, **expected)


def test_every_law_that_can_be_checked_has_at_least_three_legal_neighbours() -> None:
    legal = collections.Counter(law for law, _ in LEGAL)
    assert legal.keys() == {1, 2, 3, 4, 9, 10}
    assert min(legal.values()) >= 3
