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
from sparse_tir.ops import spmm, spmm_schedule
from sparse_tir.ops.spmm_schedule import Decisions
from sparse_tir.runtime import aligned_empty
from sparse_tir.runtime.signature import main_function, signature_of
from sparse_tir.runtime.target import private_cache_bytes
from sparse_tir.tuning.operators.spmm import CHOICES

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
def test_decisions_fit_the_width_the_registers_and_the_search(vector_bytes, dtype):
    size = np.dtype(dtype).itemsize
    for feat in range(1, 600):
        decisions = spmm_schedule.default_decisions(feat, dtype, vector_bytes)
        tile = decisions.tile
        assert np.prod(tile) == feat
        assert all(getattr(decisions, name) in values for name, values in CHOICES.items())
        if len(tile) == 3:
            assert tile[2] in spmm_schedule.vector_lanes(dtype, vector_bytes)
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


def built(decisions, feat, dtype="float32"):
    program = spmm.program(feat, dtype)
    module = st.lower(program, "position")
    sch = Schedule(module, debug_mask="all")
    spmm_schedule.schedule(sch, decisions)
    return st.compile(st.lower(sch.mod), signature=signature_of(program, main_function(module)))


@pytest.mark.parametrize(
    "decisions",
    [
        Decisions((1, 2, 16), streaming=1),
        Decisions((2, 1, 16), streaming=1, rows=16, lines=8, prefetch=64),
        Decisions((1, 4, 8), streaming=1, unroll=4),
        Decisions((1, 2, 16), unroll=2, prefetch=0),
        Decisions((4, 1, 8), unroll=4, prefetch=4, lines=4),
        Decisions((2, 16), unroll=2, prefetch=8),
        Decisions((4, 8, 1), streaming=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("offset", [0, 1], ids=["aligned", "unaligned"])
def test_every_decision_gives_the_same_result(matrix, decisions, dtype, offset):
    A = (matrix * 10).astype(dtype)
    X = (np.random.default_rng(1).random((90, 32)) * 10).astype(dtype)
    out = aligned_empty((150 * 32 + offset,), dtype)[offset:].reshape(150, 32)
    out[:] = 77
    st.spmm(A, X, out=out, kernel=built(decisions, 32, dtype))
    np.testing.assert_allclose(out, A @ X, rtol=0 if dtype.startswith("int") else 1e-5)


@pytest.mark.parametrize("unroll", [2, 4])
def test_a_masked_entry_adds_nothing_even_where_it_is_not_finite(unroll):
    # The iteration that does not exist reads the last entry again: 0 * Inf would turn the row into NaN.
    A = sp.csr_array((np.float32([2, 1, 1, 1]), np.int32([0, 0, 1, 2]), np.int32([0, 1, 1, 4])), shape=(3, 3))
    X = np.full((3, 16), np.inf, np.float32)
    X[1:] = 1
    X[1, 0] = np.nan
    out = np.full((3, 16), 7, np.float32)
    st.spmm(A, X, out=out, kernel=built(Decisions((1, 1, 16), unroll=unroll), 16))
    np.testing.assert_array_equal(out, A @ X)


@pytest.mark.parametrize("n_rows", [3, 40_000])
def test_the_version_for_large_arrays_is_right_as_well(n_rows):
    assert 3 * 16 * 8 < private_cache_bytes() < 40_000 * 16 * 8
    A = sp.random_array((n_rows, 50), density=0.02, format="csr", dtype="float32", rng=0)
    X = np.random.default_rng(0).random((50, 16), np.float32)
    out = aligned_empty((n_rows, 16), "float32")
    out[:] = np.nan
    np.testing.assert_allclose(st.spmm(A, X, out=out), A @ X, rtol=1e-5)


def test_vectors_go_past_the_cache_only_in_the_version_for_large_arrays():
    library = spmm.kernel(64).library
    source = getattr(library, "mod", library).inspect_source("ll")
    assert "!nontemporal" in source
    module = st.lower(spmm.program(64), "position")
    small = spmm_schedule.resident_decisions(spmm_schedule.default_decisions(64))
    sch = Schedule(module, debug_mask="all")
    spmm_schedule.schedule(sch, small)
    assert "sparse_tir_stream" not in st.lower(sch.mod).script()
