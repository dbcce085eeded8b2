"""Axes, buffers and functions as TVM's nodes: equality, hashing, serialisation, copies, specialisation."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm.ir import Expr, Var
from tvm_ffi.core import _lookup_or_register_type_info_from_type_key as type_info

import sparse_tir as st
from sparse_tir import ir, script

TEXT = """
@S.prim_func
def main(a: T.handle, v: T.handle, y: T.handle, jp: T.handle, jx: T.handle, ex: T.handle, qp: T.handle,
         ox: T.handle, m: T.int32, n: T.int32, nnz: T.int32, nq: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (jp, jx), "int64", sorted=False, unique=False)
    E = S.sparse_fixed(I, (n, 3), ex, sorted=False)
    Q = S.dense_variable(J, (4, nq), qp)
    O = S.sparse_fixed(None, (m, 2), ox, "int64")
    A = S.match_sparse_buffer(a, (I, J, Q), "float32", default=-1)
    V = S.match_sparse_buffer(v, (I, E), "float32")
    Y = S.match_sparse_buffer(y, (I,), "float32")
    with S.iter([I, J, Q], "SRR", "sums") as [i, j, q]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j, q]
    with S.iter([I, E], "SR", "more") as [i, e]:
        Y[i] = Y[i] + V[i, e]
    with S.iter([O], "R", "rows") as [o]:
        Y[o] = Y[o] + T.float32(1)
"""
COPIES: dict[str, Callable[[Any], Any]] = {
    "JSON": lambda node: tvm.ir.load_json(tvm.ir.save_json(node)),
    "pickle": lambda node: pickle.loads(pickle.dumps(node)),
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(scope="module")
def func() -> tvm.tirx.PrimFunc:
    return st.from_source(TEXT)


@pytest.fixture(scope="module")
def axes(func: tvm.tirx.PrimFunc) -> dict[str, ir.Axis]:
    """All kinds, by name."""
    found = [it.axis for iteration in ir.iterations(func) for it in iteration.iterators]
    return {axis.name: axis for axis in found}


def fields_of(node: Any) -> Iterator[str]:
    """The names of all reflected fields, those of base classes included."""
    info = type_info(type(node).__tvm_ffi_type_info__.type_key)
    while info is not None:
        yield from (field.name for field in info.fields)
        info = info.parent_type_info


def call() -> dict[str, Any]:
    arrays = {"jp": [0, 2, 2, 3], "ex": [0, 1, 4, 4, 4, 4, 3, 2, 4], "qp": [0, 2, 3, 3]}
    return {
        "A": np.array([1, 2, 4], "float32"),
        "V": np.full((3, 3), 10, "float32"),
        "Y": np.full(3, 7, "float32"),
        **{name: np.array(numbers, "int32") for name, numbers in arrays.items()},
        "jp": np.array([0, 2, 2, 3]),
        "jx": np.array([1, 1, 0]),
        "ox": np.array([0, 2]),
        **{"m": 3, "n": 4, "nnz": 3, "nq": 3},
    }


RESULT = [7 + 20 + 1, 0, 20 + 1]


def test_programs_of_one_text_are_equal_and_hash_alike(func: tvm.tirx.PrimFunc) -> None:
    again = st.from_source(TEXT)
    assert not again.same_as(func)
    assert tvm_ffi.structural_equal(func, again)
    assert tvm_ffi.structural_hash(func) == tvm_ffi.structural_hash(again)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"int64", sorted=False, unique=False', '"int64", unique=False'),
        ('"int64", sorted=False, unique=False', '"int64", sorted=False'),
        ('"int64", sorted=False, unique=False', '"int32", sorted=False, unique=False'),
        ("(n, nnz), (jp, jx)", "(m, nnz), (jp, jx)"),
        ("(n, 3), ex", "(n, 2), ex"),
        ("(4, nq), qp", "(5, nq), qp"),
        ("default=-1", "default=-2"),
        ('(I, E), "float32")', '(I, E), "float64")'),
        ('"SRR", "sums"', '"RRR", "sums"'),
        ('[I, J, Q], "SRR", "sums") as [i, j, q]', '[I, J], "SR", "sums") as [i, j]'),
        ("Y[i] = T.float32(0)", "Y[i] = T.float32(1)"),
        ("T.float32(1)", "T.float32(2)"),
    ],
)
def test_programs_that_differ_in_one_thing_are_not_equal(old: str, new: str, func: tvm.tirx.PrimFunc) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT
    if "[I, J]" in new:
        text = text.replace("A[i, j, q]", "T.float32(1)")
    if "float64" in new:
        text = text.replace("V[i, e]", 'T.cast(V[i, e], "float32")')
    assert not tvm_ffi.structural_equal(func, st.from_source(text))


def test_the_name_of_an_axis_is_a_hint(func: tvm.tirx.PrimFunc) -> None:
    renamed = st.from_source(TEXT.replace("Q", "Queue"))
    assert tvm_ffi.structural_equal(func, renamed)
    assert tvm_ffi.structural_hash(func) == tvm_ffi.structural_hash(renamed)


def test_two_axes_that_are_alike_are_not_one_axis() -> None:
    head = "@S.prim_func\ndef main(c: T.handle, m: T.int32):\n    I = S.dense_fixed(m)\n"
    tail = '    with S.iter([{0}], "SS", "all") as [i, k]:\n        C[i, k] = T.float32(0)\n'
    shared = (
        head + "    K = S.dense_fixed(m)\n    C = S.match_sparse_buffer(c, (I, K))\n" + tail.format("I, K")
    )
    crossed = (
        head + "    K = S.dense_fixed(m)\n    C = S.match_sparse_buffer(c, (K, I))\n" + tail.format("I, K")
    )
    assert tvm_ffi.structural_equal(st.from_source(shared), st.from_source(shared))
    assert not tvm_ffi.structural_equal(st.from_source(shared), st.from_source(crossed))


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_function_is_equal_and_means_the_same(way: str, func: tvm.tirx.PrimFunc) -> None:
    copied = COPIES[way](func)
    assert not copied.same_as(func)
    assert tvm_ffi.structural_equal(func, copied)
    assert tvm_ffi.structural_hash(func) == tvm_ffi.structural_hash(copied)
    assert script.script(copied) == script.script(func)
    for meaning in (copied, st.lower(copied), COPIES[way](st.lower(func, "position"))):
        arguments = call()
        st.interpret(meaning, **arguments)
        assert arguments["Y"].tolist() == RESULT


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", ["I", "J", "E", "Q", "O"])
def test_a_copy_of_an_axis_has_every_field(way: str, name: str, axes: dict[str, ir.Axis]) -> None:
    axis = axes[name]
    copied = COPIES[way](axis)
    assert type(copied) is type(axis)
    names = list(fields_of(axis))
    assert {"name", "parent", "length", "idtype", "sorted", "unique"} <= set(names)
    for field in names:
        before, after = getattr(axis, field), getattr(copied, field)
        if isinstance(before, Expr | ir.Axis):
            assert tvm_ffi.structural_equal(before, after, map_free_vars=True), field
            assert getattr(before, "name", "") == getattr(after, "name", ""), field
        else:
            assert before == after, field


def test_every_field_of_a_node_has_a_python_name(axes: dict[str, ir.Axis], func: tvm.tirx.PrimFunc) -> None:
    buffers = ir.iterations(func)[0].buffers
    for node in [*axes.values(), *buffers]:
        annotated = {name for cls in type(node).__mro__ for name in getattr(cls, "__annotations__", ())}
        assert set(fields_of(node)) <= annotated, type(node).__name__


def test_the_constructors_take_every_field(axes: dict[str, ir.Axis]) -> None:
    """A copy made through the constructor, with all fields of the original, is equal to it."""
    for axis in axes.values():
        names = [name for name in fields_of(axis) if name not in ("sorted", "unique", "parent")]
        values = {name: getattr(axis, name) for name in names}
        if not isinstance(axis, ir.DenseFixedAxis):
            values["parent"] = axis.parent
        if isinstance(axis, ir.SparseFixedAxis | ir.SparseVariableAxis):
            values |= {"sorted": axis.sorted, "unique": axis.unique}
        assert tvm_ffi.structural_equal(type(axis)(**values), axis)


def test_nodes_cannot_be_changed_in_place(axes: dict[str, ir.Axis]) -> None:
    for name in ("sorted", "length", "name"):
        with pytest.raises(AttributeError):
            setattr(axes["J"], name, getattr(axes["E"], name))


def test_an_axis_tells_its_kind_and_positions(axes: dict[str, ir.Axis]) -> None:
    assert {n for n, axis in axes.items() if axis.is_stored} == {"J", "E", "Q", "O"}
    assert {n for n, axis in axes.items() if axis.is_variable} == {"J", "Q"}
    positions = {name: str(axis.positions) for name, axis in axes.items()}
    assert positions == {
        "I": "m",
        "J": "nnz",
        "Q": "nq",
        "O": "T.int64(2)",
        "E": 'T.Cast("int64", m) * T.int64(3)',
    }


def test_a_value_array_has_a_dimension_per_chain_and_fixed_width(func: tvm.tirx.PrimFunc) -> None:
    buffers = {buffer.buffer.name: buffer for buffer in ir.iterations(func)[0].buffers}
    shapes = {name: [str(extent) for extent in buffer.storage_shape] for name, buffer in buffers.items()}
    assert shapes == {"A": ["nq"], "V": ["m", "3"], "Y": ["m"]}


def test_iterations_are_views_of_the_function(func: tvm.tirx.PrimFunc) -> None:
    sums, more, rows = ir.iterations(func)
    assert [it.name for it in (sums, more, rows)] == ["sums", "more", "rows"]
    assert [it.kinds for it in (sums, more, rows)] == ["SRR", "SR", "R"]
    assert sums.init is not None
    assert more.init is None
    assert [it.var.name for it in sums.iterators] == ["i", "j", "q"]
    assert all(isinstance(it.var, Var) for it in sums.iterators)


@pytest.mark.parametrize("name", ["m", "n", "nnz"])
def test_a_specialised_function_keeps_every_property(name: str, func: tvm.tirx.PrimFunc) -> None:
    arguments = call()
    parameter = next(p for p in func.params if p.name == name)
    special = func.specialize({parameter: arguments.pop(name)})
    before = [it.axis for iteration in ir.iterations(func) for it in iteration.iterators]
    after = [it.axis for iteration in ir.iterations(special) for it in iteration.iterators]
    for old, new in zip(before, after, strict=True):
        assert type(old) is type(new)
        for field in ("name", "idtype", "sorted", "unique"):
            assert getattr(old, field) == getattr(new, field)
    again = st.from_source(script.script(special))  # parsing folds the casts of constants that are left
    assert tvm_ffi.structural_equal(st.from_source(script.script(again)), again)
    for meaning in (special, again):
        output = arguments["Y"].copy()
        st.interpret(meaning, **{**arguments, "Y": output})
        assert output.tolist() == RESULT
