"""The position stage and plain loops: control flow, combine blocks, allocations, accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from interpreted import code_of, f32, i32
from tvm.script import tirx as T
from tvm.tirx import PrimFunc

from sparse_tir.interpret import interpret

NAN = np.nan


def position(func: PrimFunc) -> PrimFunc:
    """The function as one of the position stage."""
    return func.with_attr("sparse_tir.stage", "position")


def scatter(combiner: str) -> PrimFunc:
    @T.prim_func(s_tir=True)
    def main(
        Y: T.Buffer(("m",), "float32"),
        rows: T.Buffer(("nnz",), "int32"),
        A: T.Buffer(("nnz",), "float32"),
        m: T.int32,
        nnz: T.int32,
    ):
        for e in range(nnz):
            with T.sblock("scatter"):
                ve = T.axis.spatial(nnz, e)
                T.sblock_attr({"sparse_tir.combine": combiner})
                if rows[ve] < m:
                    Y[rows[ve]] = A[ve]

    return main


@pytest.mark.parametrize(
    ("combiner", "expected"), [("sum", [15, 9]), ("prod", [60, 20]), ("max", [10, 5]), ("min", [2, 4])]
)
def test_a_combine_block_accumulates_into_what_is_there(combiner: str, expected: list[float]) -> None:
    y = f32(10, 5)
    interpret(position(scatter(combiner)), y, i32(0, 1, 2, 0), f32(2, 4, 999, 3), 2, 4)
    assert y.tolist() == expected


@pytest.mark.parametrize("combiner", ["max", "min"])
@pytest.mark.parametrize("row", [[NAN, 1], [1, NAN]])
def test_combined_maxima_and_minima_propagate_nan(combiner: str, row: list[float]) -> None:
    y = f32(0)
    interpret(position(scatter(combiner)), y, i32(0, 0), f32(*row), 1, 2)
    assert np.isnan(y[0])


def test_a_combine_block_needs_the_position_stage() -> None:
    assert code_of(lambda: interpret(scatter("sum"), f32(0), i32(0), f32(1), 1, 1)) == "ST420"


def test_an_unknown_combiner_is_a_bug() -> None:
    call: Callable[[], Any] = lambda: interpret(position(scatter("mean")), f32(0), i32(0), f32(1), 1, 1)  # noqa: E731
    assert code_of(call) == "ST900"


@T.prim_func(s_tir=True)
def gather(
    Y: T.Buffer(("n",), "float32"),
    X: T.Buffer(("m", 2), "float32"),
    places: T.Buffer(("n",), "int32"),
    n: T.int32,
    m: T.int32,
):
    for i in range(n):
        Y[i] = X[places[i], 1]


@pytest.mark.parametrize("place", [-1, 3])
def test_an_access_outside_of_an_array_names_the_buffer_and_the_index(place: int) -> None:
    y, x = f32(7), np.zeros((3, 2), "float32")
    call: Callable[[], Any] = lambda: interpret(gather, y, x, i32(place), 1, 3)  # noqa: E731
    assert code_of(call) == "ST900"
    with pytest.raises(RuntimeError, match=rf"X\[{place}, 1\]"):
        call()
    assert y[0] == 7


def test_a_read_behind_a_false_guard_is_an_access_too_unless_it_is_a_branch() -> None:
    def guarded(lazy: bool) -> PrimFunc:
        if lazy:

            @T.prim_func(s_tir=True)
            def main(Y: T.Buffer((1,), "float32"), X: T.Buffer((2,), "int32"), i: T.int32):
                Y[0] = T.if_then_else(T.if_then_else(i < 2, X[i] == 0, False), T.float32(1), T.float32(2))
        else:

            @T.prim_func(s_tir=True)
            def main(Y: T.Buffer((1,), "float32"), X: T.Buffer((2,), "int32"), i: T.int32):
                Y[0] = T.if_then_else(i < 2 and X[i] == 0, T.float32(1), T.float32(2))

        return main

    y = f32(0)
    interpret(guarded(True), y, i32(0, 0), 5)
    assert y[0] == 2
    assert code_of(lambda: interpret(guarded(False), y, i32(0, 0), 5)) == "ST900"


@T.prim_func(s_tir=True)
def control(Y: T.Buffer((8,), "int32"), n: T.int32):
    count: T.int32 = 0
    while count < n:
        Y[count] = count * 10
        count = count + 1
    for i in T.unroll(4, 6):
        with T.sblock("set"):
            vi = T.axis.spatial(8, i)
            T.where(i < 5)
            if vi % 2 == 0:
                Y[vi] = -1
            else:
                Y[vi] = -2
    for i in T.thread_binding(2, thread="threadIdx.x"):
        Y[6 + i] = i + 100


def test_loops_branches_and_local_variables_run_in_order() -> None:
    y = np.full(8, 7, "int32")
    interpret(control, y, 2)
    assert y.tolist() == [0, 10, 7, 7, -1, 7, 100, 101]


@T.prim_func(s_tir=True)
def staged(Y: T.Buffer((3,), "float32"), X: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("row"):
            vi = T.axis.spatial(3, i)
            scratch = T.sblock_alloc_buffer((2,), "float32", scope="local")
            with T.sblock("fill"):
                if X[vi] > T.float32(0):
                    scratch[1] = X[vi]
            with T.sblock("copy"):
                Y[vi] = scratch[1]


def test_an_allocated_buffer_is_new_for_every_execution_of_its_block() -> None:
    y = f32(0, 0, 0)
    interpret(staged, y, f32(4, -1, 5))
    assert y[0] == 4
    assert np.isnan(y[1])  # not the 4 of the row before
    assert y[2] == 5


@T.prim_func(s_tir=True)
def domain(Y: T.Buffer((4,), "float32"), n: T.int32):
    for i in range(n):
        with T.sblock("set"):
            vi = T.axis.spatial(2, i)
            Y[vi] = T.float32(1)


def test_a_block_iterator_outside_of_its_domain_is_a_bug() -> None:
    y = f32(0, 0, 0, 0)
    interpret(domain, y, 2)
    assert y.tolist() == [1, 1, 0, 0]
    assert code_of(lambda: interpret(domain, y, 3)) == "ST900"


def test_value_arrays_of_a_lowered_function_may_be_flat() -> None:
    y = f32(0)
    interpret(gather, y, f32(1, 2, 3, 4), i32(1), 1, 2)
    assert y[0] == 4
    assert code_of(lambda: interpret(gather, y, f32(1, 2, 3), i32(1), 1, 2)) == "ST151"


def test_between_two_steps_of_lowering_callers_pass_the_declared_parameters() -> None:
    declared = tvm.tirx.decl_buffer((9,), "float32", name="A")
    pairs = [[declared, gather.params[1]]]
    params = [gather.params[0], declared, *gather.params[2:]]
    half_lowered = PrimFunc(params, gather.body, gather.ret_type, gather.attrs)
    half_lowered = half_lowered.with_attr({"sparse_tir.stage": "coordinate", "sparse_tir.storage": pairs})
    y = f32(0)
    interpret(half_lowered, y, A=f32(1, 2, 3, 4).reshape(2, 2), places=i32(1), n=1, m=2)
    assert y[0] == 4
