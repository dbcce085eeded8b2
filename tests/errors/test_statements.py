"""Statements that TVM's parser would convert without a word, or end the process for: each is refused at its line."""

from __future__ import annotations

import pytest
from refusals import arguments, check_place, check_refusal, check_values, refusal
from test_law_errors import vector
from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import script as S

#: statement -> (code, what the message mentions)
WRONG = {
    "Y[i] = None": ("ST211", ["Y", "None (a NoneType)"]),
    "Y[i] = 'x'": ("ST211", ["Y", "'x' (a str)"]),
    "Y[i] = [W[i]]": ("ST211", ["Y", "a list"]),
    "Y[i] = W[i], 3": ("ST211", ["Y", "a tuple"]),
    "Y[i] = T.float64(1)": ("ST211", ["Y", "float64", "float32"]),
    "Y[i] = W[i] * T.float64(1)": ("ST211", ["Y", "float64"]),
    "Y[i] += T.float64(1)": ("ST211", ["Y", "float64"]),
    "Y[i] = i": ("ST211", ["Y", "int32"]),
    "Y[i] = W[i] > 1.0": ("ST211", ["Y", "bool"]),
    "Y[i] = T.cast(None, 'float32')": ("ST211", ["Y", "None"]),
    "Y[i] = W": ("ST212", ["W", "0 subscripts"]),
    "Y[i] = A[i]": ("ST212", ["A", "too few", "2, one"]),
    "Y[i] = A[i] + 1.0": ("ST212", ["too few"]),
    "A[i] = W[i]": ("ST212", ["A", "1 subscripts"]),
    "Y[i] = W[i, i]": ("ST212", ["2 subscripts"]),
    "Y[i, i] += W[i]": ("ST212", ["Y", "2 subscripts"]),
    "Y[None] = W[i]": ("ST209", ["Y", "None"]),
    "Y['a'] = W[i]": ("ST209", ["Y", "'a'"]),
    "Y[1.5] = W[i]": ("ST209", ["Y", "1.5"]),
    "i[0] = W[i]": ("ST201", ["on the left"]),
    "Y[i] = W[i] << 1": ("ST201", ["Expected integer argument"]),
    "Y[i] = T.max(W[i])": ("ST201", ["missing"]),
    "Y[i] = 1 / 0": ("ST201", ["division by zero"]),
}


@pytest.mark.parametrize("statement", WRONG)
def test_a_statement_is_refused_at_its_line(statement: str) -> None:
    code, mentions = WRONG[statement]
    text = vector(statement)
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, code, *mentions)
    check_place(error, text, "")
    for word in ("Check failed", "is false:", "ffi.", "ir_builder"):
        assert word not in str(error)


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("int32", "0.5"),
        ("int8", "300"),
        ("uint8", "-1"),
        ("int32", "float('nan')"),
        ("int64", "float('inf')"),
    ],
)
def test_a_number_that_the_dtype_cannot_hold_is_refused(dtype: str, number: str) -> None:
    check_refusal(
        refusal(lambda: st.from_source(vector(f"Y[i] = {number}", dtype=dtype))), "ST211", "Y", dtype
    )


@pytest.mark.parametrize(
    ("dtype", "number", "expected"), [("int32", "2.0", 2), ("float32", "1", 1), ("float64", "0.5", 0.5)]
)
def test_a_number_that_the_dtype_can_hold_is_stored(dtype: str, number: str, expected: float) -> None:
    check_values(vector(f"Y[i] = {number}", dtype=dtype), arguments(dtype), Y=[expected] * 3)


def test_an_augmented_assignment_is_its_plain_form() -> None:
    check_values(vector("Y[i] += W[i]"), arguments(), Y=[12, 13, 14])


@pytest.mark.parametrize("word", ["reads", "writes"])
def test_regions_that_a_body_declares_are_refused(word: str) -> None:
    text = vector(f"T.{word}(W[0])", "Y[i] = W[i]")
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, "ST208", "vec", f"T.{word}")
    check_place(error, text, "with S.iter")


@pytest.mark.parametrize("text", ["", "\n \n", "x = 1", "x", "((", "import os", "def f(): pass"])
def test_a_text_without_a_program_is_refused_in_plain_words(text: str) -> None:
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, "ST201")
    assert "IRBuilder" not in str(error)
    assert "Check failed" not in str(error)


NOTHING = None


def test_a_name_of_none_is_refused_too() -> None:
    def define() -> None:
        @S.prim_func
        def copy(y: T.handle, m: T.int32):
            I = S.dense_fixed(m)
            Y = S.match_sparse_buffer(y, (I,), "float32")
            with S.iter([I], "S", "copy") as [i]:
                Y[i] = T.cast(NOTHING, "float32")

    check_refusal(refusal(define), "ST211", "Y", "None")
