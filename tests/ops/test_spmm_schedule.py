"""The default schedule of SpMM: right for every width, dtype and number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from tvm.s_tir import Schedule

import sparse_tir as st
from sparse_tir.ops import spmm
from sparse_tir.transform.prefetch import PREFETCH, insert_prefetch

WIDTHS = [1, 2, 7, 8, 24, 33, 64, 100, 143, 256, 260, 520, 524, 1021]


@pytest.fixture(scope="module")
def matrix():
    """Empty rows, a full one, more rows than one task takes, unsorted columns that repeat."""
    random = np.random.default_rng(0)
    lengths = random.integers(0, 6, 150)
    lengths[[3, 149]], lengths[70] = 0, 90
    indptr = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    indices = random.integers(0, 90, indptr[-1]).astype(np.int32)
    return sp.csr_array((random.random(indptr[-1]), indices, indptr), shape=(150, 90))


@pytest.mark.parametrize("feat", WIDTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_the_default_kernel_is_right(matrix, feat, dtype):
    A = (matrix * 10).astype(dtype)
    X = (np.random.default_rng(1).random((90, feat)) * 10).astype(dtype)
    out = np.full((150, feat), 77, dtype)
    st.spmm(A, X, out=out)
    rtol = 0 if dtype.startswith("int") else 1e-5
    np.testing.assert_allclose(out, A @ X, rtol=rtol)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_decisions_fit_the_width_and_the_registers(vector_bytes, dtype):
    size = np.dtype(dtype).itemsize
    for feat in range(1, 600):
        tile = spmm.default_decisions(feat, dtype, vector_bytes).tile
        assert np.prod(tile) == feat
        if len(tile) == 3:
            assert tile[2] in spmm.vector_lanes(dtype, vector_bytes)
            assert tile[1] * tile[2] * size <= 8 * vector_bytes


def test_sums_stay_in_registers():
    # An allocation at run time would mean stores for every row: a fifth slower.
    library = spmm.kernel(64).library
    source = getattr(library, "mod", library).inspect_source("ll")
    assert "TVMBackendAllocWorkspace" not in source
    assert "llvm.prefetch" in source


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_shared_by_turns_without_loss(threads):
    program = (
        "import numpy as np, scipy.sparse as sp, sparse_tir as st\n"
        "for m in (0, 1, 63, 64, 65, 200, 1000):\n"
        "    A = sp.random_array((m, 40), density=0.1, format='csr', dtype='float32', rng=m)\n"
        "    X, Y = np.ones((40, 8), 'float32'), np.full((m, 8), np.nan, 'float32')\n"
        "    np.testing.assert_allclose(st.spmm(A, X, out=Y), A @ X, rtol=1e-5)\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "TVM_NUM_THREADS": str(threads)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)


def scheduled(prefetch):
    sch = Schedule(st.lower(spmm.program(32), "position"), debug_mask="all")
    spmm.apply_decisions(sch, spmm.Decisions((1, 2, 16), prefetch=prefetch))
    return st.lower(sch.mod, "loop")


def test_a_prefetch_reads_a_later_index_within_the_array():
    before = scheduled(prefetch=16)
    after = insert_prefetch(before).script()
    assert PREFETCH in before.script()
    assert PREFETCH not in after
    (line,) = [line for line in after.splitlines() if "T.prefetch" in line]
    assert "B[T.Cast" in line
    assert "j + T.int64(16)" in line
    assert 'T.Cast("int64", nnz) - T.int64(1)' in line


def test_without_distance_nothing_is_fetched():
    after = insert_prefetch(scheduled(prefetch=0)).script()
    assert PREFETCH not in after
    assert "T.prefetch" not in after


def test_a_module_without_annotations_is_unchanged():
    module = st.lower(spmm.program(8), "loop")
    assert insert_prefetch(module).script() == module.script()
