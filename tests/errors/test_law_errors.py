"""ST40x and ST411: programs that break a law, each beside legal ones in test_law_neighbours.py."""

from __future__ import annotations

import collections

import pytest
from refusals import check_place, check_refusal, program, refusal

import sparse_tir as st
from sparse_tir import errors

MATRIX = 'C = S.match_sparse_buffer(c, (I, D), "float32")\n'
COO = """
E = S.sparse_fixed(None, (m, e), rows, sorted=False, unique=False)
V = S.match_sparse_buffer(v, (E,), "float32")
"""
INDEX = 'P = S.match_sparse_buffer(p, (I,), "int32")\n'


def rows(*lines: str, kinds: str = "SR", **options: str) -> str:
    """A program with one iteration ``rows`` over the matrix."""
    body = "".join(f"    {line}\n" for line in lines)
    return program(f'with S.iter([I, J], "{kinds}", "rows") as [i, j]:\n{body}', **options)


def vector(*lines: str, kind: str = "S", **options: str) -> str:
    """A program with one iteration ``vec`` over I."""
    body = "".join(f"    {line}\n" for line in lines)
    return program(f'with S.iter([I], "{kind}", "vec") as [i]:\n{body}', **options)


def entries(*lines: str, kind: str = "S") -> str:
    """A program with one iteration ``coo`` over the non-unique root E."""
    body = "".join(f"    {line}\n" for line in lines)
    text = f'with S.iter([E], "{kind}", "coo") as [e_]:\n{body}'
    return program(text, more=COO, handles="rows v", scalars="e")


def nested(outer: str, first: str, second: str = "") -> str:
    """Two iterations over J under one over I (``outer``: its letter); the two are (letter, statements)."""
    text = f'with S.iter([I], "{outer}", "outer") as [i]:\n'
    for name, inner in (("first", first), ("second", second)):
        letter, _, statements = inner.partition(" ")
        if inner:
            text += f'    with S.iter([J], "{letter}", "{name}") as [j]:\n'
            text += "".join(f"        {line}\n" for line in statements.split(";"))
    return program(text)


START = "with S.init():"
FOLD = "Y[i] = Y[i] + A[i, j]"
SUM_W = "R with S.init():;    W[i] = 0.0;W[i] = W[i] + A[i, j]"

#: (law, name) -> (code, what the message mentions, what stands above the caret, program)
BROKEN = {
    (1, "repeated rows as spatial"): (
        "ST401",
        ["coo", "Y[e_]", "axis `E`"],
        "Y[e_]",
        entries("Y[e_] = V[e_]"),
    ),
    (1, "repeated rows in an affine place"): (
        "ST401",
        ["coo", "Z[e_ * 2 + 1]", "axis `E`"],
        "Z[",
        entries("Z[e_ * 2 + 1] = V[e_]"),
    ),
    (1, "repeated columns as spatial"): (
        "ST401",
        ["rows", "X[j]", "axis `J`"],
        "X[j]",
        rows("X[j] = X[j] + A[i, j]", kinds="RS", flags=", unique=False"),
    ),
    (1, "a dense copy of repeated columns"): (
        "ST401",
        ["rows", "C[i, j]", "axis `J`"],
        "C[i, j]",
        rows("C[i, j] = A[i, j]", kinds="SS", flags=", unique=False", more=MATRIX, handles="c"),
    ),
    (2, "a search among repeated columns"): (
        "ST402",
        ["vec", "A[i, 0]", "axis `J`"],
        "A[i, 0]",
        vector("Y[i] = A[i, 0]", flags=", unique=False"),
    ),
    (2, "another row among repeated columns"): (
        "ST402",
        ["rows", "A[m - 1 - i, j]", "axis `J`"],
        "A[m - 1",
        rows("Y[i] = Y[i] + A[m - 1 - i, j]", flags=", unique=False"),
    ),
    (2, "a search in a start"): (
        "ST402",
        ["rows", "A[i, 1]", "axis `J`"],
        "A[i, 1]",
        rows(START, "    Y[i] = A[i, 1]", FOLD, flags=", unique=False"),
    ),
    (2, "a search in a subscript"): (
        "ST402",
        ["vec", "A[i, 0]", "axis `J`"],
        "A[i, 0]",
        vector("Y[i] = W[A[i, 0]]", flags=", unique=False", dtype="int32"),
    ),
    (2, "a load of an ordinary buffer"): (
        "ST411",
        ["vec", "a load of Q", "S.match_sparse_buffer"],
        "Q[i]",
        vector("Y[i] = Q[i]", more='Q = T.match_buffer(q, (m,), "float32")\n', handles="q"),
    ),
    (2, "a write to an ordinary buffer"): (
        "ST411",
        ["vec", "a write to Q"],
        "Q[i]",
        vector("Q[i] = W[i]", more='Q = T.match_buffer(q, (m,), "float32")\n', handles="q"),
    ),
    (3, "a write along a dense iterator"): (
        "ST403",
        ["dense", "A[i, d]", "axis `J`"],
        "A[i, d]",
        program('with S.iter([I, D], "SS", "dense") as [i, d]:\n    A[i, d] = X[d]\n'),
    ),
    (3, "a write to a shifted column"): (
        "ST403",
        ["rows", "A[i, j + 1]", "axis `J`"],
        "A[i, j + 1]",
        rows("A[i, j + 1] = X[j]", kinds="SS"),
    ),
    (3, "a write under another row"): (
        "ST403",
        ["two", "A[k, j]", "axis `J`"],
        "A[k, j]",
        program(
            'with S.iter([K, I, J], "SSS", "two") as [k, i, j]:\n    A[k, j] = X[j]\n',
            more="K = S.dense_fixed(m)\n",
        ),
    ),
    (3, "a fold at positions of a reduction"): (
        "ST404",
        ["rows", "A[i, j]", "axis `J`"],
        "A[i, j]",
        rows("A[i, j] = A[i, j] + X[j]", kinds="SR"),
    ),
    (3, "positions under reduced rows"): (
        "ST404",
        ["rows", "A[i, j]", "axis `I`"],
        "A[i, j]",
        rows("A[i, j] = A[i, j] + X[j]", kinds="RS"),
    ),
    (3, "positions under an outer reduction"): (
        "ST404",
        ["first", "A[i, j]", "axis `I`"],
        "A[i, j]",
        nested("R", "S A[i, j] = A[i, j] + X[j]"),
    ),
    (3, "a write past the end"): ("ST405", ["vec", "Y[i + m]", "axis `I`"], "Y[i", vector("Y[i + m] = W[i]")),
    (3, "a write before the beginning"): (
        "ST405",
        ["vec", "Y[-1 - i]", "axis `I`"],
        "Y[-1",
        vector("Y[-1 - i] = W[i]"),
    ),
    (3, "a write past a constant end"): (
        "ST405",
        ["vec", "Q[i + 5]", "axis `Five`"],
        "Q[i",
        vector(
            "Q[i + 5] = W[i]",
            more='Five = S.dense_fixed(5)\nQ = S.match_sparse_buffer(q, (Five,), "float32")\n',
            handles="q",
        ),
    ),
    (4, "an init under an outer reduction"): (
        "ST406",
        ["first", "X[j]", "`i`"],
        "X[j]",
        nested("R", "S with S.init():;    X[j] = 0.0;X[j] = X[j] + A[i, j]"),
    ),
    (4, "an init under an outer reduction that shares a place"): (
        "ST406",
        ["first", "Z[i + j]", "`i`"],
        "Z[i",
        nested("R", "R with S.init():;    Z[i + j] = 0.0;Z[i + j] = Z[i + j] + A[i, j]"),
    ),
    (4, "an init of a constant place under rows"): (
        "ST406",
        ["first", "Y[0]", "`i`"],
        "Y[0]",
        nested("R", "R with S.init():;    Y[0] = 0.0;Y[0] = Y[0] + A[i, j]"),
    ),
    (4, "an init of another element"): (
        "ST407",
        ["rows", "init of Z[i]", "Z[i * 2]"],
        "Z[i] = 0.0",
        rows(START, "    Z[i] = 0.0", "Z[i * 2] = Z[i * 2] + A[i, j]"),
    ),
    (4, "an init of another buffer"): (
        "ST407",
        ["rows", "init of W[i]", "Y[i]"],
        "W[i] = 0.0",
        rows(START, "    W[i] = 0.0", FOLD),
    ),
    (4, "two starts of one element"): (
        "ST407",
        ["rows", "Y[i] started twice"],
        "Y[i] = 1.0",
        rows(START, "    Y[i] = 0.0", "    Y[i] = 1.0", FOLD),
    ),
    (4, "one start of two statements"): (
        "ST407",
        ["rows", "init of Y[i]"],
        "Y[i] = 0.0",
        rows(START, "    Y[i] = 0.0", FOLD, FOLD),
    ),
    (4, "a start that follows the reduction"): (
        "ST407",
        ["rows", "depends on `j`"],
        'Y[i] = T.cast(j, "float32")',
        rows(START, '    Y[i] = T.cast(j, "float32")', FOLD),
    ),
    (4, "a start that erases another fold"): (
        "ST407",
        ["rows", "Z[i] and Z[j] may be one element"],
        "Z[j] = Z",
        rows(START, "    Z[j] = 0.0", "Z[i] = Z[i] + A[i, j]", "Z[j] = Z[j] + A[i, j]", kinds="RR"),
    ),
    (9, "rows that share a column"): (
        "ST408",
        ["rows", "X[j]", "axis `I`"],
        "X[j]",
        rows("X[j] = A[i, j]", kinds="SS"),
    ),
    (9, "a constant place"): ("ST408", ["vec", "Y[0]", "axis `I`"], "Y[0]", vector("Y[0] = W[i]")),
    (9, "a multiple that may be 0"): (
        "ST408",
        ["vec", "Z[i * r]", "axis `I`"],
        "Z[i",
        vector("Z[i * r] = W[i]"),
    ),
    (9, "halves"): ("ST408", ["vec", "Z[i // 2]", "axis `I`"], "Z[i", vector("Z[i // 2] = W[i]")),
    (9, "a place from data"): (
        "ST408",
        ["vec", "Z[P[i]]", "axis `I`"],
        "Z[P",
        vector("Z[P[i]] = W[i]", more=INDEX, handles="p"),
    ),
    (9, "digits that overlap"): (
        "ST408",
        ["digits", "Z[i * 2 + k]", "axis `I`"],
        "Z[i",
        program(
            'with S.iter([I, K], "SS", "digits") as [i, k]:\n    Z[i * 2 + k] = W[i]\n',
            more="K = S.dense_fixed(3)\n",
        ),
    ),
    (9, "digits of the wrong radix"): (
        "ST408",
        ["digits", "Z[(i * m + k) * m + d]", "axis `I`"],
        "Z[(",
        program(
            'with S.iter([I, K, D], "SSS", "digits") as [i, k, d]:\n    Z[(i * m + k) * m + d] = W[i]\n',
            more="K = S.dense_fixed(m)\n",
        ),
    ),
    (9, "quotient and remainder of different divisors"): (
        "ST408",
        ["vec", "C[i // 2, i % 3]", "axis `I`"],
        "C[i",
        vector("C[i // 2, i % 3] = W[i]", more=MATRIX, handles="c"),
    ),
    (9, "quotient and remainder of a divisor that varies"): (
        "ST408",
        ["dense", "C[i // (d + 1), i % (d + 1)]", "axis `I`"],
        "C[i",
        program(
            'with S.iter([I, D], "SR", "dense") as [i, d]:\n'
            "    C[i // (d + 1), i % (d + 1)] = C[i // (d + 1), i % (d + 1)] + W[i]\n",
            more=MATRIX,
            handles="c",
        ),
    ),
    (9, "a place in 8 bits"): (
        "ST408",
        ["vec", 'T.Cast("int8", i)', "axis `I`"],
        "Z[",
        vector('Z[T.cast(T.cast(i, "int8"), "int32")] = W[i]'),
    ),
    (9, "two statements that meet"): (
        "ST408",
        ["vec", "Z[i] and Z[2 * i]", "axis `I`"],
        "Z[2 * i]",
        vector("Z[i] = W[i]", "Z[2 * i] = 1.0"),
    ),
    (9, "an inner statement that meets another row"): (
        "ST408",
        ["second", "Y[i] and Y[m - 1 - i]", "axis `I`"],
        "Y[m",
        nested("S", "R Y[i] = Y[i] + A[i, j]", "R Y[m - 1 - i] = Y[m - 1 - i] + A[i, j]"),
    ),
    (9, "a store under a reduction"): ("ST409", ["rows", "Y[i] = A[i, j]"], "Y[i]", rows("Y[i] = A[i, j]")),
    (9, "a difference the wrong way"): (
        "ST409",
        ["rows", "A[i, j] - Y[i]"],
        "Y[i]",
        rows("Y[i] = A[i, j] - Y[i]"),
    ),
    (9, "a doubling"): ("ST409", ["rows", "Y[i] + Y[i]"], "Y[i]", rows("Y[i] = Y[i] + Y[i]")),
    (9, "a recurrence"): ("ST409", ["rows", "Y[i] * "], "Y[i]", rows("Y[i] = Y[i] * 2.0 + A[i, j]")),
    (9, "a fold of folded rows"): (
        "ST409",
        ["first", "X[j] = A[i, j]"],
        "X[j]",
        nested("R", "S X[j] = A[i, j]"),
    ),
    (9, "two combiners of one element"): (
        "ST409",
        ["rows", "Y[i] and Y[i]", "by sum and by max", "axis `J`"],
        "Y[i] = T.max",
        rows(FOLD, "Y[i] = T.max(Y[i], A[i, j])"),
    ),
    (10, "a scan"): ("ST410", ["vec", "Y[i - 1]", "Y[i]"], "Y[i - 1]", vector("Y[i] = Y[i - 1] + W[i]")),
    (10, "a reversal in place"): ("ST410", ["vec", "Y[m - 1 - i]"], "Y[m", vector("Y[i] = Y[m - 1 - i]")),
    (10, "a read beside the write"): ("ST410", ["vec", "Y[i]"], "Y[i]", vector("Y[i] = W[i]", "Z[i] = Y[i]")),
    (10, "a running sum that is read"): (
        "ST410",
        ["rows", "Y[i]"],
        "Y[i]",
        rows(FOLD, "W[i] = W[i] + Y[i]"),
    ),
    (10, "an inner read of another row"): (
        "ST410",
        ["second", "W[i + 1]", "`first` writes at W[i]"],
        "W[i + 1]",
        nested("S", SUM_W, "R Y[i] = Y[i] + W[i + 1]"),
    ),
    (10, "a start from another row"): (
        "ST410",
        ["second", "W[i + 1]", "`first` writes at W[i]"],
        "W[i + 1]",
        nested("S", SUM_W, "R with S.init():;    Y[i] = W[i + 1];Y[i] = Y[i] + A[i, j]"),
    ),
    (10, "an inner read before the write"): (
        "ST410",
        ["first", "W[i]", "`second` writes at W[i]"],
        "W[i]",
        nested("S", "R Y[i] = Y[i] + W[i]", SUM_W),
    ),
    (10, "a start from the element itself"): (
        "ST410",
        ["rows", "reads what the iteration writes"],
        "Y[i] = Y[i] * 2.0",
        rows(START, "    Y[i] = Y[i] * 2.0", FOLD),
    ),
    (10, "a place that the statement moves"): (
        "ST410",
        ["vec", "P[0]"],
        "P[0]",
        vector("P[i + P[0]] = 1", more=INDEX, handles="p"),
    ),
}


@pytest.mark.parametrize("key", BROKEN, ids=[f"law {law}: {name}" for law, name in BROKEN])
def test_a_program_that_breaks_a_law_is_refused_at_its_line(key: tuple[int, str]) -> None:
    code, mentions, marked, text = BROKEN[key]
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, code, *mentions)
    check_place(error, text, marked)
    assert isinstance(error, errors.LegalityError)
    assert errors.CODES[code].startswith(f"law {key[0]}:")


def test_every_law_that_can_be_checked_is_broken_at_least_three_times() -> None:
    broken = collections.Counter(law for law, _ in BROKEN)
    assert broken.keys() == {1, 2, 3, 4, 9, 10}  # 5 to 8 say what values are
    assert min(broken.values()) >= 3
    codes = {code for code, *_ in BROKEN.values()}
    assert codes == {code for code, title in errors.CODES.items() if title.startswith("law")}
