"""Printed programs parse back to equal ones."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import ir
from sparse_tir import script as S


def program(parameters: str, body: str) -> str:
    """The text of a function. A parameter is ``name`` (a handle) or ``name:dtype``."""
    typed = [p.replace(":", ": T.") if ":" in p else f"{p}: T.handle" for p in parameters.split()]
    statements = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"@S.prim_func\ndef main({', '.join(typed)}):\n{statements}\n"


def check_round_trip(obj: tvm.tirx.PrimFunc | tvm.IRModule) -> str:
    """The text, which parses to an equal object and prints alike."""
    text = S.script(obj)
    again = st.from_source(text)
    tvm.ir.assert_structural_equal(again, obj)
    assert S.script(again) == text
    return text


COPY = """
with S.iter([I], "S", "copy") as [i]:
    X[i] = T.float32(1)
"""
CSR = "a x y indptr indices m:int32 n:int32 nnz:int32"
#: name -> program
PROGRAMS = {
    "dense axes of both widths": program(
        "x m:int32 n:int64",
        """
        I = S.dense_fixed(m)
        K = S.dense_fixed(n, "int64")
        X = S.match_sparse_buffer(x, (I, K), "float32")
        with S.iter([K, I], "SS", "fill") as [k, i]:
            X[i, k] = T.float32(2)
        """,
    ),
    "constant lengths": program(
        "x indptr nnz:int32",
        """
        I = S.dense_fixed(3)
        J = S.dense_variable(I, (7, nnz), indptr)
        X = S.match_sparse_buffer(x, (I, J), "float32")
        with S.iter([I, J], "SS", "fill") as [i, j]:
            X[i, j] = T.float32(2)
        """,
    ),
    "lengths that are expressions": program(
        "x m:int32 n:int32",
        """
        I = S.dense_fixed(2 * m + 1)
        K = S.dense_fixed(T.max(m, n) // 2, "int64")
        X = S.match_sparse_buffer(x, (I, K), "float32")
        with S.iter([I, K], "SS", "fill") as [i, k]:
            X[i, k] = T.float32(2)
        """,
    ),
    "CSR": program(
        CSR,
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        D = S.dense_fixed(n)
        A = S.match_sparse_buffer(a, (I, J), "float32")
        X = S.match_sparse_buffer(x, (D,), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I, J], "SR", "spmv") as [i, j]:
            with S.init():
                Y[i] = T.float32(0)
            Y[i] = Y[i] + A[i, j] * X[j]
        """,
    ),
    "CSR that is neither sorted nor unique": program(
        CSR,
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int64", sorted=False, unique=False)
        A = S.match_sparse_buffer(a, (I, J), "float64")
        with S.iter([I, J], "SS", "scale") as [i, j]:
            A[i, j] = A[i, j] * T.float64(0.1)
        """,
    ),
    "ELL, one flag each": program(
        "x y p q m:int32 n:int32",
        """
        I = S.dense_fixed(m)
        J = S.sparse_fixed(I, (n, 3), p, sorted=False)
        K = S.sparse_fixed(I, (n, 4), q, unique=False)
        X = S.match_sparse_buffer(x, (I, J), "float32")
        Y = S.match_sparse_buffer(y, (I, K), "float32")
        with S.iter([I, J], "SS", "first") as [i, j]:
            X[i, j] = T.float32(2)
        with S.iter([I, K], "SS", "second") as [i, k]:
            Y[i, k] = T.float32(3)
        """,
    ),
    "a sparse root and an axis under it": program(
        "a y rows indptr indices m:int32 n:int32 r:int32 nnz:int32",
        """
        I = S.dense_fixed(m)
        O = S.sparse_fixed(None, (m, r), rows, "int64")
        J = S.sparse_variable(O, (n, nnz), (indptr, indices))
        A = S.match_sparse_buffer(a, (O, J), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([O, J], "SR", "dcsr") as [o, j]:
            with S.init():
                Y[o] = T.float32(0)
            Y[o] = Y[o] + A[o, j]
        """,
    ),
    "four levels": program(
        "a y p q qx r rx m:int32 n:int32 nj:int32 nk:int32",
        """
        I = S.dense_fixed(m)
        J = S.dense_variable(I, (n, nj), p)
        K = S.sparse_variable(J, (n, nk), (q, qx))
        L = S.sparse_fixed(K, (n, 2), rx)
        A = S.match_sparse_buffer(a, (I, J, K, L), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        with S.iter([I, J, K, L], "SRRR", "csf") as [i, j, k, l]:
            with S.init():
                Y[i] = T.float32(0)
            Y[i] = T.max(Y[i], A[i, j, k, l])
        """,
    ),
    "axes that share a handle": program(
        "a b indptr indices m:int32 n:int32 k:int32 nnz:int32",
        """
        I = S.dense_fixed(m)
        H = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        K = S.sparse_variable(H, (n, nnz), (indptr, indices), sorted=False)
        L = S.dense_variable(I, (k, nnz), indptr)
        A = S.match_sparse_buffer(a, (I, J), "float32")
        B = S.match_sparse_buffer(b, (H, K), "float32")
        with S.iter([I, J], "SS", "first") as [i, j]:
            A[i, j] = T.float32(1)
        with S.iter([H, K], "SS", "second") as [h, k_]:
            B[h, k_] = T.float32(2)
        """,
    ),
    "an int64 axis under an int32 one": program(
        CSR,
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int64")
        D = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (D,), "float32")
        with S.iter([I, J], "RS", "columns") as [i, j]:
            with S.init():
                X[j] = T.float32(0)
            X[j] = X[j] + T.float32(1)
        """,
    ),
    "iterations in iterations": program(
        CSR.replace("indptr", "b indptr"),
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        A = S.match_sparse_buffer(a, (I, J), "float32")
        X = S.match_sparse_buffer(x, (I,), "float32")
        Y = S.match_sparse_buffer(y, (I,), "float32")
        B = S.match_sparse_buffer(b, (I, J), "float32")
        with S.iter([I], "S", "rows") as [i]:
            X[i] = T.float32(1)
            with S.iter([J], "R", "largest") as [j]:
                with S.init():
                    Y[i] = T.float32("-inf")
                Y[i] = T.max(Y[i], A[i, j])
            with S.iter([J], "S", "divide") as [j]:
                B[i, j] = A[i, j] / Y[i]
        """,
    ),
    "several starts and statements": program(
        CSR,
        """
        I = S.dense_fixed(m)
        J = S.sparse_variable(I, (n, nnz), (indptr, indices))
        A = S.match_sparse_buffer(a, (I, J), "int32")
        X = S.match_sparse_buffer(x, (I,), "int32")
        Y = S.match_sparse_buffer(y, (I,), "int32")
        with S.iter([I, J], "SR", "both") as [i, j]:
            with S.init():
                X[i] = 0
                Y[i] = 1
            X[i] = X[i] - A[i, j]
            Y[i] = Y[i] * A[i, j]
        """,
    ),
    "iterations without names": program(
        "x m:int32",
        "I = S.dense_fixed(m)\nX = S.match_sparse_buffer(x, (I,))\n" + COPY.replace(', "copy"', "") * 2,
    ),
    "a name with quotes and breaks": program(
        "x m:int32",
        "I = S.dense_fixed(m)\nX = S.match_sparse_buffer(x, (I,))\n"
        + COPY.replace("copy", "a \\\\\\\"b' \\\\n"),
    ),
    "an unused axis, buffer and handle": program(
        "x y z indptr m:int32 nnz:int32",
        """
        I = S.dense_fixed(m)
        J = S.dense_variable(I, (m, nnz), indptr)
        K = S.dense_fixed(4)
        X = S.match_sparse_buffer(x, (I,), "float32")
        Y = S.match_sparse_buffer(y, (I, J, K), "float32")
        """
        + textwrap.indent(COPY, "        "),
    ),
    "scalars of other dtypes": program(
        "x m:int64 alpha:float32 flag:bool k:uint8",
        """
        I = S.dense_fixed(m, "int64")
        X = S.match_sparse_buffer(x, (I,), "float32")
        with S.iter([I], "S", "scale") as [i]:
            X[i] = T.if_then_else(flag, alpha, T.cast(k, "float32"))
        """,
    ),
    "functions and casts in a body": program(
        "x m:int32",
        """
        I = S.dense_fixed(m)
        X = S.match_sparse_buffer(x, (I,), "float16")
        with S.iter([I], "S", "f") as [i]:
            X[i] = T.cast(T.exp(T.cast(X[i], "float32")) + T.float32(0.1), "float16") * T.float16("inf")
        """,
    ),
    "affine subscripts": program(
        "x y m:int32 n:int32",
        """
        I = S.dense_fixed(m)
        R = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (I,), "float32")
        Y = S.match_sparse_buffer(y, (R,), "float32")
        with S.iter([I], "S", "place") as [i]:
            Y[i * 2 + 1] = X[(i + 3) // 4] + X[i % 5 - 1]
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_printed_program_parses_to_an_equal_one(name: str) -> None:
    check_round_trip(st.from_source(PROGRAMS[name]))


FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int32", "int64", "bool"]
#: default -> the value that it must have, by the kind of dtype
DEFAULTS = [
    (text, dtype)
    for text in ("0", "1", "0.75", "-0.0", "True", "T.float32(1)")
    for dtype in FLOATS + INTEGERS
]
DEFAULTS += [
    (text, dtype) for text in ('float("nan")', '-float("inf")', 'T.float32("inf")') for dtype in FLOATS
]
DEFAULTS += [
    ("0.1", "float32"),
    ("1e-300", "float64"),
    ("2**40", "int64"),
    ("-128", "int8"),
    ("255", "uint8"),
]


@pytest.mark.parametrize(("default", "dtype"), DEFAULTS)
def test_a_default_keeps_its_value(default: str, dtype: str) -> None:
    buffer = f'X = S.match_sparse_buffer(x, (I,), "{dtype}", default={default})'
    body = f'I = S.dense_fixed(m)\n{buffer}\nwith S.iter([I], "S", "copy") as [i]:\n    X[i] = X[i]\n'
    func = st.from_source(program("x m:int32", body))
    check_round_trip(func)
    found = ir.iterations(func)[0].buffers[0].default_value
    assert str(found.ty.dtype) == dtype
    wanted = eval(default, {"T": T, "float": float})
    wanted = wanted.value if isinstance(wanted, tvm.ir.Expr) else wanted
    if dtype in INTEGERS:
        assert int(found.value) == int(wanted)
    else:
        assert (
            np.array(float(found.value), "float32").tobytes() == np.array(float(wanted), "float32").tobytes()
        )


#: Names that meet: (parameters, axis, buffer, iterator)
NAMES = [
    ("x m:int32", "x_", "X", "i"),
    ("p m:int32", "X", "XX", "i"),
    ("p m:int32", "I", "X", "I"),
    ("p m:int32", "I", "X", "X_"),
    ("p x:int32 X_handle:int32 m:int32", "I", "X", "i"),
    ("p m:int32", "T_", "S_", "m_"),
    ("handle m:int32", "axis", "buffer", "vi"),
    ("A m:int32", "I", "a", "i"),
    ("p I_1:int32 m:int32", "I", "X", "i"),
]


@pytest.mark.parametrize(("parameters", "axis", "buffer", "iterator"), NAMES)
def test_names_that_meet_are_kept_apart(parameters: str, axis: str, buffer: str, iterator: str) -> None:
    body = f"""
    {axis} = S.dense_fixed(m)
    {axis}2 = S.dense_fixed(m + 1)
    {buffer} = S.match_sparse_buffer({parameters.split()[0]}, ({axis}, {axis}2), "float32")
    with S.iter([{axis}, {axis}2], "SS", "{axis}") as [{iterator}, k]:
        {buffer}[{iterator}, k] = {buffer}[{iterator}, k] + T.float32(1)
    """
    check_round_trip(st.from_source(program(parameters, body)))


def test_buffers_that_differ_in_case_are_kept_apart() -> None:
    body = """
    I = S.dense_fixed(m)
    x = S.match_sparse_buffer(p, (I,), "float32")
    X = S.match_sparse_buffer(q, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        x[i] = X[i]
    """
    check_round_trip(st.from_source(program("p q m:int32", body)))


def test_buffers_may_be_declared_in_any_order() -> None:
    body = """
    I = S.dense_fixed(m)
    Y = S.match_sparse_buffer(y, (I,), "float32")
    X = S.match_sparse_buffer(x, (I,), "float32")
    with S.iter([I], "S", "copy") as [i]:
        Y[i] = X[i]
    """
    check_round_trip(st.from_source(program("x y m:int32", body)))


def test_a_later_stage_prints_as_tvm_prints_it() -> None:
    func = st.from_source(PROGRAMS["CSR"])
    for stage in ("position", "loop"):
        module = st.lower(func, stage)
        assert S.script(module) == module.script()
        assert tvm_ffi.structural_equal(tvm.script.from_source(S.script(module)), module)
