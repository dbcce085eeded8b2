"""A CSR SpMM in Stage II and its schedule space, by hand: what an operator hands to `tune`.

Also what candidates may do wrong: the decision "fault" of `faulty_space` makes `faulty_finish` crash or hang.
Functions are at module level because the measuring process finds them by name.
"""

from __future__ import annotations

import functools
import os
import signal
import time

import numpy as np
import scipy.sparse as sp
import tvm
from tvm.script import tirx as T

from sparse_tir.tuning import TuningProblem, choose, choose_tile, choose_variant

FEATURES = 32
TARGET = tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()})


def spmm_module(width: int) -> tvm.IRModule:
    @T.prim_func(s_tir=True)
    def main(
        A: T.Buffer(("nnz",), "float32"),
        B: T.Buffer(("n", width), "float32"),
        C: T.Buffer(("m", width), "float32"),
        indptr: T.Buffer(("m + 1",), "int32"),
        indices: T.Buffer(("nnz",), "int32"),
        m: T.int64,
        n: T.int64,
        nnz: T.int64,
    ):
        T.func_attr({"global_symbol": "main", "tirx.noalias": True})
        for i in range(m):
            with T.sblock("spmm_I"):
                vi = T.axis.spatial(m, i)
                for j, k in T.grid(indptr[vi + 1] - indptr[vi], width):
                    with T.sblock("spmm"):
                        vj, vk = T.axis.reduce(T.Cast("int32", nnz), j), T.axis.spatial(width, k)
                        with T.init():
                            C[vi, vk] = T.float32(0)
                        C[vi, vk] += A[indptr[vi] + vj] * B[indices[indptr[vi] + vj], vk]

    return tvm.IRModule({"main": main})


def matrix(rows: int = 300, columns: int = 200, density: float = 0.03, seed: int = 0) -> sp.csr_array:
    found = sp.random_array(
        (rows, columns), density=density, rng=np.random.default_rng(seed), dtype=np.float32
    )
    result = sp.csr_array(found)
    result.data[: result.indptr[1]] = 0  # explicit zeros
    return result


def space(sch, rows=None, tile=None, lanes=None, unroll=None):
    row, update = sch.get_sblock("spmm_I"), sch.get_sblock("spmm")
    chunk = choose(sch, "rows", [16, 64, 256], value=rows)
    sch.parallel(sch.split(sch.get_loops(row)[0], [None, chunk])[0])
    j, k = sch.get_loops(update)
    ko, ki = sch.split(k, choose_tile(sch, "tile", k, 2, 64, value=tile))
    sch.reorder(ko, j, ki)
    copy = sch.cache_write(update, 0, "local")
    sch.reverse_compute_at(copy, ko, True)
    outer, inner = sch.split(ki, [None, choose(sch, "lanes", [4, 8, 16], [0.3, 0.3, 0.4], value=lanes)])
    sch.vectorize(inner)
    sch.unroll(outer)
    jo, ji = sch.split(j, [None, choose(sch, "unroll", [1, 2, 4], value=unroll)])
    sch.unroll(ji)
    sch.decompose_reduction(update, jo)  # last: vectorize is refused afterwards; it also writes empty rows


default = functools.partial(space, rows=64, tile=[1, FEATURES], lanes=16, unroll=1)


def branching_space(sch, variant=None, rows=None):
    row, update = sch.get_sblock("spmm_I"), sch.get_sblock("spmm")
    word = choose_variant(sch, "write", ["direct", "cached"], value=variant)
    sch.parallel(sch.split(sch.get_loops(row)[0], [None, choose(sch, "rows", [16, 64, 256], value=rows)])[0])
    j, k = sch.get_loops(update)
    sch.reorder(k, j) if word == "cached" else sch.reorder(j, k)
    if word == "cached":
        sch.reverse_compute_at(sch.cache_write(update, 0, "local"), k, True)
    sch.decompose_reduction(update, j)


FAULTS = ["none", "wrong", "crash", "hang", "raise"]


def faulty_space(sch, fault=None, rows=None):
    choose(sch, "fault", list(range(len(FAULTS))), value=fault)
    row, update = sch.get_sblock("spmm_I"), sch.get_sblock("spmm")
    sch.parallel(sch.split(sch.get_loops(row)[0], [None, choose(sch, "rows", [16, 64, 256], value=rows)])[0])
    sch.decompose_reduction(update, sch.get_loops(update)[0])


def unchanged(module):
    return module


def faulty_finish(module):
    fault = FAULTS[int(module["main"].body.block.annotations["sparse_tir.tune.fault"])]
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "hang":
        time.sleep(1000)
    if fault == "raise":
        raise ValueError(f"cannot be lowered on {os.environ['TVM_NUM_THREADS']} threads")
    return spmm_module(FEATURES) if fault == "wrong" else module  # unscheduled: empty rows are never written


def arguments(graph: sp.csr_array, dense: np.ndarray) -> list:
    rows, columns = graph.shape
    output = np.full((rows, dense.shape[1]), np.nan, np.float32)
    indices = (graph.indptr.astype(np.int32), graph.indices.astype(np.int32))
    return [graph.data, dense, output, *indices, rows, columns, graph.nnz]


def problem(graph: sp.csr_array | None = None, width: int = FEATURES, **changes) -> TuningProblem:
    graph = matrix() if graph is None else graph
    dense = np.random.default_rng(1).random((graph.shape[1], width), dtype=np.float32)
    fields = {
        "name": "spmm",
        "module": spmm_module(width),
        "space": space,
        "seeds": [default],
        "finish": unchanged,
        "target": TARGET,
        "arguments": functools.partial(arguments, graph, dense),
        "output": 2,
        "expected": graph @ dense,
        "signature": {"op": "spmm", "dtype": "float32", "feat": width, "index": "int32"},
        "fingerprint": f"{graph.shape}-{graph.nnz}",
    }
    return TuningProblem(**{**fields, **changes})
