"""The emulator of CUDA C: what it computes, and what it notices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_sources import kernel, nan, run, shift
from numpy.typing import NDArray
from tvm.script import tirx as T

from sparse_tir import errors
from sparse_tir.runtime.cuda_on_cpu import FIBER_ORDERS, compile_for_emulation, toolchain

DATA = np.arange(64, dtype="float32")
SEEDS = range(4)


def shifted(body: str, order: str, seed: int = 0) -> NDArray[Any]:
    return run(shift(body), {"in": DATA, "out": nan(64)}, order=order, seed=seed)["out"]


def refused(code: str, source: str, arguments: dict[str, Any], *mentions: str, **options: Any) -> None:
    with pytest.raises(errors.BuildError) as caught:
        run(source, arguments, **options)
    assert caught.value.code == code, caught.value
    for mention in mentions:
        assert mention in str(caught.value)


# ---- order of threads
@pytest.mark.parametrize("order", FIBER_ORDERS)
def test_a_barrier_makes_every_order_right(order: str) -> None:
    np.testing.assert_array_equal(shifted("__syncthreads();", order), np.roll(DATA, 1))


def test_a_missing_barrier_gives_other_results_under_other_orders() -> None:
    # in thread order every thread reads what an earlier one wrote, so this one looks right
    racy = "if (threadIdx.x == 0) tile[63] = in_ptr[63];"
    np.testing.assert_array_equal(shifted(racy, "forward"), np.roll(DATA, 1))
    assert np.isnan(shifted(racy, "reverse")).any()
    assert all(np.isnan(shifted(racy, "random", seed)).any() for seed in SEEDS)


def test_a_seed_names_one_order() -> None:
    first, again, other = (shifted("", "random", seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


def test_blocks_run_in_the_order_too() -> None:
    source = kernel("out_ptr[0] = blockIdx.x;", "float* __restrict__ out_ptr")
    last = {
        order: run(source, {"out": nan(1)}, grid=(5, 1, 1), order=order)["out"][0] for order in FIBER_ORDERS
    }
    assert last["forward"] == 4
    assert last["reverse"] == 0


def test_shared_memory_starts_undefined_in_every_block() -> None:
    body = "__shared__ float x[1]; out_ptr[blockIdx.x] = x[0]; x[0] = 1;"
    out = run(
        kernel(body, "float* out_ptr"), {"out": np.zeros(3, "float32")}, grid=(3, 1, 1), block=(1, 1, 1)
    )["out"]
    assert np.isnan(out).all()


# ---- what threads do together
SHUFFLES = kernel(
    "int lane = threadIdx.x % 32;\n"
    "out_ptr[threadIdx.x] = __shfl_sync(0xffffffff, lane, 3);\n"
    "out_ptr[64 + threadIdx.x] = __shfl_down_sync(0xffffffff, lane, 8);\n"
    "out_ptr[128 + threadIdx.x] = __shfl_up_sync(0xffffffff, lane, 5);\n"
    "out_ptr[192 + threadIdx.x] = __shfl_xor_sync(0xffffffff, lane, 1);\n"
    "out_ptr[256 + threadIdx.x] = __shfl_sync(0xffffffff, lane, 1, 8);\n"
    "out_ptr[320 + threadIdx.x] = __ballot_sync(0xffffffff, lane < 4);\n"
    "out_ptr[384 + threadIdx.x] = __any_sync(~0u, lane == 40) + 2 * __all_sync(~0u, lane < 32);",
    "int* __restrict__ out_ptr",
)


@pytest.mark.parametrize("order", FIBER_ORDERS)
def test_shuffles_and_votes_move_what_a_warp_would(order: str) -> None:
    out = run(SHUFFLES, {"out": np.zeros(448, "int32")}, order=order)["out"].reshape(7, 2, 32)
    lane = np.arange(32)
    expected = [
        np.full(32, 3),
        np.where(lane + 8 < 32, lane + 8, lane),
        np.where(lane >= 5, lane - 5, lane),
        lane ^ 1,
        lane // 8 * 8 + 1,
        np.full(32, 15),
        np.full(32, 2),
    ]
    for warp in range(2):
        np.testing.assert_array_equal(out[:, warp], expected)


def test_a_shuffle_among_the_threads_that_are_left() -> None:
    body = "if (threadIdx.x >= 20) return;\n"
    body += "out_ptr[threadIdx.x] = __shfl_down_sync(__activemask(), 1.0f + threadIdx.x, 1);"
    out = run(kernel(body, "float* out_ptr"), {"out": nan(20)}, order="reverse")["out"]
    np.testing.assert_array_equal(out[:19], np.arange(2, 21))
    assert np.isnan(out[19])  # undefined on a device


@pytest.mark.parametrize("order", FIBER_ORDERS)
def test_atomics_add_up(order: str) -> None:
    body = (
        "atomicAdd(&sum_ptr[threadIdx.x % 3], 1.0f); atomicMax(&most_ptr[0], (int)(threadIdx.x * 7 % 64));\n"
        "atomicMin(&most_ptr[1], -(int)threadIdx.x); atomicCAS(&most_ptr[2], 0, 5); atomicExch(&most_ptr[3], 9);"
    )
    after = run(
        kernel(body, "float* sum_ptr, int* most_ptr"),
        {"sum": np.zeros(3, "float32"), "most": np.zeros(4, "int32")},
        grid=(2, 1, 1),
        order=order,
    )
    assert after["sum"].tolist() == [44, 42, 42]
    assert after["most"].tolist() == [63, -63, 5, 9]


def test_indices_of_threads_and_blocks_in_three_dimensions() -> None:
    body = (
        "int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
        "int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
        "out_ptr[b * 24 + t] += b * 100 + t;"
    )
    out = run(
        kernel(body, "int* out_ptr"), {"out": np.zeros(24 * 12, "int32")}, grid=(2, 3, 2), block=(4, 3, 2)
    )
    np.testing.assert_array_equal(out["out"], (np.arange(12)[:, None] * 100 + np.arange(24)).ravel())


# ---- types
def test_vectors_scalars_and_doubles() -> None:
    body = (
        "float4 v = *(float4*)(x_ptr + threadIdx.x * 4);\n"
        "*(float2*)(y_ptr + threadIdx.x * 2) = make_float2(v.x + v.w, scale * (v.y + v.z));\n"
        "z_ptr[threadIdx.x] = (double)v.x / 3.0 + big;"
    )
    source = kernel(
        body, "float* __restrict__ x_ptr, float* __restrict__ y_ptr, double* z_ptr, float scale, int64_t big"
    )
    x = np.arange(12, dtype="float32")
    given = {"x": x, "y": nan(6), "z": np.zeros(3), "scale": 0.5, "big": 2**40}
    after = run(source, given, block=(3, 1, 1))
    a, b, c, d = x.reshape(3, 4).T
    np.testing.assert_array_equal(after["y"].reshape(3, 2), np.stack([a + d, 0.5 * (b + c)], 1))
    np.testing.assert_array_equal(after["z"], a.astype("float64") / 3 + 2**40)


MMA = """#include <mma.h>
extern "C" __global__ void __launch_bounds__(32) tile(half* a_ptr, half* b_ptr, float* c_ptr) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::col_major> b;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
  nvcuda::wmma::fill_fragment(c, 1.0f);
  nvcuda::wmma::load_matrix_sync(a, a_ptr, 16);
  nvcuda::wmma::load_matrix_sync(b, b_ptr, 16);
  nvcuda::wmma::mma_sync(c, a, b, c);
  nvcuda::wmma::store_matrix_sync(c_ptr, c, 16, nvcuda::wmma::mem_row_major);
}
"""


def test_a_tile_on_tensor_cores() -> None:
    a, b = np.random.default_rng(0).integers(-4, 5, (2, 16, 16)).astype("float16")
    c = run(MMA, {"a": a, "b": b, "c": nan(16, 16)}, block=(32, 1, 1), order="random")["c"]
    np.testing.assert_array_equal(c, a.astype("float32") @ b.T.astype("float32") + 1)


# ---- what must not pass
#: What thread 63 (or every thread) does -> what the message says. One kernel does what it is told, to compile once.
ACCESSES: dict[str, list[str]] = {
    "out_ptr[64] = 1;": ["out at element 64", "elements 0 to 63"],
    "out_ptr[threadIdx.x] = in_ptr[64];": ["in at element 64"],
    "out_ptr[1 << 20] = 1;": [f"out at element {1 << 20}"],
    "out_ptr[-3] = 1;": ["beside out, at element -3"],
    "out_ptr[-5000] = 1;": ["out at element -5000"],
    "tile[threadIdx.x + 1] = 0;": ["'float [64]' at index 64", "thread (63, 0, 0)"],
    "*(float4*)(out_ptr + 1) = make_float4(1, 2, 3, 4);": ["misaligned", "float4"],
    "*(float*)(1234 * (threadIdx.x + 1) & -4) = 1;": ["outside of all arrays"],
    "tile[0] = 700 / (int)threadIdx.x;": ["division by zero", "thread (0, 0, 0)"],
}


@pytest.mark.parametrize("which", range(len(ACCESSES)), ids=list(ACCESSES))
def test_an_access_that_is_not_allowed_names_kernel_array_and_element(which: int) -> None:
    branches = "".join(f"if (which == {q}) {{ {text} }}\n" for q, text in enumerate(ACCESSES))
    source = shift(branches).replace("out_ptr) {", "out_ptr, int which) {")
    np.testing.assert_array_equal(
        run(source, {"in": DATA, "out": nan(64), "which": -1}, order="forward")["out"][1:], DATA[:-1]
    )
    given = {"in": DATA, "out": nan(64), "which": which}
    refused("ST511", source, given, "shift", *list(ACCESSES.values())[which])


def test_a_thread_beyond_an_odd_array_is_seen() -> None:
    # 5 elements are no multiple of 16 bytes: the guard still begins right behind them
    source = kernel("out_ptr[threadIdx.x] = 1;", "float* out_ptr")
    refused("ST511", source, {"out": nan(5)}, "tested", "element 5", "thread (5, 0, 0)")
    refused("ST511", source, {"out": nan(0)}, "tested", "element 0", "out is empty")


def test_a_barrier_that_not_all_threads_reach_is_a_deadlock() -> None:
    source = shift("if (threadIdx.x < 16) __syncthreads(); else __syncwarp();")
    refused("ST512", source, {"in": DATA, "out": nan(64)}, "shift", "threads wait")


def test_a_kernel_that_does_not_end_is_stopped() -> None:
    source = shift("while (in_ptr[0] == 0) out_ptr[0] += 1;")
    refused("ST512", source, {"in": DATA, "out": nan(64)}, "shift", "still running", timeout_s=0.5)


def test_recursion_into_the_end_of_the_stack_is_an_error() -> None:
    source = "static int deep(int n) { volatile char x[5000]; x[n % 5000] = n; return n ? deep(n - 1) + x[1] : 0; }\n"
    source += kernel("out_ptr[0] = deep(100);", "int* out_ptr")
    refused("ST511", source, {"out": np.zeros(1, "int32")}, "stack")


@pytest.mark.parametrize(
    ("grid", "block", "mention"),
    [
        ((1, 1, 1), (1025, 1, 1), "1025 threads"),
        ((0, 1, 1), (64, 1, 1), "0 blocks along x"),
        ((1, 65536, 1), (64, 1, 1), "65536 blocks along y"),
    ],
)
def test_a_launch_that_no_device_takes_is_refused(grid: Any, block: Any, mention: str) -> None:
    refused("ST513", shift(""), {"in": DATA, "out": nan(64)}, "shift", mention, grid=grid, block=block)


def test_an_unknown_order_is_refused() -> None:
    refused(
        "ST513",
        shift(""),
        {"in": DATA, "out": nan(64)},
        "'sideways'",
        "forward, reverse, random",
        order="sideways",
    )


@pytest.mark.parametrize(
    ("source", "mention"),
    [
        ("int no_kernel;", "without kernels"),
        (kernel("", "struct x value"), "struct x"),
        (kernel("__nanosleep(1);", "float* out_ptr"), "__nanosleep"),
    ],
)
def test_a_source_that_is_not_covered_is_refused(source: str, mention: str) -> None:
    refused("ST510", source, {"out": nan(1)}, mention)


def test_without_a_compiler_the_emulator_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain.compiler.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(toolchain.shutil, "which", lambda *_: None)
        refused("ST508", shift(""), {"in": DATA, "out": nan(64)}, "no g++")
    toolchain.compiler.cache_clear()


def test_a_program_without_an_array_parameter_for_a_kernel_is_refused() -> None:
    # a buffer between two kernels lives on the device only: nobody could hand it over
    @T.prim_func(s_tir=True)
    def twice(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
        between = T.sblock_alloc_buffer((64,), "float32")
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("first"):
                v = T.axis.spatial(64, i)
                between[v] = x[v] + T.float32(1)
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("second"):
                v = T.axis.spatial(64, i)
                y[v] = between[v] * T.float32(2)

    with pytest.raises(errors.BuildError, match=r"ST510.*\n.*an array between"):
        compile_for_emulation(twice)


def test_two_kernels_of_a_program_run_one_after_another() -> None:
    @T.prim_func(s_tir=True)
    def twice(x: T.Buffer((64,), "float32"), z: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("first"):
                v = T.axis.spatial(64, i)
                z[v] = x[v] + T.float32(1)
        for i in T.thread_binding(64, thread="blockIdx.x"):
            with T.sblock("second"):
                v = T.axis.spatial(64, i)
                y[v] = z[63 - v] * T.float32(2)

    kernel = compile_for_emulation(twice)
    assert [launch.grid_and_block({}) for launch in kernel.code.launches] == [
        ((1, 1, 1), (64, 1, 1)),
        ((64, 1, 1), (1, 1, 1)),
    ]
    y, z = nan(64), nan(64)
    kernel(x=DATA, z=z, y=y)
    np.testing.assert_array_equal(z, DATA + 1)
    np.testing.assert_array_equal(y, (DATA[::-1] + 1) * 2)
