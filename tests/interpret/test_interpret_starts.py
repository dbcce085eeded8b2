"""Where an init is executed at the position stage: once per iteration, before its loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import tvm
from interpreted import code_of, f32, i32
from numpy.typing import NDArray
from tvm.s_tir import Schedule
from tvm.script import tirx as T
from tvm.tirx import PrimFunc

from sparse_tir.interpret import interpret

NAN = np.nan


def position(func: PrimFunc) -> PrimFunc:
    """The function as one of the position stage."""
    return func.with_attr("sparse_tir.stage", "position")


@T.prim_func(s_tir=True)
def csr_spmm(
    A: T.Buffer(("nnz",), "float32"),
    B: T.Buffer(("n", 4), "float32"),
    C: T.Buffer(("m", 4), "float32"),
    indptr: T.Buffer(("m + 1",), "int32"),
    indices: T.Buffer(("nnz",), "int32"),
    m: T.int32,
    n: T.int32,
    nnz: T.int32,
):
    for i in range(T.Cast("int64", m)):
        with T.sblock("row"):
            vi = T.axis.spatial(T.Cast("int64", m), i)
            for j, k in T.grid(T.Cast("int64", indptr[vi + 1]) - T.Cast("int64", indptr[vi]), 4):
                with T.sblock("update"):
                    vj = T.axis.reduce(T.Cast("int64", nnz), j)
                    vk = T.axis.spatial(4, k)
                    with T.init():
                        C[vi, vk] = T.float32(0)
                    C[vi, vk] = (
                        C[vi, vk]
                        + A[T.Cast("int64", indptr[vi]) + vj]
                        * B[T.Cast("int64", indices[T.Cast("int64", indptr[vi]) + vj]), vk]
                    )


def check_csr(func: PrimFunc) -> None:
    """3 x 3: an empty first row, a row of three entries, a row of one; a dead head of one."""
    indptr, indices, a = i32(1, 1, 4, 5), i32(-9, 0, 1, 2, 1), f32(NAN, 1, 2, 3, 4)
    b, c = np.arange(12, dtype="float32").reshape(3, 4), np.full((3, 4), NAN, "float32")
    interpret(func, a, b, c, indptr, indices, 3, 3, 5)
    dense = sp.csr_array((a[1:], indices[1:], indptr - 1), shape=(3, 3)).toarray()
    np.testing.assert_array_equal(c, dense @ b)


def _split_the_features(s: Schedule) -> None:
    j, k = s.get_loops(s.get_sblock("update"))
    outer, inner = s.split(k, [None, 3])  # with a predicate
    s.reorder(outer, j, inner)
    s.vectorize(inner)


def _reduction_innermost(s: Schedule) -> None:
    j, k = s.get_loops(s.get_sblock("update"))
    s.reorder(k, j)
    s.parallel(s.get_loops(s.get_sblock("row"))[0])


def _split_the_reduction(s: Schedule) -> None:
    j, _ = s.get_loops(s.get_sblock("update"))
    s.split(j, [None, 2])


def _fuse_both(s: Schedule) -> None:
    s.fuse(*s.get_loops(s.get_sblock("update")))


def _fuse_and_split(s: Schedule) -> None:
    j, k = s.get_loops(s.get_sblock("update"))
    outer, inner = s.split(k, [2, 2])
    s.reorder(outer, j, inner)
    s.fuse(j, inner)


def _cache_a_tile_of_the_output(s: Schedule) -> None:
    block = s.get_sblock("update")
    j, k = s.get_loops(block)
    outer, inner = s.split(k, [2, 2])
    s.reorder(outer, j, inner)
    s.reverse_compute_at(s.cache_write(block, 0, "local"), outer)


SCHEDULES = [
    _split_the_features,
    _reduction_innermost,
    _split_the_reduction,
    _fuse_both,
    _fuse_and_split,
    _cache_a_tile_of_the_output,
]


def test_every_row_starts_once_before_its_loops() -> None:
    check_csr(position(csr_spmm))


@pytest.mark.parametrize("apply", SCHEDULES)
def test_an_init_keeps_its_meaning_under_a_schedule(apply: Callable[[Schedule], None]) -> None:
    fresh = tvm.ir.load_json(
        tvm.ir.save_json(position(csr_spmm))
    )  # a schedule alters the function it is given
    schedule = Schedule(tvm.IRModule({"main": fresh}))
    apply(schedule)
    check_csr(schedule.mod["main"])


def test_without_a_stage_an_init_has_the_meaning_of_tvm() -> None:
    c = np.full((2, 4), NAN, "float32")
    b = np.ones((1, 4), "float32")
    interpret(csr_spmm, f32(2, 3), b, c, i32(0, 0, 2), i32(0, 0), 2, 1, 2)
    assert np.isnan(c[0]).all()  # an empty row never reaches its init
    assert c[1].tolist() == [5, 5, 5, 5]


@T.prim_func(s_tir=True)
def bsr(
    A: T.Buffer(("nnz", 2, 2), "float32"),
    B: T.Buffer(("n", 2), "float32"),
    C: T.Buffer(("m", 2), "float32"),
    indptr: T.Buffer(("m + 1",), "int32"),
    indices: T.Buffer(("nnz",), "int32"),
    m: T.int32,
    n: T.int32,
    nnz: T.int32,
):
    for i, p, q in T.grid(
        m, 2, 2
    ):  # the order I, P, Q (reduction), J: zeroing above j alone would be once per q
        with T.sblock("row"):
            vi, vp, vq = T.axis.remap("SSR", [i, p, q])
            for j in range(indptr[vi + 1] - indptr[vi]):
                with T.sblock("update"):
                    vj = T.axis.reduce(nnz, j)
                    with T.init():
                        C[vi, vp] = T.float32(0)
                    C[vi, vp] = C[vi, vp] + A[indptr[vi] + vj, vp, vq] * B[indices[indptr[vi] + vj], vq]


def test_an_init_belongs_above_the_reductions_of_enclosing_blocks() -> None:
    c = np.full((2, 2), NAN, "float32")
    a = f32(1, 2, 3, 4, 5, 6, 7, 8).reshape(2, 2, 2)
    b = f32(1, 10, 100, 1000).reshape(2, 2)
    interpret(position(bsr), a, b, c, i32(0, 2, 2), i32(0, 1), 2, 2, 2)
    assert c.tolist() == [[6521, 8743], [0, 0]]


@T.prim_func(s_tir=True)
def columns(X: T.Buffer(("m", 3), "float32"), Y: T.Buffer((3,), "float32"), m: T.int32):
    for i, j in T.grid(m, 3):
        with T.sblock("sum"):
            vj = T.axis.spatial(3, j)
            vi = T.axis.reduce(m, i)
            with T.init():
                Y[vj] = T.float32(1)
            Y[vj] = Y[vj] + X[vi, vj]


@pytest.mark.parametrize("m", [0, 1, 3])
def test_a_reduction_loop_outside_starts_every_element_even_if_it_is_empty(m: int) -> None:
    x, y = np.ones((m, 3), "float32"), f32(NAN, NAN, NAN)
    interpret(position(columns), x, y, m)
    assert y.tolist() == [1 + m] * 3


@T.prim_func(s_tir=True)
def spatial_only(Y: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("once"):
            vi = T.axis.spatial(2, i)
            with T.init():
                Y[vi] = T.float32(5)
            Y[vi] = Y[vi] + T.float32(1)


def test_an_init_without_reductions_stays_in_its_block() -> None:
    y = f32(NAN, NAN)
    interpret(position(spatial_only), y)
    assert y.tolist() == [6, 6]


@T.prim_func(s_tir=True)
def ell(
    A: T.Buffer(("m", 3), "float32"),
    Y: T.Buffer(("m",), "float32"),
    indices: T.Buffer(("m", 3), "int32"),
    m: T.int32,
    n: T.int32,
):
    for i in range(m):
        with T.sblock("row"):
            vi = T.axis.spatial(m, i)
            acc = T.sblock_alloc_buffer((1,), "float32", scope="local")
            for t, j in T.grid(2, 3):
                if t == 1 and indices[vi, j] < n:  # a guard on a reduction does not stop the init
                    with T.sblock("update"):
                        vt = T.axis.reduce(2, t)
                        vj = T.axis.reduce(3, j)
                        T.where(vi < m - 1)  # one on a spatial iterator does
                        with T.init():
                            acc[0] = T.float32(0)
                        acc[0] = acc[0] + A[vi, vj] + T.Cast("float32", vt - 1)
            with T.sblock("write"):
                Y[vi] = acc[0]


def test_guards_go_along_with_an_init_unless_they_follow_a_reduction() -> None:
    y = f32(7, 7, 7)
    a = f32(1, 2, 4, NAN, NAN, NAN, 5, 5, 5).reshape(3, 3)
    interpret(position(ell), a, y, i32(0, 1, 2, 2, 2, 2, 0, 0, 0).reshape(3, 3), 3, 2)
    assert y[:2].tolist() == [3, 0]
    assert np.isnan(y[2])


@T.prim_func(s_tir=True)
def partial_sums(X: T.Buffer((2, 3), "float32"), Y: T.Buffer((1,), "float32")):
    for i in range(2):
        with T.sblock("part"):
            vi = T.axis.reduce(2, i)
            acc = T.sblock_alloc_buffer((1,), "float32")
            for j in range(3):
                with T.sblock("sum"):
                    vj = T.axis.reduce(3, j)
                    with T.init():
                        acc[0] = T.float32(0)
                    acc[0] = acc[0] + X[vi, vj]
            with T.sblock("merge"):
                T.sblock_attr({"sparse_tir.combine": "sum"})
                Y[0] = acc[0]


def test_an_init_stays_inside_the_block_that_allocates_its_buffer() -> None:
    y = f32(100)
    interpret(position(partial_sums), f32(1, 2, 3, 10, 20, 30).reshape(2, 3), y)
    assert y[0] == 166


@T.prim_func(s_tir=True)
def dependent(Y: T.Buffer((4,), "float32"), indptr: T.Buffer((3,), "int32")):
    for i in range(2):
        with T.sblock("outer"):
            vi = T.axis.reduce(2, i)
            for j in range(indptr[vi + 1] - indptr[vi]):
                with T.sblock("inner"):
                    vj = T.axis.spatial(4, j)
                    with T.init():
                        Y[vj] = T.float32(0)
                    Y[vj] = Y[vj] + T.float32(1)


def test_a_spatial_extent_that_follows_a_reduction_is_a_bug_of_lowering() -> None:
    assert code_of(lambda: interpret(position(dependent), f32(0, 0, 0, 0), i32(0, 1, 2))) == "ST900"


@T.prim_func(s_tir=True)
def unbounded(Y: T.Buffer((8,), "float32"), m: T.int32):
    for o, f in T.grid(2, m * 4):
        with T.sblock("sum"):
            vs = T.axis.spatial(8, o * 4 + f // m)
            vr = T.axis.reduce(m, f % m)
            with T.init():
                Y[vs] = T.float32(0)
            Y[vs] = Y[vs] + T.Cast("float32", vr)


def test_a_shared_loop_without_a_bound_is_refused() -> None:
    y: NDArray[Any] = np.zeros(8, "float32")
    assert code_of(lambda: interpret(position(unbounded), y, 2)) == "ST421"
