"""Programs and calls at the edge of what lowering, parser and kernels take: right, or refused with a code."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from refusals import arguments, check_refusal, check_values, program, refusal
from test_law_errors import FOLD, INDEX, rows, vector

import sparse_tir as st
from sparse_tir import errors

PADDED = program(
    'with S.iter([O, R, L], "SRR", "sums") as [o, k, l]:\n    with S.init():\n        {0} = 3.0\n'
    "    {0} = {0} + V[o, l]\n",
    more="""
O = S.sparse_fixed(None, (m, 2), ox)
L = S.sparse_variable(O, (n, 2), (lp, lx))
U = S.match_sparse_buffer(u, (O,), "float32")
V = S.match_sparse_buffer(v, (O, L), "float32")
""",
    handles="ox lp lx u v",
)
#: Row 1 with two entries; the second slot is padding.
SLOTS = {
    "ox": np.array([1, 3], "int32"),
    "lp": np.array([0, 2, 2], "int32"),
    "lx": np.array([0, 1], "int32"),
    "U": np.array([7, 7], "float32"),
    "V": np.array([10, 20], "float32"),
}
KERNEL_IN_A_PROCESS = """
import sys
import numpy as np
import sparse_tir as st
from refusals import arguments
func = st.from_source(sys.stdin.read())
outputs = []
for run in (st.compile(func), lambda **call: st.interpret(func, **call)):
    call = arguments(P=np.array([1, 0, 2], "int32"))
    run(**call)
    outputs.append(call["Y"].tolist())
assert outputs[0] == outputs[1], outputs
"""


# ---- lowering
@pytest.mark.parametrize(("element", "expected"), [("U[o]", {"U": [213, 7]}), ("Y[o]", {"Y": [7, 213, 7]})])
def test_a_padded_slot_is_never_started(element: str, expected: dict[str, Any]) -> None:
    text = PADDED.format(element)
    if (
        element == "Y[o]"
    ):  # a dense output has its whole domain started; only interpreted: the kernel would write outside
        func = st.from_source(text)
        call = arguments(**{k: v.copy() for k, v in SLOTS.items()})
        st.interpret(func, **call)
        again = arguments(**{k: v.copy() for k, v in SLOTS.items()})
        st.interpret(st.lower(func), **again)
        assert again["Y"].tolist() == call["Y"].tolist()
        return
    check_values(text, arguments(**SLOTS), **expected)


@pytest.mark.parametrize(
    ("subscript", "n_inside"),
    [
        ('T.cast(T.cast(k, "int8"), "int32")', 128),
        ('T.cast(T.cast(k, "uint32") - T.uint32(5), "int32")', 195),
    ],
)
def test_a_subscript_that_wraps_never_reads_outside(subscript: str, n_inside: int) -> None:
    text = program(
        f'with S.iter([K], "S", "wide") as [k]:\n    V[k] = U[{subscript}]\n',
        more='K = S.dense_fixed(200)\nU = S.match_sparse_buffer(u, (K,), "float32")\n'
        'V = S.match_sparse_buffer(v, (K,), "float32")\n',
        handles="u v",
    )
    inside = np.zeros(200, "float32")
    inside[:n_inside] = 1
    inside = inside if n_inside == 128 else inside[::-1]
    call = arguments(U=np.ones(200, "float32"), V=np.full(200, 7, "float32"))
    check_values(text, call, V=inside)  # what lies outside reads as 0, compiled too


def test_a_subscript_of_narrow_data_has_one_meaning() -> None:
    text = vector('Y[i] = W[P[i] + T.cast(255, "uint8")]', more=INDEX.replace("int32", "uint8"), handles="p")
    call = arguments(P=np.array([1, 0, 2], "uint8"))
    other = arguments(P=np.array([1, 0, 2], "uint8"))
    st.interpret(st.from_source(text), **call)
    st.interpret(st.lower(st.from_source(text)), **other)
    assert call["Y"].tolist() == other["Y"].tolist()


@pytest.mark.parametrize("operation", ["//", "%"])
def test_a_subscript_may_divide_by_zero(operation: str) -> None:
    text = vector(f"Y[i] = W[i {operation} P[i]]", more=INDEX, handles="p")
    done = subprocess.run(
        [sys.executable, "-c", KERNEL_IN_A_PROCESS],
        input=text,
        text=True,
        timeout=60,
        cwd=__file__.rpartition("/")[0],
    )
    assert done.returncode == 0


def test_a_subscript_beyond_32_bits_is_out_of_range_or_refused() -> None:
    func = st.from_source(vector("Y[i] = W[i + 2147483647 + 2147483647 + 2]"))
    try:
        st.lower(func)
    except errors.SparseTIRError:
        return


# ---- what the parser lets through
ACCEPTED = {
    "a subscript that is a fraction": vector('Y[i] = W[T.cast(i, "float32")]'),
    "a length that is data": vector(
        "Y[i] = W[i]",
        more='Q = S.match_sparse_buffer(q, (I,), "int32")\nK = S.dense_fixed(Q[0])\n'
        'V = S.match_sparse_buffer(v, (K,), "float32")\n',
        handles="q v",
    ),
    "an unknown dtype": vector(
        "Y[i] = W[i]", more='Q = S.match_sparse_buffer(q, (I,), "float33")\n', handles="q"
    ),
    "a vector dtype": vector(
        "Y[i] = W[i]", more='Q = S.match_sparse_buffer(q, (I,), "float32x4")\n', handles="q"
    ),
    "a structure array of another width": vector(
        "Y[i] = W[i]",
        more='K = S.sparse_variable(I, (n, nnz), (indptr, q), "int64")\n'
        'V = S.match_sparse_buffer(v, (I, K), "float32")\n',
        handles="q v",
    ),
    "a function of another library": vector('Y[i] = T.call_extern("float32", "sinf", W[i])'),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_no_stage_can_run_is_refused_by_the_parser(name: str) -> None:
    with pytest.raises(errors.SparseTIRError):
        st.from_source(ACCEPTED[name])


#: name -> (the code that fits, program)
OTHER_CODE = {
    "names too few": ("ST204", rows(FOLD).replace("[i, j]:", "[i]:")),
    "names too many": ("ST204", vector("Y[i] = W[i]").replace("as [i]", "as [i, k]")),
    "a length beyond its idtype": ("ST202", vector("Y[i] = W[i]", more="K = S.dense_fixed(2**40)\n")),
    "a length that is a float scalar": (
        "ST202",
        vector(
            "Y[i] = W[i]",
            more="K = S.dense_fixed(T.float32(3))\nV = S.match_sparse_buffer(v, (K,))\n",
            handles="v",
        ),
    ),
    "a default beyond its dtype": (
        "ST203",
        vector("Y[i] = W[i]", more='Q = S.match_sparse_buffer(q, (I,), "int8", default=300)\n', handles="q"),
    ),
    "a default that is a text": (
        "ST203",
        vector("Y[i] = W[i]", more='Q = S.match_sparse_buffer(q, (I,), "int8", default="x")\n', handles="q"),
    ),
    "a subscript too many": ("ST212", vector("Y[i, i] = W[i]")),
    "a subscript too few": ("ST212", vector("Y[i] = A[i]")),
}


@pytest.mark.parametrize("name", OTHER_CODE)
def test_a_mistake_has_the_code_that_says_so(name: str) -> None:
    code, text = OTHER_CODE[name]
    assert refusal(lambda: st.from_source(text)).code == code


def test_a_vector_subscript_is_refused() -> None:
    text = vector("Y[T.Ramp(0, 1, 4)] = T.Broadcast(T.float32(1), 4)")
    assert refusal(lambda: st.from_source(text)).code == "ST209"


def test_a_buffer_without_a_layout_is_refused_by_its_name() -> None:
    text = vector("Y[i] = W[i]", more='Q = S.match_sparse_buffer(q, (J,), "float32")\n', handles="q")
    assert "Q" in str(refusal(lambda: st.from_source(text))).splitlines()[0]


def test_an_iterator_without_a_name_is_named_by_its_axis() -> None:
    text = vector("Y[0] = W[0]").replace(" as [i]", "")
    assert "``" not in str(refusal(lambda: st.from_source(text)))


# ---- calls
@pytest.mark.parametrize(("dtype", "value"), [("int32", -3), ("float32", 2.5), ("bool", True)])
def test_a_scalar_that_is_no_size_may_have_any_value(dtype: str, value: Any) -> None:
    text = vector('Y[i] = W[i] * T.cast(alpha, "float32")').replace(
        "r: T.int32", f"r: T.int32, alpha: T.{dtype}"
    )
    check_values(text, arguments(alpha=value), Y=[5 * value, 6 * value, 7 * value])


def test_a_handle_that_is_never_matched_is_refused() -> None:
    func = st.from_source(vector("Y[i] = W[i]", handles="q"))
    check_refusal(refusal(lambda: st.compile(func)), "ST203", "q")


def test_an_empty_array_may_be_flat() -> None:
    text = program(
        'with S.iter([I, K], "SR", "sums") as [i, k]:\n    with S.init():\n        Y[i] = 0.0\n'
        "    Y[i] = Y[i] + U[i, k]\n",
        more='K = S.dense_fixed(0)\nU = S.match_sparse_buffer(u, (I, K), "float32")\n',
        handles="u",
    )
    check_values(text, arguments(U=np.zeros(0, "float32")), Y=[0, 0, 0])
