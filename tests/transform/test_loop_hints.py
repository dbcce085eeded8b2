"""Annotations that loops carry: prefetch, masked unrolling, streaming stores; versions of one function."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import tirx
from tvm.script import tirx as T
from tvm.tirx import For, PrimFunc
from tvm_ffi import structural_equal, structural_map, structural_walk

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops import spmm
from sparse_tir.ops.spmm_schedule import Decisions, schedule
from sparse_tir.runtime import aligned_empty
from sparse_tir.transform.masked_unroll import MASKED_UNROLL, unroll_masked
from sparse_tir.transform.prefetch import LINES, PREFETCH, insert_prefetch
from sparse_tir.transform.streaming import STREAMING, stream_stores
from sparse_tir.transform.versions import choose_version


@T.prim_func(s_tir=True)
def gather(a: T.handle, b: T.handle, c: T.handle, n: T.int64):
    T.func_attr({"tirx.noalias": True})
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (100, 40), "float32")
    C = T.match_buffer(c, (40,), "float32")
    for j in range(n):
        for k in T.unroll(40):
            C[k] = C[k] + B[A[j], k]


def annotated(func: PrimFunc, loop: str, **annotations: int) -> PrimFunc:
    """The function with annotations ``sparse_tir.*`` at the loop of that name."""

    def mark(node: For) -> For:
        if node.loop_var.name != loop:
            return node
        notes = {f"sparse_tir.{key}": value for key, value in annotations.items()}
        return For(
            node.loop_var, node.min, node.extent, node.kind, node.body, None, notes, node.step, node.span
        )

    return func.with_body(structural_map(func.body, (For, mark)))


def run(func: PrimFunc, *arguments: object) -> None:
    tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), target="llvm")["main"](
        *arguments
    )


def test_the_annotations_are_named_as_the_tests_name_them() -> None:
    names = (PREFETCH, LINES, MASKED_UNROLL, STREAMING)
    assert names == tuple(
        f"sparse_tir.{name}" for name in ("prefetch", "prefetch_lines", "masked_unroll", "streaming")
    )


def test_a_prefetch_reads_a_later_index_within_the_array() -> None:
    text = insert_prefetch(annotated(gather, "j", prefetch=16)).script()
    (line,) = [line for line in text.splitlines() if "T.prefetch" in line]
    assert "B[A[T.max(T.min(j + T.int64(16), " in line
    assert "- T.int64(1)), T.int64(0))], 0]" in line
    assert PREFETCH not in text


@pytest.mark.parametrize(("lines", "columns"), [(1, [0]), (2, [0, 16]), (8, [0, 16, 32])])
def test_lines_are_fetched_up_to_the_end_of_a_row(lines: int, columns: list[int]) -> None:
    text = insert_prefetch(annotated(gather, "j", prefetch=4, prefetch_lines=lines)).script()
    fetched = [line for line in text.splitlines() if "T.prefetch" in line]
    assert [int(line.rsplit("]), 0, 3, 1)")[0].rsplit(", ", 1)[1]) for line in fetched] == columns


def test_without_distance_nothing_is_fetched() -> None:
    text = insert_prefetch(annotated(gather, "j", prefetch=0, prefetch_lines=4)).script()
    assert "prefetch" not in text


@pytest.mark.parametrize("name", ["insert_prefetch", "unroll_masked", "stream_stores"])
def test_a_function_without_annotations_is_unchanged(name: str) -> None:
    transform = {
        "insert_prefetch": insert_prefetch,
        "unroll_masked": unroll_masked,
        "stream_stores": stream_stores,
    }
    func = st.lower(spmm.program(8), "loop")["main"]
    assert structural_equal(transform[name](func), func)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8])
def test_masked_unrolling_changes_no_result(count: int, n: int) -> None:
    random = np.random.default_rng(n)
    A, B = aligned_empty((n,), "int32"), random.random((100, 40), np.float32)
    A[:] = random.integers(0, 100, n)
    C = np.ones(40, np.float32)
    func = insert_prefetch(annotated(gather, "j", masked_unroll=count, prefetch=2))
    run(unroll_masked(func), A, B, C, n)
    expected = np.ones(40, np.float32)
    for j in A:
        expected += B[j]
    np.testing.assert_array_equal(C, expected)


def test_masked_unrolling_binds_no_variable_twice() -> None:
    func = unroll_masked(annotated(gather, "j", masked_unroll=3))
    bound: list[For] = []
    structural_walk(func.body, (For, bound.append))
    assert len(bound) == 4
    assert all(not a.loop_var.same_as(b.loop_var) for i, a in enumerate(bound) for b in bound[:i])


@pytest.mark.parametrize(("loop", "found"), [("k", "unrolled"), ("j", "call_extern")])
def test_loops_that_cannot_be_masked_are_refused(loop: str, found: str) -> None:
    @T.prim_func(s_tir=True)
    def effects(c: T.handle, n: T.int64):
        C = T.match_buffer(c, (n,), "float32")
        for j in range(n):
            T.evaluate(T.call_extern("void", "effect", C[j]))

    func = gather if loop == "k" else effects
    with pytest.raises(errors.LegalityError, match=found) as refused:
        unroll_masked(annotated(func, loop, masked_unroll=2))
    assert refused.value.code == "ST421"


def test_a_streamed_loop_that_is_no_copy_is_refused() -> None:
    @T.prim_func(s_tir=True)
    def double(a: T.handle, c: T.handle):
        A = T.match_buffer(a, (16,), "float32")
        C = T.match_buffer(c, (16,), "float32")
        for k in T.vectorized(16):
            C[k] = A[k] + A[k]

    with pytest.raises(errors.LegalityError, match="a vectorised loop of one copy") as refused:
        stream_stores(annotated(double, "k", streaming=1))
    assert refused.value.code == "ST421"


@pytest.mark.parametrize("is_parallel", [True, False])
def test_every_thread_ends_with_a_fence(is_parallel: bool) -> None:
    module = st.lower(spmm.program(16), "position")
    sch = tvm.s_tir.Schedule(module)
    schedule(sch, Decisions((1, 1, 16), streaming=1))
    if not is_parallel:
        for loop in sch.get_loops(sch.get_sblock("spmm_I"))[:1]:
            sch.unannotate(loop, "pragma_parallel_launch_point")
    lines = st.lower(sch.mod)["main"].script().splitlines()
    (fence,) = [line for line in lines if "stream_fence" in line]
    (parallel,) = [line for line in lines if "T.parallel(" in line]
    indent = [len(line) - len(line.lstrip()) for line in (fence, parallel)]
    # Beside the parallel loop inside of the launch: once for each thread. Without a launch: once for each iteration.
    assert indent[0] == indent[1] + (0 if is_parallel else 4)


def test_a_call_runs_the_version_that_fits() -> None:
    @T.prim_func(s_tir=True)
    def one(c: T.handle, n: T.int64):
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            C[i] = T.float32(1)

    @T.prim_func(s_tir=True)
    def two(c: T.handle, n: T.int64):
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            C[i] = T.float32(2)

    func = choose_version(one, two, lambda f: f.params[1] < tirx.const(3, "int64"))
    for n, expected in ((2, 1), (3, 2)):
        C = np.zeros(n, np.float32)
        run(func, C, n)
        assert C.tolist() == [expected] * n
    with pytest.raises(errors.InternalError, match="versions of one function"):
        choose_version(one, gather, lambda f: f.params[1] < tirx.const(3, "int64"))


@pytest.mark.parametrize(
    ("target", "source"),
    [((0, "2 * k"), (0, "k")), ((0, "k"), (0, "15 - k")), ((0, "k"), (0, "3")), (("k", "0"), (0, "k"))],
)
def test_a_streamed_copy_of_other_than_consecutive_elements_is_refused(target, source) -> None:
    text = f"""
@T.prim_func(s_tir=True)
def copy(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 32), "float32")
    C = T.match_buffer(c, (16, 32), "float32")
    for k in T.vectorized(16):
        C[{target[0]}, {target[1]}] = A[{source[0]}, {source[1]}]
"""
    func = tvm.script.from_source(text, {"T": T})
    with pytest.raises(errors.LegalityError, match="consecutive elements of one row") as refused:
        stream_stores(annotated(func, "k", streaming=1))
    assert refused.value.code == "ST421"


def test_a_streamed_tile_that_sticks_out_of_the_row_is_refused() -> None:
    sch = tvm.s_tir.Schedule(st.lower(spmm.program(40), "position"))
    schedule(sch, Decisions((1, 3, 16), streaming=1))
    with pytest.raises(errors.LegalityError, match="without a guard") as refused:
        st.lower(sch.mod)
    assert refused.value.code == "ST421"


@pytest.mark.parametrize("lanes", [1, 3, 6, 12])
def test_tiles_that_are_no_vector_are_stored_as_usual(lanes: int) -> None:
    sch = tvm.s_tir.Schedule(st.lower(spmm.program(24), "position"))
    schedule(sch, Decisions((1, 24 // lanes, lanes), streaming=1))
    text = st.lower(sch.mod).script()
    assert "sparse_tir_stream" not in text
    assert STREAMING not in text


@pytest.mark.parametrize("hints", [{"prefetch": -5}, {"prefetch": 4, "prefetch_lines": 0}], ids=str)
def test_a_prefetch_backwards_or_of_nothing_is_refused(hints: dict[str, int]) -> None:
    with pytest.raises(errors.LegalityError, match="from 0 and from 1 on") as refused:
        insert_prefetch(annotated(gather, "j", **hints))
    assert refused.value.code == "ST421"


def test_a_prefetch_of_a_walk_backwards_stays_within_the_array() -> None:
    @T.prim_func(s_tir=True)
    def backwards(a: T.handle, b: T.handle, c: T.handle, n: T.int64):
        A = T.match_buffer(a, (n,), "int32")
        B = T.match_buffer(b, (100, 40), "float32")
        C = T.match_buffer(c, (1,), "float32")
        for j in range(n):
            C[0] = C[0] + B[A[n - 1 - j], 0]

    text = insert_prefetch(annotated(backwards, "j", prefetch=16)).script()
    (line,) = [line for line in text.splitlines() if "T.prefetch" in line]
    assert "T.max(T.min(" in line
