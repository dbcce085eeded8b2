"""SpMM for a GPU: the emitted CUDA C runs on the CPU, under several orders of its threads, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops import spmm, spmm_cuda
from sparse_tir.runtime.cuda_on_cpu import FIBER_ORDERS, EmulatedKernel, compile_for_emulation
from sparse_tir.testing.patterns import Csr, awkward_csr, csr

#: Width, dtype, index dtype: loads of 16 and 8 bytes and single ones; guarded and whole groups of threads.
KERNELS = [
    (1, "float32", "int32"),
    (3, "float64", "int32"),
    (16, "float32", "int64"),
    (33, "float32", "int32"),
    (64, "float32", "int32"),
    (66, "float64", "int64"),
    (128, "float32", "int32"),
    (131, "float32", "int32"),  # parts of a row in several blocks, the last one guarded
    (520, "float32", "int32"),
]
_EMULATED: dict[tuple[int, str, str], EmulatedKernel] = {}


def emulated(feat: int, dtype: str, idtype: str) -> EmulatedKernel:
    key = (feat, dtype, idtype)
    if key not in _EMULATED:
        module = spmm.loops(feat, dtype, idtype, target="cuda")
        _EMULATED[key] = compile_for_emulation(module, signature=spmm.signature(feat, dtype, idtype))
    return _EMULATED[key]


def patterns(dtype: str, idtype: str) -> dict[str, Csr]:
    """Sorted and unique ones; unsorted ones that repeat; one with more rows than a block."""
    found = dict(awkward_csr(dtype, idtype))
    unsorted = awkward_csr(dtype, idtype, sorted=False, unique=False, seed=1)
    found |= {f"{name}, unsorted": case for name, case in unsorted.items()}
    rng = np.random.default_rng(2)
    lengths = rng.integers(0, 6, 300)
    lengths[[0, 299]], lengths[70] = 0, 90
    found["several blocks"] = csr(rng, 90, lengths.tolist(), dtype=dtype, idtype=idtype)
    found["one column"] = csr(rng, 1, [1, 0, 1, 1], dtype=dtype, idtype=idtype)
    return {name: case for name, case in found.items() if case.shape[0]}


@pytest.mark.parametrize("order", FIBER_ORDERS)
@pytest.mark.parametrize(("feat", "dtype", "idtype"), KERNELS)
def test_the_emitted_kernel_equals_scipy(feat: int, dtype: str, idtype: str, order: str) -> None:
    kernel = emulated(feat, dtype, idtype).reordered(order, seed=feat)
    for name, case in patterns(dtype, idtype).items():
        X = np.random.default_rng(3).integers(-4, 5, (case.shape[1], feat)).astype(dtype)
        Y = np.full((case.shape[0], feat), np.nan, dtype)
        kernel(case.data, X, Y, case.indptr, case.indices)
        np.testing.assert_array_equal(Y, case.matrix @ X, err_msg=name)  # the sums are exact


def test_a_matrix_without_rows_is_no_launch() -> None:
    case = awkward_csr()["no_rows"]
    with pytest.raises(errors.BuildError, match="ST513"):
        emulated(64, "float32", "int32")(
            case.data, np.ones((4, 64), "float32"), np.ones((0, 64), "float32"), case.indptr, case.indices
        )


def test_a_column_out_of_range_is_an_access_out_of_bounds() -> None:
    A = sp.csr_array(np.eye(4, dtype="float32"))
    A.indices[2] = 4
    X, Y = np.ones((4, 64), "float32"), np.ones((4, 64), "float32")
    with pytest.raises(errors.BuildError, match=r"ST511.*\n.*B at element 25[6-9]\n.*elements 0 to 255 of B"):
        emulated(64, "float32", "int32")(A.data, X, Y, A.indptr, A.indices, policy="trust")


def test_an_emulated_kernel_checks_its_arguments_and_cannot_be_saved(tmp_path: Any) -> None:
    A = sp.csr_array(np.eye(4, dtype="float32"))
    kernel = emulated(64, "float32", "int32")
    with pytest.raises(errors.DataError, match="ST151"):
        kernel(A.data, np.ones((4, 63), "float32"), np.ones((4, 64), "float32"), A.indptr, A.indices)
    with pytest.raises(errors.BuildError, match="ST505"):
        kernel.save(tmp_path / "kernel.so")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_decisions_fit_the_width_and_the_device(dtype: str) -> None:
    widest = 16 // np.dtype(dtype).itemsize
    for feat in range(1, 2100):
        chosen = spmm_cuda.default_decisions(feat, dtype)
        assert feat % chosen.vector == 0
        assert chosen.vector == widest or feat % (2 * chosen.vector)
        assert chosen.lanes <= 64
        assert chosen.lanes * chosen.rows <= 256
        parts = -(-feat // (chosen.vector * chosen.lanes))
        assert parts * chosen.lanes - feat // chosen.vector < parts  # idle threads: less than one per part


@pytest.mark.parametrize(("feat", "load"), [(64, "float4"), (66, "float2"), (33, None)])
def test_rows_of_b_are_read_in_vectors_and_sums_stay_in_registers(feat: int, load: str | None) -> None:
    source = emulated(feat, "float32", "int32").code.source
    body = source[source.rindex("{\n  alignas") :]
    assert body.count("*)(B_ptr") == (load is not None)
    assert load is None or f"*({load}*)(B_ptr" in body
    inner = body[body.index("for (") :]
    assert (
        "C_ptr[" not in inner[: inner.index("\n    }\n")]
    )  # C is written once, after the entries of the row
    assert "__shared__" not in body
    assert "atomic" not in body


def test_another_order_keeps_the_time_limit():
    kernel = compile_for_emulation(spmm.loops(4, target="cuda"), signature=spmm.signature(4), timeout_s=7)
    assert (kernel.schedule.order, kernel.schedule.timeout_s) == ("forward", 7)
    other = kernel.reordered("random", seed=3).schedule
    assert (other.order, other.seed, other.timeout_s) == ("random", 3, 7)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_have_no_kernel_on_a_gpu_and_are_refused(dtype):
    with pytest.raises(errors.DataError, match="float32, float64") as refused:
        spmm.loops(4, dtype, target="cuda")
    assert refused.value.code == "ST156"


def test_a_kernel_for_another_device_is_refused_by_the_call():
    kernel = compile_for_emulation(spmm.loops(4, target="cuda"), signature=spmm.signature(4))
    A = sp.eye_array(3, format="csr", dtype="float32")
    with pytest.raises(errors.BuildError, match="a kernel for the CPU") as refused:
        st.spmm(A, np.ones((3, 4), np.float32), kernel=kernel)
    assert refused.value.code == "ST507"
