"""Where scripts may stand, what they may use, and what printed ones look like."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm.script import ir as I
from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import errors, ir
from sparse_tir import script as S

SCALE = 3.0


@S.prim_func
def at_module_level(x: T.handle, m: T.int32):
    A = S.dense_fixed(m)
    X = S.match_sparse_buffer(x, (A,), "float32")
    with S.iter([A], "S", "scale") as [i]:
        X[i] = X[i] * T.float32(SCALE)


@I.ir_module
class Module:
    @S.prim_func
    def first(x: T.handle, m: T.int32):  # noqa: N805
        A = S.dense_fixed(m)
        X = S.match_sparse_buffer(x, (A,), "float32")
        with S.iter([A], "S", "one") as [i]:
            X[i] = T.float32(1)

    @S.prim_func
    def second(x: T.handle, m: T.int32):  # noqa: N805
        A = S.dense_fixed(m)
        X = S.match_sparse_buffer(x, (A,), "float32")
        with S.iter([A], "S", "two") as [i]:
            X[i] = X[i] + T.float32(2)

    @T.prim_func
    def plain(x: T.Buffer((4,), "float32")):  # noqa: N805
        x[0] = T.float32(0)


class Holder:
    factor = 5

    @S.prim_func
    def member(x: T.handle, m: T.int32):  # noqa: N805
        A = S.dense_fixed(m)
        X = S.match_sparse_buffer(x, (A,), "float32")
        with S.iter([A], "S", "fill") as [i]:
            X[i] = T.float32(5)

    def make(self) -> tvm.tirx.PrimFunc:
        factor = self.factor

        @S.prim_func
        def made(x: T.handle, m: T.int32):
            A = S.dense_fixed(m)
            X = S.match_sparse_buffer(x, (A,), "float32")
            with S.iter([A], "S", "fill") as [i]:
                X[i] = T.float32(factor)

        return made


def run(func: Any, *numbers: float) -> list[float]:
    x = np.array(numbers, "float32")
    st.interpret(func, x, len(numbers))
    return x.tolist()


def copy_text(head: str = "", iterator: str = "i", construct: str = "S.iter") -> str:
    return textwrap.dedent(f"""
        @S.prim_func
        def copy(x: T.handle, m: T.int32):
            {head or "pass"}
            A = S.dense_fixed(m)
            X = S.match_sparse_buffer(x, (A,), "float32")
            with {construct}([A], "S", "double") as [{iterator}]:
                X[{iterator}] = X[{iterator}] * T.float32(2)
        """).replace("    pass\n", "")


def test_a_function_at_module_level_sees_its_globals() -> None:
    assert isinstance(at_module_level, tvm.tirx.PrimFunc)
    assert run(at_module_level, 1, 2) == [3, 6]


def test_a_closure_sees_local_names_functions_and_axes_of_python() -> None:
    def build(width: int, dtype: str, axes: str) -> tvm.tirx.PrimFunc:
        def twice(value: Any) -> Any:
            return value * 2

        @S.prim_func
        def closure(x: T.handle, m: T.int64):
            A = S.dense_fixed(m, "int64")
            B = S.dense_fixed(width)
            X = S.match_sparse_buffer(x, (A, B), dtype, default=width)
            with S.iter([A, B], "S" * len(axes), "name_" + axes) as [a, b]:
                X[a, b] = twice(X[a, b]) + T.cast(width, dtype)

        return closure

    func = build(3, "float64", "ab")
    x = np.arange(6.0).reshape(2, 3)
    st.interpret(func, x, 2)
    assert x.tolist() == [[3, 5, 7], [9, 11, 13]]
    assert ir.iterations(func)[0].name == "name_ab"
    assert not tvm_ffi.structural_equal(func, build(4, "float64", "ab"))


def test_a_member_of_a_class_and_a_function_in_a_method_are_functions() -> None:
    assert isinstance(Holder.member, tvm.tirx.PrimFunc)
    assert run(Holder.member, 0) == [5]
    assert run(Holder().make(), 0) == [5]


def test_a_module_holds_functions_of_both_dialects() -> None:
    assert sorted(var.name_hint for var in Module.functions) == ["first", "plain", "second"]
    text = S.script(Module)
    assert text.count("@S.prim_func") == 2
    assert text.count("@T.prim_func") == 1
    again = st.from_source(text)
    tvm.ir.assert_structural_equal(again, Module)
    assert S.script(again) == text
    assert run(again["second"], 1) == [3]


@pytest.mark.xfail(strict=True, reason="members of @I.ir_module are verified when they are lowered")
def test_a_law_is_checked_in_a_module_too() -> None:
    with pytest.raises(errors.LegalityError):

        @I.ir_module
        class Wrong:
            @S.prim_func
            def scan(x: T.handle, m: T.int32):  # noqa: N805
                A = S.dense_fixed(m)
                X = S.match_sparse_buffer(x, (A,), "float32")
                with S.iter([A], "S", "scan") as [i]:
                    X[i] = X[i - 1]


def test_text_needs_no_imports() -> None:
    func = st.from_source(copy_text())
    assert run(func, 1, 4) == [2, 8]
    assert st.from_source is S.from_source


def test_text_of_plain_tvm_parses_too() -> None:
    text = '@T.prim_func\ndef plain(x: T.Buffer((4,), "float32")):\n    x[0] = T.float32(1)\n'
    assert tvm_ffi.structural_equal(st.from_source(text), tvm.script.from_source(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def def",
        "x = 1",
        "def f(x: T.handle):\n    pass\n",
    ],
)
def test_what_is_no_function_is_refused(text: str) -> None:
    with pytest.raises(errors.ScriptError):
        st.from_source(text)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_level_of_older_scripts_is_ignored(level: int) -> None:
    attributes = f'T.func_attr({{"sparse_tir_level": {level}, "other": 7}})'
    func = st.from_source(copy_text(attributes))
    assert "sparse_tir_level" not in func.attrs
    assert func.attrs["other"] == 7
    assert run(func, 1, 4) == [2, 8]
    only = st.from_source(copy_text(f'T.func_attr({{"sparse_tir_level": {level}}})'))
    assert tvm_ffi.structural_equal(only, st.from_source(copy_text()))


def test_both_names_of_an_iteration_mean_it() -> None:
    older = st.from_source(copy_text(construct="S.sp_iter"))
    assert tvm_ffi.structural_equal(older, st.from_source(copy_text()))


@pytest.mark.parametrize("iterator", ["A", "m", "x", "S", "T"])
def test_an_iterator_may_shadow_any_name(iterator: str) -> None:
    if iterator in ("S", "T"):
        text = copy_text(iterator=iterator).replace("X[S] * T.float32(2)", "X[S] + X[S]")
        text = text.replace("X[T] * T.float32(2)", "X[T] + X[T]")
    else:
        text = copy_text(iterator=iterator)
    func = st.from_source(text)
    assert run(func, 1, 4) == [2, 8]
    tvm.ir.assert_structural_equal(st.from_source(S.script(func)), func)


def test_a_shadowed_axis_is_back_after_the_iteration() -> None:
    func = st.from_source(
        copy_text(iterator="A") + '    with S.iter([A], "S", "later") as [i]:\n        X[i] = X[i] + X[i]\n'
    )
    assert run(func, 1, 4) == [4, 16]


def test_names_of_axes_come_from_their_assignment() -> None:
    func = st.from_source(copy_text())
    assert ir.iterations(func)[0].iterators[0].axis.name == "A"


def test_iterations_without_a_name_are_numbered() -> None:
    func = st.from_source(
        copy_text().replace(', "double"', "") + '    with S.iter([A], "S") as [i]:\n        X[i] = X[i]\n'
    )
    assert [it.name for it in ir.iterations(func)] == ["iteration_1", "iteration_2"]


GOLDEN_SPMM = """\
# from sparse_tir import script as S
# from tvm.script import tirx as T

@S.prim_func
def spmm(a: T.handle, b: T.handle, c: T.handle, indptr: T.Buffer(('m + T.int64(1)',), 'int32'), \
indices: T.Buffer(('nnz',), 'int32'), m: T.int64, n: T.int64, nnz: T.int64):
    I = S.dense_fixed(m, 'int64')
    J = S.sparse_variable(I, (n, nnz), (indptr, indices), 'int32', sorted=False, unique=False)
    J_dense = S.dense_fixed(n, 'int64')
    K = S.dense_fixed(T.int64(4), 'int64')
    A = S.match_sparse_buffer(a, (I, J), 'float32')
    B = S.match_sparse_buffer(b, (J_dense, K), 'float32')
    C = S.match_sparse_buffer(c, (I, K), 'float32')
    with S.iter([I, J, K], 'SRS', 'spmm') as [i, j, k]:
        with S.init():
            C[i, k] = T.float32(0.0)
        C[i, k] = C[i, k] + A[i, j] * B[j, k]
"""
GOLDEN_OTHERS = """\
# from sparse_tir import script as S
# from tvm.script import tirx as T

@S.prim_func
def others(x: T.handle, p: T.Buffer(('m + 1',), 'int64'), q: T.Buffer((12,), 'int32'), \
m: T.int32, n: T.int32):
    I = S.dense_fixed(m, 'int32')
    L = S.dense_variable(I, (n, T.int64(7)), p, 'int64')
    O = S.sparse_fixed(None, (n, 12), q, 'int32', unique=False)
    X = S.match_sparse_buffer(x, (I, L, O), 'float16', default=T.float16('nan'))
    with S.iter([I, L, O], 'SSS', 'fill') as [i, l, o]:
        X[i, l, o] = T.float16(1.0)
"""


def test_a_printed_operator_reads_like_the_one_that_was_written() -> None:
    from sparse_tir.ops import spmm

    assert S.script(spmm.program(4)) == GOLDEN_SPMM


def test_other_axes_print_all_that_is_not_a_default() -> None:
    func = st.from_source("""
@S.prim_func
def others(x: T.handle, p: T.handle, q: T.handle, m: T.int32, n: T.int32):
    I = S.dense_fixed(m)
    L = S.dense_variable(I, (n, T.int64(7)), p, "int64")
    O = S.sparse_fixed(None, (n, 12), q, unique=False)
    X = S.match_sparse_buffer(x, (I, L, O), "float16", default=T.float32("nan"))
    with S.iter([I, L, O], "SSS", "fill") as [i, l, o]:
        X[i, l, o] = T.float16(1)
""")
    assert S.script(func) == GOLDEN_OTHERS
    assert S.script(st.from_source(GOLDEN_OTHERS)) == GOLDEN_OTHERS
