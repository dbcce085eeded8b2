"""ST42x: the wrong stage, programs that this lowering lacks, schedules that would compute something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from refusals import arguments, check_refusal, program, refusal
from test_law_errors import FOLD, START, nested, rows, vector
from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.tirx import PrimFunc

import sparse_tir as st
from sparse_tir import transform

ROW_SUMS = rows(START, "    Y[i] = 0.0", FOLD)
COLUMN_SUMS = rows(START, "    X[j] = 0.0", "X[j] = X[j] + A[i, j]", kinds="RS")


@T.prim_func
def plain(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(0)


def position(text: str) -> tvm.IRModule:
    return st.lower(st.from_source(text), "position")


def scheduled(text: str, steps: Callable[[Schedule], Any]) -> tvm.IRModule:
    """The loops of a scheduled program. Without TVM's own checks, which may be turned off."""
    schedule = Schedule(position(text), debug_mask="none")
    steps(schedule)
    return st.lower(schedule.mod, "loop")


#: name -> (what the message mentions, call)
WRONG_STAGE: dict[str, tuple[list[str], Callable[[], Any]]] = {
    "an unknown stage": (["st.lower: stage", "'bogus'"], lambda: st.lower(plain, "bogus")),
    "the first stage": (["st.lower: stage", "'coordinate'"], lambda: st.lower(plain, "coordinate")),
    "backwards": (
        ["st.lower", "'loop'", "a stage before 'position'"],
        lambda: st.lower(st.lower(st.from_source(ROW_SUMS)), "position"),
    ),
    "functions at two stages": (
        ["'coordinate', 'loop'"],
        lambda: st.lower(tvm.IRModule({"one": st.from_source(ROW_SUMS), "two": plain})),
    ),
    "a module without functions": (["functions at one stage"], lambda: st.lower(tvm.IRModule({}))),
    "a lowered function to the verifier": (
        ["verify", 'stage "position"'],
        lambda: st.verify(position(ROW_SUMS)["main"]),
    ),
    "a plain function to the verifier": (["verify", "without a stage"], lambda: st.verify(plain)),
    "LowerSparseIter twice": (
        ["LowerSparseIter", 'stage "position"', 'stage "coordinate"'],
        lambda: transform.LowerSparseIter()(position(ROW_SUMS)),
    ),
    "LowerSparseBuffer first": (
        ["LowerSparseBuffer", "sparse iterations"],
        lambda: transform.LowerSparseBuffer()(tvm.IRModule({"main": st.from_source(ROW_SUMS)})),
    ),
    "PlaceInit first": (
        ["PlaceInit", 'stage "coordinate"'],
        lambda: transform.PlaceInit()(tvm.IRModule({"main": st.from_source(ROW_SUMS)})),
    ),
    "ExpandCombine on loops": (
        ["ExpandCombine", "loops (no stage)"],
        lambda: transform.ExpandCombine()(tvm.IRModule({"main": plain})),
    ),
    "LegalizeArithmetic before loops": (
        ["LegalizeArithmetic", 'stage "position"'],
        lambda: transform.LegalizeArithmetic()(position(ROW_SUMS)),
    ),
    "an interpreter of several functions": (
        ["interpret", "IRModule"],
        lambda: st.interpret(tvm.IRModule({"one": plain, "two": plain})),
    ),
}


@pytest.mark.parametrize("name", WRONG_STAGE)
def test_a_function_of_the_wrong_stage_is_refused(name: str) -> None:
    mentions, call = WRONG_STAGE[name]
    check_refusal(refusal(call), "ST420", *mentions)


#: name -> (what the message mentions, program, outputs that the interpreter gives)
NOT_LOWERED: dict[str, tuple[list[str], str, dict[str, Any], str]] = {
    "a fold in half precision": (
        ["rows", "a fold into Y of a narrow dtype"],
        rows(FOLD, dtype="float16"),
        {"Y": [10, 7, 14]},
        "float16",
    ),
    "a fold in 16 bits": (
        ["rows", "a fold into Y of a narrow dtype"],
        rows(FOLD, dtype="int16"),
        {"Y": [10, 7, 14]},
        "int16",
    ),
    "a start around other iterations": (
        ["outer", "an init in an iteration that holds other iterations"],
        nested("S", "R W[i] = W[i] + A[i, j]").replace(
            '    with S.iter([J], "R"',
            "    with S.init():\n            Y[i] = 1.0\n        Y[i] = Y[i] * 2.0\n        "
            'with S.iter([J], "R"',
        ),
        {"Y": [2, 2, 2], "W": [8, 6, 14]},
        "float32",
    ),
    "a search in a start": (
        ["rows", "A[i, 0] searches axis `J` in a start value"],
        rows(START, "    Y[i] = A[i, 0]", FOLD),
        {"Y": [4, 0, 7]},
        "float32",
    ),
}


@pytest.mark.parametrize("name", NOT_LOWERED)
def test_a_program_that_cannot_be_lowered_is_refused_and_interpreted(name: str) -> None:
    mentions, text, expected, dtype = NOT_LOWERED[name]
    func = st.from_source(text)
    for call in (lambda: st.lower(func, "position"), lambda: st.lower(func), lambda: st.compile(func)):
        error = refusal(call)
        check_refusal(error, "ST421", *mentions)
        assert "\n  at:       <str>:" in str(error)
    call = arguments(dtype)
    st.interpret(func, **call)
    for output, numbers in expected.items():
        assert call[output].tolist() == numbers


def parallel_rows(schedule: Schedule) -> None:
    schedule.parallel(schedule.get_loops(schedule.get_sblock("rows_I"))[0])


def parallel_entries(schedule: Schedule) -> None:
    schedule.parallel(schedule.get_loops(schedule.get_sblock("rows"))[0])


def cache(schedule: Schedule) -> None:
    schedule.cache_write(schedule.get_sblock("rows"), 0, "local")


#: name -> (code, what the message mentions, program, schedule)
UNSOUND: dict[str, tuple[str, list[str], str, Callable[[Schedule], Any]]] = {
    "a cache around a scatter": (
        "ST422",
        ["block `rows`", "accumulation into the cache"],
        COLUMN_SUMS,
        cache,
    ),
    "parallel rows of a scatter": (
        "ST423",
        ["block `rows`", "parallel loop `i`", "one element of X"],
        COLUMN_SUMS,
        parallel_rows,
    ),
    "parallel entries of a scatter": (
        "ST423",
        ["block `rows`", "parallel loop `j`", "one element of X"],
        COLUMN_SUMS,
        parallel_entries,
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_a_schedule_that_would_compute_something_else_is_refused(name: str) -> None:
    code, mentions, text, steps = UNSOUND[name]
    check_refusal(refusal(lambda: scheduled(text, steps)), code, *mentions)


@pytest.mark.parametrize("steps", [parallel_rows, cache])
def test_the_same_schedules_apply_to_row_sums(steps: Callable[[Schedule], Any]) -> None:
    call = arguments()
    st.interpret(scheduled(ROW_SUMS, steps), **call)
    assert call["Y"].tolist() == [3, 0, 7]


def test_columns_that_are_known_to_differ_may_run_at_once() -> None:
    """The same scatter, with the promise that an array is injective."""
    text = program(
        'with S.iter([E], "R", "scatter") as [e]:\n    Y[e] = Y[e] + V[e]\n',
        more='E = S.sparse_fixed(None, (m, 2), rows)\nV = S.match_sparse_buffer(v, (E,), "float32")\n',
        handles="rows v",
    )

    def run(schedule: Schedule, owned: list[str]) -> None:
        block = schedule.get_sblock("scatter")
        if owned:
            schedule.annotate(block, "sparse_tir.owned", owned)
        schedule.parallel(schedule.get_loops(block)[0])

    for owned in ([], ["indices"]):
        error = refusal(lambda owned=owned: scheduled(text, lambda schedule: run(schedule, owned)))
        check_refusal(error, "ST423", "block `scatter`", "Y")
    call = arguments(rows=np.array([0, 2], "int32"), V=np.array([1, 2], "float32"))
    st.interpret(scheduled(text, lambda schedule: run(schedule, ["rows"])), **call)
    assert call["Y"].tolist() == [8, 7, 9]


def test_a_store_that_an_outer_reduction_repeats_is_refused() -> None:
    @T.prim_func(s_tir=True)
    def repeated(A: T.Buffer((4, 4), "float32"), Y: T.Buffer((4,), "float32")):
        T.func_attr({"sparse_tir.stage": "position"})
        for i in range(4):
            with T.sblock("outer"):
                vi = T.axis.reduce(4, i)
                for k in range(4):
                    with T.sblock("store"):
                        vk = T.axis.spatial(4, k)
                        Y[vk] = A[vi, vk]

    error = refusal(lambda: st.lower(repeated))
    check_refusal(error, "ST422", "block `store`", "a store into Y at every step of an outer reduction")


def test_an_init_that_would_depend_on_the_reduction_is_refused() -> None:
    @T.prim_func(s_tir=True)
    def dependent(indptr: T.Buffer((5,), "int32"), Y: T.Buffer((16,), "float32")):
        T.func_attr({"sparse_tir.stage": "position"})
        for j in range(4):
            for k in range(indptr[j]):
                with T.sblock("dependent"):
                    vj = T.axis.reduce(4, j)
                    vk = T.axis.spatial(16, k)
                    with T.init():
                        Y[vk] = T.float32(0)
                    Y[vk] = Y[vk] + T.cast(vj, "float32")

    error = refusal(lambda: st.lower(dependent))
    check_refusal(error, "ST422", "PlaceInit: block `dependent`", "extent of loop `k`")


def test_a_law_is_checked_again_before_lowering() -> None:
    """A function that no parser of ours has seen, such as one that a user's pass has rewritten."""
    func = st.from_source(vector("Y[i] = W[i]"))
    body = func.body.block.body
    block = body.block
    store = block.body
    moved = type(store)(store.buffer, store.value, [store.indices[0] // 2])
    fields = [
        "iter_vars",
        "reads",
        "writes",
        "name_hint",
        "body",
        "init",
        "alloc_buffers",
        "match_buffers",
        "annotations",
    ]
    values = {field: getattr(block, field) for field in fields} | {"body": moved}
    realize = type(body)(body.iter_values, body.predicate, type(block)(*values.values()))
    broken = PrimFunc(func.params, realize, func.ret_type, func.attrs)
    for call in (lambda: st.verify(broken), lambda: st.lower(broken), lambda: st.compile(broken)):
        check_refusal(refusal(call), "ST408", "vec", "Y[i // 2]")
