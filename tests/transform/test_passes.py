"""The passes: their stages, their company in TVM's pass infrastructure, the text that they make, their arithmetic."""

from __future__ import annotations

import re
from typing import Any

import formats
import numpy as np
import pytest
import tvm
from numpy.typing import NDArray
from tvm.error import InternalError
from tvm.tirx import PrimFunc

import sparse_tir as st
from sparse_tir import errors, transform
from sparse_tir.ops import spmm
from sparse_tir.transform import PIPELINE

_INT32 = np.iinfo(np.int32)

SPMV = """@S.prim_func
def main(a: T.handle, x: T.handle, y: T.handle, indptr: T.handle, indices: T.handle, {listed}
         m: T.int64, n: T.int64, {sizes}):
    {axes}
    D = S.dense_fixed(n, "int64")
    {out}
    A = S.match_sparse_buffer(a, (I, J), "float32")
    X = S.match_sparse_buffer(x, (D,), "float32")
    Y = S.match_sparse_buffer(y, (R,), "float32")
    with S.iter([I, J], "SR", "spmv") as [i, j]:
        with S.init():
            Y[i] = T.float32(0)
        Y[i] = Y[i] + A[i, j] * X[j]
"""
DCSR = SPMV.format(
    listed="rows: T.handle,",
    sizes="nnz: T.int64, nr: T.int64",
    axes='I = S.sparse_fixed(None, (m, nr), rows, "int64")\n'
    '    J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int64")',
    out='R = S.dense_fixed(m, "int64")',
)
ELL = SPMV.replace("indptr: T.handle, ", "").format(
    listed="",
    sizes="width: T.int64",
    axes='I = S.dense_fixed(m, "int64")\n    J = S.sparse_fixed(I, (n, width), indices, "int64")',
    out='R = S.dense_fixed(m, "int64")',
)


def module_before(number: int) -> tvm.IRModule:
    """What pass ``number`` of the pipeline takes: SpMM after the passes before it."""
    module = tvm.IRModule({"main": spmm.program(4)})
    for step in PIPELINE[:number]:
        module = step.make()(module)
    return module


def body(module: tvm.IRModule) -> str:
    """The text of the loops: without the head of the function and what reads and writes repeat."""
    lines = module["main"].script().splitlines()
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("for "))
    kept = [line[4:] for line in lines[start:] if not re.match(r" *T\.(reads|writes)\(", line)]
    return "\n".join(kept)


def position(program: PrimFunc | str) -> tvm.IRModule:
    func = st.from_source(program) if isinstance(program, str) else program
    return st.lower(func, "position")


#: The stages that each pass must refuse, as the number of passes that ran before.
FOREIGN = {
    "LowerSparseIter": (2, 5),
    "LowerSparseBuffer": (0, 2, 5),
    "PlaceInit": (0, 5),
    "ExpandCombine": (0, 5),
    "LegalizeArithmetic": (0, 2),
    "InsertPrefetch": (0, 2),
    "UnrollMasked": (0, 2),
    "StreamStores": (0, 2),
}
PASSES = {step.name: step.make for step in PIPELINE}


@pytest.mark.parametrize(("name", "before"), [(name, n) for name, many in FOREIGN.items() for n in many])
def test_a_pass_refuses_a_function_of_another_stage(name: str, before: int) -> None:
    module = module_before(before)
    with pytest.raises(errors.LegalityError) as refused:
        PASSES[name]()(module)
    assert refused.value.code == "ST420"
    assert name in str(refused.value)


def test_every_pass_of_the_pipeline_is_among_those_that_refuse() -> None:
    assert FOREIGN.keys() == PASSES.keys()
    assert all(getattr(transform, name) for name in FOREIGN)


@tvm.instrument.pass_instrument
class Recorder:
    """Keeps the names of the passes that run."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, module: tvm.IRModule, info: Any) -> None:
        self.names.append(str(info.name))


def test_the_passes_run_in_a_sequence_and_are_seen_by_instruments() -> None:
    recorder = Recorder()
    sequence = tvm.transform.Sequential([step.make() for step in PIPELINE])
    program = tvm.IRModule({"main": spmm.program(4)})
    with tvm.transform.PassContext(instruments=[recorder]):
        module = sequence(program)
    ours = [name for name in recorder.names if name.startswith("sparse_tir.")]
    assert ours == [f"sparse_tir.{step.name}" for step in PIPELINE]
    tvm.ir.assert_structural_equal(module, st.lower(spmm.program(4)))


def test_a_program_that_is_not_lowered_does_not_compile() -> None:
    with pytest.raises(InternalError, match=r"sparse_tir\.position"):
        tvm.compile(tvm.IRModule({"main": spmm.program(4)}), target="llvm")


#: name -> (program, its loops at the position stage)
GOLDENS: dict[str, tuple[PrimFunc | str, str]] = {
    "CSR SpMM": (
        spmm.program(4),
        """
for i in range(m):
    with T.sblock("spmm_I"):
        vi = T.axis.spatial(m, i)
        for j, k in T.grid(T.Cast("int64", indptr[vi + T.int64(1)]) - T.Cast("int64", indptr[vi]), T.int64(4)):
            with T.sblock("spmm"):
                vj = T.axis.reduce(nnz, j)
                vk = T.axis.spatial(T.int64(4), k)
                with T.init():
                    C[vi, vk] = T.float32(0.0)
                C[vi, vk] = C[vi, vk] + A[T.Cast("int64", indptr[vi]) + vj] * B[T.Cast("int64", indices[T.Cast("int64", indptr[vi]) + vj]), vk]
""",  # noqa: E501
    ),
    "DCSR SpMV": (
        DCSR,
        """
for i in range(m):
    with T.sblock("spmv_init"):
        vi = T.axis.spatial(m, i)
        T.sblock_attr({"sparse_tir.cover": "sum"})
        Y[vi] = T.float32(0.0)
for i in range(nr):
    with T.sblock("spmv_I"):
        vi = T.axis.spatial(nr, i)
        if rows[vi] < m:
            for j in range(indptr[vi + T.int64(1)] - indptr[vi]):
                with T.sblock("spmv"):
                    vj = T.axis.reduce(nnz, j)
                    with T.init():
                        Y[rows[vi]] = T.float32(0.0)
                    Y[rows[vi]] = Y[rows[vi]] + A[indptr[vi] + vj] * X[indices[indptr[vi] + vj]]
""",
    ),
    "ELL SpMV": (
        ELL,
        """
for i, j in T.grid(m, width):
    with T.sblock("spmv"):
        vi, vj = T.axis.remap("SR", [i, j])
        with T.init():
            Y[vi] = T.float32(0.0)
        Y[vi] = Y[vi] + T.if_then_else(indices[vi * width + vj] < n, A[vi, vj] * X[indices[vi * width + vj]], T.float32(0.0))
""",  # noqa: E501
    ),
    "CSC SpMM": (
        formats.text("csc"),
        """
for i, k in T.grid(T.Cast("int64", m), T.int64(8)):
    with T.sblock("upd_init"):
        vi, vk = T.axis.remap("SS", [i, k])
        T.sblock_attr({"sparse_tir.cover": "sum"})
        C[vi, vk] = T.float32(0.0)
for j in range(T.Cast("int64", n)):
    with T.sblock("upd_J"):
        vj = T.axis.spatial(T.Cast("int64", n), j)
        for i, k in T.grid(T.Cast("int64", indptr[vj + T.int64(1)]) - T.Cast("int64", indptr[vj]), T.int64(8)):
            with T.sblock("upd"):
                vi = T.axis.spatial(T.Cast("int64", nnz), i)
                vk = T.axis.spatial(T.int64(8), k)
                T.sblock_attr({"sparse_tir.combine": "sum"})
                C[T.Cast("int64", indices[T.Cast("int64", indptr[vj]) + vi]), vk] = A[T.Cast("int64", indptr[vj]) + vi] * B[vj, vk]
""",  # noqa: E501
    ),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_lowering_gives_the_expected_loops(name: str) -> None:
    program, expected = GOLDENS[name]
    assert body(position(program)) == expected.strip("\n")


@pytest.mark.parametrize("name", formats.NAMES)
@pytest.mark.parametrize("stage", ["position", "loop"])
def test_lowering_is_deterministic(name: str, stage: str) -> None:
    first, second = (st.lower(st.from_source(formats.text(name)), stage) for _ in range(2))
    tvm.ir.assert_structural_equal(first, second)
    assert first.script() == second.script()


ROWS = """@S.prim_func
def main(a: T.handle, w: T.handle, y: T.handle, indptr: T.handle, indices: T.handle,
         m: T.int32, n: T.int32, nnz: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32")
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "{dtype}")
    W = S.match_sparse_buffer(w, (D,), "{dtype}")
    Y = S.match_sparse_buffer(y, (I,), "{dtype}")
    with S.iter([I, J], "SR", "rows") as [i, j]:
        with S.init():
            Y[i] = {start}
        Y[i] = {fold}
"""


def fold_rows(fold: str, start: str, rows: list[list[float]], w: list[int] | None = None) -> NDArray[Any]:
    """What the compiled program makes of each row; its entries stand in the columns 0, 1 .."""
    dtype = "int32" if "int32" in start else "float32"
    kernel = st.compile(st.from_source(ROWS.format(dtype=dtype, start=start, fold=fold)))
    lengths = [len(row) for row in rows]
    Y = np.full(len(rows), 77, dtype)
    kernel(
        A=np.array([entry for row in rows for entry in row], dtype),
        W=np.array(w if w is not None else [0] * max(lengths), dtype),
        Y=Y,
        indptr=np.cumsum([0, *lengths]).astype(np.int32),
        indices=np.concatenate([np.arange(length, dtype=np.int32) for length in lengths]),
    )
    return Y


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_of_a_row_with_nan_is_nan(name: str) -> None:
    nan = np.nan
    rows = [[nan, 1, 2], [1, 2, nan], [1, nan, 2], [nan], [3, 1, 2], []]
    start = -np.inf if name == "max" else np.inf
    fold = f"T.{name}(Y[i], A[i, j])"
    found = fold_rows(fold, f'T.float32("{start}")', rows)
    reduce = np.maximum if name == "max" else np.minimum
    expected = [reduce.reduce(np.array(row, "float32"), initial=np.float32(start)) for row in rows]
    np.testing.assert_array_equal(found, expected)


def test_integer_sums_and_products_wrap() -> None:
    rows = [[_INT32.max, 1], [_INT32.min, -1], [_INT32.max, _INT32.max, _INT32.max], []]
    for sign, reduce, start in (("+", np.add, 0), ("*", np.multiply, 1)):
        found = fold_rows(f"Y[i] {sign} A[i, j]", f"T.int32({start})", rows)
        expected = [reduce.reduce(np.array(row, "int32"), dtype="int32") for row in rows]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("operator", ["//", "%"])
def test_integer_division_gives_numpy_values_where_c_has_none(operator: str) -> None:
    w = [-1, 0, 3, -3]
    rows = [[_INT32.min, 7, -7, 7], [7, _INT32.min, 7, -7], [_INT32.max, 0, _INT32.min, _INT32.min]]
    for column in range(len(w)):
        picked = f"T.if_then_else(j == {column}, A[i, j] {operator} W[j], 0)"
        found = fold_rows(f"Y[i] + {picked}", "T.int32(0)", rows, w)
        divide = np.floor_divide if operator == "//" else np.remainder
        with np.errstate(all="ignore"):
            expected = divide(np.array(rows, "int32")[:, column], np.int32(w[column]))
        np.testing.assert_array_equal(found, expected, err_msg=f"by {w[column]}")
