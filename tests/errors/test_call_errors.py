"""ST10x and ST15x of a kernel's call: what is wrong with which argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import arguments, check_refusal, program, refusal
from test_law_errors import FOLD, START, rows

import sparse_tir as st
from sparse_tir import errors

NAME = "main"
ROW_SUMS = rows(START, "    Y[i] = 0.0", FOLD)
RAGGED = program(
    'with S.iter([I, L], "SR", "ragged") as [i, l]:\n    Y[i] = Y[i] + V[i, l]\n',
    more='L = S.dense_variable(I, (2, nnz), indptr)\nV = S.match_sparse_buffer(v, (I, L), "float32")\n',
    handles="v",
)
ELL = program(
    'with S.iter([I, E], "SR", "ell") as [i, e]:\n    Y[i] = Y[i] + V[i, e]\n',
    more='E = S.sparse_fixed(I, (n, 2), slots)\nV = S.match_sparse_buffer(v, (I, E), "float32")\n',
    handles="slots v",
)


@pytest.fixture(scope="module")
def kernels() -> dict[str, st.Kernel]:
    texts = {"csr": ROW_SUMS, "ragged": RAGGED, "ell": ELL}
    return {name: st.compile(st.from_source(text)) for name, text in texts.items()}


def i32(*numbers: int) -> np.ndarray:
    return np.array(numbers, "int32")


def ell(*slots: int) -> dict[str, Any]:
    return {"slots": i32(*slots), "V": np.ones((3, 2), "float32")}


READ_ONLY = np.zeros(3, "float32")
READ_ONLY.flags.writeable = False
#: name -> (kernel, code, what the message mentions, arguments that are different)
WRONG: dict[str, tuple[str, str, list[str], dict[str, Any]]] = {
    "indptr too short": ("csr", "ST102", ["indptr", "(3,)", "m + 1"], {"indptr": i32(1, 3, 5)}),
    "indptr decreases": ("csr", "ST103", ["indptr", "3 then 2"], {"indptr": i32(1, 3, 2, 5)}),
    "indptr is negative": ("csr", "ST103", ["indptr", "-1"], {"indptr": i32(-1, 3, 3, 5)}),
    "indptr ends early": ("csr", "ST104", ["indptr", "5"], {"indptr": i32(1, 3, 3, 4)}),
    "a column too large": ("csr", "ST105", ["indices", "J", "4"], {"indices": i32(0, 0, 4, 1, 3)}),
    "a negative column": ("csr", "ST105", ["indices", "J", "-1"], {"indices": i32(0, 0, 2, -1, 3)}),
    "columns in disorder": ("csr", "ST108", ["indices", "2 then 0"], {"indices": i32(0, 2, 0, 1, 3)}),
    "a column twice": ("csr", "ST108", ["indices", "2 twice"], {"indices": i32(0, 2, 2, 1, 3)}),
    "a ragged row too long": (
        "ragged",
        "ST105",
        ["indptr", "a row of 4 entries"],
        {"indptr": i32(1, 5, 5, 5), "indices": i32(0, 0, 1, 2, 3), "V": np.ones(5, "float32")},
    ),
    "a slot too large": ("ell", "ST105", ["slots", "5"], ell(0, 1, 4, 4, 3, 5)),
    "slots in disorder": ("ell", "ST108", ["slots", "1 then 0"], ell(1, 0, 4, 4, 3, 4)),
    "a slot twice": ("ell", "ST108", ["slots", "3 twice"], ell(0, 1, 4, 4, 3, 3)),
    "an unknown policy": ("csr", "ST109", ["'maybe'", "'trust'"], {"policy": "maybe"}),
    "a list": ("csr", "ST150", ["A", "list"], {"A": [9, 1, 2, 3, 4]}),
    "an operand of None": ("csr", "ST150", ["A", "NoneType"], {"A": None}),
    "values too few": ("csr", "ST151", ["A", "(4,)", "(5,)", "nnz"], {"A": np.ones(4, "float32")}),
    "a negative size": ("csr", "ST158", ["n = -1"], {"n": -1}),
    "a size that is a fraction": ("csr", "ST158", ["n = 2.5"], {"n": 2.5}),
    "a size that is a truth value": ("csr", "ST158", ["n = True"], {"n": True}),
    "a size beyond its dtype": ("csr", "ST158", ["n = 4294967296"], {"n": 2**32}),
    "values of another dtype": ("csr", "ST152", ["A", "float64", "float32"], {"A": np.ones(5)}),
    "wide indices": ("csr", "ST152", ["indices", "int64"], {"indices": np.array([0, 0, 2, 1, 3])}),
    "an output of another dtype": ("csr", "ST153", ["Y", "float64"], {"Y": np.zeros(3)}),
    "an output of another size": ("csr", "ST153", ["Y", "(4,)", "(3,)"], {"Y": np.zeros(4, "float32")}),
    "an output that is read-only": ("csr", "ST153", ["Y", "read-only"], {"Y": READ_ONLY}),
    "an unknown argument": ("csr", "ST157", ["'Q'"], {"Q": 1}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_refused_by_its_name(name: str, kernels: dict[str, st.Kernel]) -> None:
    kernel, code, mentions, changes = WRONG[name]
    error = refusal(lambda: kernels[kernel](**{**arguments(), **changes}))
    check_refusal(error, code, NAME, *mentions)
    assert isinstance(error, errors.DataError)


def test_an_output_over_an_operand_is_refused(kernels: dict[str, st.Kernel]) -> None:
    memory = np.ones(6, "float32")
    for operand, output in ((memory[:5], memory[3:]), (memory[:5], memory[:3])):
        error = refusal(
            lambda operand=operand, output=output: kernels["csr"](**arguments(A=operand, Y=output))
        )
        check_refusal(error, "ST154", NAME, "Y shares memory with A")


def test_arguments_are_matched_once(kernels: dict[str, st.Kernel]) -> None:
    call = arguments()
    in_order = list(call.values())
    for wrong, mention in (
        (lambda: kernels["csr"](*in_order, 1), "12 arguments"),
        (lambda: kernels["csr"](in_order[0], A=in_order[0]), "'A' given twice"),
        (lambda: kernels["csr"](**{k: v for k, v in call.items() if k != "X"}), "no X"),
    ):
        check_refusal(refusal(wrong), "ST157", NAME, mention)


def test_a_size_that_no_shape_tells_is_asked_for() -> None:
    text = program(
        'with S.iter([K], "S", "steps") as [k]:\n    Z[k] = 1.0\n',
        more="K = S.dense_fixed(steps)\n",
        scalars="steps",
    )
    kernel = st.compile(st.from_source(text))
    call = arguments()
    del call["m"], call["n"], call["nnz"], call["r"]
    check_refusal(refusal(lambda: kernel(**call)), "ST157", NAME, "no steps")
    kernel(**call, steps=2)
    assert call["Z"].tolist() == [1, 1, 7, 7, 7, 7, 7]


def test_the_calls_around_the_mistakes_are_right(kernels: dict[str, st.Kernel]) -> None:
    call = arguments()
    kernels["csr"](**call)
    assert call["Y"].tolist() == [3, 0, 7]
    call = {**arguments(), "V": np.array([9, 1, 2, 3, 4], "float32")}
    kernels["ragged"](**call)
    assert call["Y"].tolist() == [10, 7, 14]
    call = {**arguments(), **ell(0, 1, 4, 4, 3, 4)}
    kernels["ell"](**call)
    assert call["Y"].tolist() == [9, 7, 8]
