"""Kernels for a GPU where there is none: compiling, reports, saving, and what a call refuses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm.script import tirx as T

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops import spmm
from sparse_tir.runtime import CudaKernel, DeviceReport, device_report, nvcc
from sparse_tir.runtime.cuda_kernel import compile_cuda
from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation
from sparse_tir.runtime.device_code import device_source
from sparse_tir.runtime.target import cuda_target

needs_nvcc = pytest.mark.skipif(nvcc.nvcc_path() is None, reason="nvcc is not on the search path")
without_device = pytest.mark.skipif(nvcc.has_device(), reason="there is a CUDA device")


def build_error(call: Callable[[], Any], code: str, *mentions: str) -> None:
    with pytest.raises(errors.BuildError) as caught:
        call()
    assert caught.value.code == code, caught.value
    for mention in mentions:
        assert mention in str(caught.value)


@pytest.fixture(scope="module")
def kernel() -> CudaKernel:
    if nvcc.nvcc_path() is None:
        pytest.skip("nvcc is not on the search path")
    return st.compile(spmm.loops(64, target="cuda"), "cuda", signature=spmm.signature(64))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> tuple[CudaKernel, list[Any]]:
    """A kernel whose calls arrive in a list: what it checks needs neither nvcc nor a GPU."""
    calls: list[Any] = []
    metadata = {"target": {"kind": "cuda"}}
    monkeypatch.setattr("sparse_tir.runtime.cuda_kernel.has_device", lambda: False)
    found = CudaKernel("spmm", spmm.signature(64), b"", metadata)
    found.entry = lambda *values: calls.append(values)
    return found, calls


@dataclass
class DeviceArray:
    """What looks like an array on a GPU."""

    shape: tuple[int, ...]
    dtype: str
    address: int = 4096

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def data_ptr(self) -> int:
        return self.address


def device_arguments(m: int = 5, n: int = 4, nnz: int = 7, feat: int = 64) -> dict[str, DeviceArray]:
    return {
        "A": DeviceArray((nnz,), "torch.float32"),
        "B": DeviceArray((n, feat), "torch.float32"),
        "C": DeviceArray((m, feat), "float32"),
        "indptr": DeviceArray((m + 1,), "int32"),
        "indices": DeviceArray((nnz,), "int32"),
    }


# ---- compiling
def test_a_kernel_for_a_gpu_is_compiled_saved_and_loaded_without_one(
    kernel: CudaKernel, tmp_path: Path
) -> None:
    assert kernel.metadata["target"]["kind"] == "cuda"
    assert "__global__" in kernel.source
    again = st.load(kernel.save(tmp_path / "spmm.so"))
    assert isinstance(again, CudaKernel)
    assert again.signature == kernel.signature == spmm.signature(64)
    assert (tmp_path / "spmm.so").read_bytes().find(bytes.fromhex("50ed55ba")) > 0, "no machine code of a GPU"


def test_the_kernel_of_an_operator_is_built_once_per_target(
    monkeypatch: pytest.MonkeyPatch, kernel: CudaKernel
) -> None:
    asked: list[Any] = []

    def compile(module: Any, target: Any, **_: Any) -> CudaKernel:
        asked.append(target)
        return kernel

    monkeypatch.setattr(spmm, "compile", compile)
    assert spmm.kernel(65, target="cuda") is spmm.kernel(65, target=cuda_target()) is kernel
    assert spmm.kernel(65, target={"kind": "cuda", "arch": "sm_80"}) is kernel
    assert [str(target.attrs["arch"]) for target in asked] == ["sm_90", "sm_80"]


@without_device
def test_without_a_gpu_a_call_says_so(kernel: CudaKernel) -> None:
    build_error(lambda: kernel(**device_arguments()), "ST514", "spmm", "cuda_on_cpu")


def test_without_nvcc_a_compilation_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "nvcc_path", lambda: None)
    build_error(lambda: st.compile(spmm.loops(4, target="cuda"), "cuda"), "ST508", "nvcc", "PATH")
    build_error(lambda: device_report(spmm.loops(4, target="cuda")), "ST508", "nvcc")


def test_without_a_cpp_compiler_a_compilation_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "nvcc_path", lambda: "/bin/nvcc")
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    build_error(lambda: st.compile(spmm.loops(4, target="cuda"), "cuda"), "ST508", "C++ compiler")


def test_a_program_that_is_not_bound_to_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "nvcc_path", lambda: "/bin/nvcc")
    build_error(lambda: st.compile(spmm.program(4), "cuda"), "ST515", "none of them bound", "Schedule.bind")


def test_a_loop_that_is_left_to_the_host_is_refused() -> None:
    # it would read and write memory of the GPU from the CPU
    @T.prim_func(s_tir=True)
    def half_bound(
        x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32"), z: T.Buffer((64,), "float32")
    ):
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("bound"):
                v = T.axis.spatial(64, i)
                y[v] = x[v] + T.float32(1)
        for on_host in range(64):
            with T.sblock("unbound"):
                v = T.axis.spatial(64, on_host)
                z[v] = x[v] * T.float32(2)

    for call in (
        compile_for_emulation,
        lambda program: device_source(tvm.IRModule({"main": program}), cuda_target()),
    ):
        build_error(lambda call=call: call(half_bound), "ST515", "on_host")


def test_an_architecture_that_cannot_be_is_refused() -> None:
    target = {"kind": "cuda", "arch": "sm_9"}
    build_error(lambda: st.compile(spmm.program(4), target), "ST503", "'sm_9'", "'sm_90'")


@needs_nvcc
def test_what_nvcc_refuses_is_an_error_with_its_words() -> None:
    build_error(lambda: device_report("__global__ void broken() { nothing; }"), "ST509", "nothing")


@needs_nvcc
def test_a_failed_export_is_an_error() -> None:
    module = spmm.loops(4, target="cuda")
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_10"}, host="llvm")
    build_error(lambda: compile_cuda("spmm", module, spmm.signature(4), target, {}), "ST509", "10")


# ---- reports
@needs_nvcc
@pytest.mark.parametrize(("feat", "dtype"), [(33, "float32"), (64, "float32"), (128, "float64")])
def test_the_default_schedule_spills_no_registers(feat: int, dtype: str) -> None:
    (report,) = device_report(spmm.loops(feat, dtype, target="cuda"))
    assert report.kernel == "spmm_kernel"
    assert report.arch == "sm_90"
    assert not report.is_spilled
    assert report.stack == report.shared == 0
    assert report.registers <= 64


@needs_nvcc
def test_a_kernel_that_needs_too_many_registers_is_reported() -> None:
    body = "float x[64]; for (int i = 0; i < 64; ++i) x[i] = p[i * 7];\n"
    body += (
        "for (int r = 0; r < 9; ++r) for (int i = 0; i < 64; ++i) x[i] = x[i] * x[(i * 5 + 1) % 64] + p[r];\n"
    )
    body += "__shared__ float t[100]; for (int i = 0; i < 64; ++i) t[i] += x[i]; p[0] = t[5];"
    (report,) = device_report(f"__global__ void __launch_bounds__(1024, 2) crowded(float* p) {{ {body} }}")
    assert report.is_spilled
    assert report.shared == 400


def test_the_words_of_the_assembler_are_understood() -> None:
    text = (
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'a_kernel' for 'sm_80'\n"
        "ptxas info    : Function properties for a_kernel\n"
        "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'b_kernel' for 'sm_80'\n"
        "ptxas info    : Function properties for b_kernel\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 18 registers, 380 bytes cmem[0]\n"
    )
    assert nvcc.parse_ptxas(text) == (
        DeviceReport("a_kernel", "sm_80", 40, 8, 12, 16, 2048),
        DeviceReport("b_kernel", "sm_80", 18, 0, 0, 0, 0),
    )


# ---- calls
def test_a_call_completes_sizes_and_hands_arrays_over(opened: tuple[CudaKernel, list[Any]]) -> None:
    kernel, calls = opened
    given = device_arguments()
    kernel(**given)
    assert calls == [(given["A"], given["B"], given["C"], given["indptr"], given["indices"], 5, 4, 7)]


def test_an_empty_result_is_no_launch(opened: tuple[CudaKernel, list[Any]]) -> None:
    kernel, calls = opened
    kernel(**device_arguments(m=0))
    assert calls == []


@pytest.mark.parametrize(
    ("name", "array", "code"),
    [
        ("B", np.ones((4, 64), "float32"), "ST155"),
        ("B", 5, "ST150"),
        ("B", DeviceArray((4, 63), "float32"), "ST151"),
        ("indices", DeviceArray((7,), "torch.int64"), "ST152"),
        ("C", DeviceArray((5, 64), "float32", address=4100), "ST150"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(
    opened: tuple[CudaKernel, list[Any]], name: str, array: Any, code: str
) -> None:
    kernel, calls = opened
    with pytest.raises(errors.DataError) as caught:
        kernel(**{**device_arguments(), name: array})
    assert caught.value.code == code, caught.value
    assert name in str(caught.value)
    assert not calls
