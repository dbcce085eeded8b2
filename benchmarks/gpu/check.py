"""Check and time the kernels of this folder on a GPU, against cuSPARSE through PyTorch.

    python check.py                 needs a GPU, its driver, and torch built for CUDA; under two minutes
    python check.py --dry-run       needs neither: small matrices, kernels emulated where sparse_tir is installed

Nothing is installed, and nothing written but the file that --json names.

Method: float32, int32 indices. Times are of CUDA events around one call, after 10 calls for warming up; before each
call a buffer of 256 MiB is zeroed, so that nothing is left in the L2 cache. Medians of 50 calls, and the 20th and 80th
percentile. Both sides get preallocated operands on the GPU; torch.sparse.mm allocates its result from its cache.

Exit status: 0 all results are right, 1 some result is wrong, 2 this machine cannot run the check.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ImportError:
    print("check: this machine cannot run the check: numpy is not installed", file=sys.stderr)
    sys.exit(2)

HERE = Path(__file__).resolve().parent
SCHEMA_VERSION = 1
RIGHT, WRONG, CANNOT_RUN = 0, 1, 2
FLUSH_BYTES = 256 << 20
WARM_UPS, CALLS = 10, 50
#: Rounding of float32 sums, relative to the sum of absolute values: far above what any order of adding gives.
TOLERANCE = 1e-5
#: Name -> (bits of the number of nodes, edges per node, chances of the quarters).
GRAPHS = {
    "rmat-17-8": (17, 8, (0.57, 0.19, 0.19, 0.05)),
    "rmat-14-64": (14, 64, (0.57, 0.19, 0.19, 0.05)),
    "rmat-20-4": (20, 4, (0.45, 0.22, 0.22, 0.11)),
    "uniform-16-16": (16, 16, (0.25, 0.25, 0.25, 0.25)),
}
SMALL_GRAPHS = {"rmat-7-4": (7, 4, (0.57, 0.19, 0.19, 0.05)), "uniform-6-3": (6, 3, (0.25, 0.25, 0.25, 0.25))}


class CannotRunError(Exception):
    """Why this machine cannot run the check."""


@dataclass(frozen=True)
class Csr:
    """A square matrix in compressed rows."""

    n: int
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


@dataclass(frozen=True)
class Times:
    """Of one call, in milliseconds: the median and its spread over many calls."""

    median_ms: float
    p20_ms: float
    p80_ms: float
    calls: int


@dataclass(frozen=True)
class Row:
    """One line of the table. ``error`` is the largest error, relative to the sum of absolute values."""

    graph: str
    nodes: int
    entries: int
    feat: int
    error: float
    is_right: bool
    ours: Times | None
    cusparse: Times | None


def rmat(bits: int, edges_per_node: int, quarters: tuple[float, ...], seed: int = 0) -> Csr:
    """An R-MAT graph (Chakrabarti et al., SDM 2004): each edge falls into one quarter of the matrix, again and again.

    Repeated edges are kept once, so there are somewhat fewer than ``edges_per_node`` per node.
    """
    random = np.random.default_rng(seed)
    n, count = 1 << bits, edges_per_node << bits
    limits = np.cumsum(quarters)[:3]
    rows, columns = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(bits):
        quarter = np.searchsorted(limits, random.random(count, dtype=np.float32), side="right")
        rows, columns = 2 * rows + (quarter >> 1), 2 * columns + (quarter & 1)
    names = random.permutation(n)
    cells = np.unique(names[rows] * n + names[columns])
    rows, columns = np.divmod(cells, n)
    indptr = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    data = random.random(cells.size, dtype=np.float32) - np.float32(0.5)
    return Csr(n, indptr, columns.astype(np.int32), data)


# ---- on a GPU
class GpuRunner:
    """Runs kernels of the bundle and torch.sparse.mm on the GPU."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.torch = import_torch()
        major, minor = self.torch.cuda.get_device_capability()
        if manifest["arch"] != f"sm_{major}{minor}":
            found = f"{self.torch.cuda.get_device_name()} is sm_{major}{minor}"
            raise CannotRunError(
                f"the kernels are for {manifest['arch']}, but {found}: export them with --arch sm_{major}{minor}"
            )
        load_runtime(manifest)
        self.flush = self.torch.empty(FLUSH_BYTES // 4, dtype=self.torch.int32, device="cuda")
        self.device = self.torch.cuda.get_device_name()
        self.versions = {"torch": self.torch.__version__, "cuda": self.torch.version.cuda}

    place = "cuda"

    def run(self, kernel: dict[str, Any], name: str, graph: Csr, x: np.ndarray) -> Row:
        """Checks and times one kernel on one graph."""
        import tvm_ffi

        torch = self.torch
        entry = self.entry(kernel)
        arrays = [torch.from_numpy(a).to(self.place) for a in (graph.data, x, graph.indptr, graph.indices)]
        data, features, indptr, indices = arrays
        out = torch.full((graph.n, x.shape[1]), float("nan"), device=self.place)
        operands = [tvm_ffi.from_dlpack(tensor) for tensor in (data, features, out, indptr, indices)]
        matrix = torch.sparse_csr_tensor(indptr, indices, data, (graph.n, graph.n), check_invariants=True)
        torch.cuda.synchronize()

        def ours() -> None:
            entry(*operands, graph.n, graph.n, graph.indices.size)

        def cusparse() -> None:
            torch.sparse.mm(matrix, features)

        ours()
        error = self._error(matrix, features, out)
        times = self._time(ours), self._time(cusparse)
        return Row(name, graph.n, graph.indices.size, x.shape[1], error, error <= TOLERANCE, *times)

    def entry(self, kernel: dict[str, Any]) -> Callable[..., None]:
        """The compiled function of a kernel."""
        return load_kernel(kernel)

    def _error(self, matrix: Any, features: Any, out: Any) -> float:
        """Against cuSPARSE in float64; the result of the kernel began as NaN, so what it does not write is infinite."""
        torch = self.torch
        exact = torch.sparse.mm(matrix.double(), features.double())
        parts = (matrix.crow_indices(), matrix.col_indices(), matrix.values().double().abs())
        absolute = torch.sparse_csr_tensor(*parts, matrix.shape, check_invariants=True)
        scale = torch.sparse.mm(absolute, features.double().abs())
        difference = (out.double() - exact).abs()
        return float(
            (difference / scale.clamp_min(1e-30)).nan_to_num(nan=float("inf"), posinf=float("inf")).max()
        )

    def _time(self, call: Callable[[], None]) -> Times:
        torch = self.torch
        for _ in range(WARM_UPS):
            call()
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(CALLS)]
        for begin, end in events:
            self.flush.zero_()
            begin.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return times_of([begin.elapsed_time(end) for begin, end in events])


def import_torch() -> Any:
    """PyTorch with a GPU, or `CannotRunError`."""
    try:
        import torch
    except ImportError:
        raise CannotRunError("torch is not installed: pip install torch, or use --dry-run") from None
    if not torch.cuda.is_available():
        built = torch.version.cuda or "no CUDA at all"
        raise CannotRunError(
            f"torch {torch.__version__} (built for {built}) finds no GPU: use --dry-run without one"
        )
    return torch


def load_runtime(manifest: dict[str, Any], is_driver_needed: bool = True) -> None:
    """TVM's runtime and tvm_ffi of this folder; neither TVM itself nor a compiler."""
    os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")  # or tvm_ffi would start a C++ compiler
    if list(sys.version_info[:2]) == manifest["python"]:
        sys.path.insert(0, str(HERE / "runtime"))
    try:
        import tvm_ffi  # noqa: F401
    except ImportError as reason:
        wanted = ".".join(map(str, manifest["python"]))
        version = manifest["versions"]["apache-tvm-ffi"]
        message = f"{reason}; run it with Python {wanted}, or pip install apache-tvm-ffi=={version}"
        raise CannotRunError(message) from None
    stand_in = [] if is_driver_needed else ["libcuda.so.1"]
    for name in (*stand_in, "libcudart.so.13", "libtvm_runtime.so", "libtvm_runtime_cuda.so"):
        path = HERE / "runtime" / ("without_driver" if name in stand_in else "lib") / name
        try:
            library = ctypes.CDLL(str(path if path.exists() else name), ctypes.RTLD_GLOBAL)
        except OSError as reason:
            raise CannotRunError(f"{name} cannot be loaded: {reason}") from None
        if is_driver_needed and "cudart" in name:
            check_driver(library)


def check_driver(cudart: Any) -> None:
    """The driver must be as new as the CUDA runtime that TVM was built with."""
    driver, runtime = ctypes.c_int(), ctypes.c_int()
    cudart.cudaDriverGetVersion(ctypes.byref(driver))
    cudart.cudaRuntimeGetVersion(ctypes.byref(runtime))
    if driver.value // 1000 < runtime.value // 1000:  # of 13000: minor versions are compatible
        message = f"the driver is for CUDA {driver.value // 1000}, TVM's runtime needs one for CUDA"
        raise CannotRunError(f"{message} {runtime.value // 1000}")


def load_kernel(kernel: dict[str, Any]) -> Callable[..., None]:
    """The compiled function of a kernel of the bundle."""
    import tvm_ffi

    path = HERE / "kernels" / f"{kernel['name']}.so"
    if not path.is_file():
        raise CannotRunError(f"{path} is missing: export the bundle again")
    return tvm_ffi.load_module(str(path))["main"]


def load_only() -> int:
    """Loads every kernel without a driver, and sees that it refuses arrays on the CPU; returns the exit status."""
    manifest = read_manifest()
    load_runtime(manifest, is_driver_needed=False)
    for kernel in manifest["kernels"]:
        entry = load_kernel(kernel)
        x, y = np.zeros((1, kernel["feat"]), np.float32), np.zeros((1, kernel["feat"]), np.float32)
        try:
            entry(np.zeros(1, np.float32), x, y, np.zeros(2, np.int32), np.zeros(1, np.int32), 1, 1, 1)
        except ValueError as reason:
            if "cuda" in str(reason):
                continue
            raise
        print(f"{kernel['name']} takes arrays on the CPU: it is no kernel for a GPU", file=sys.stderr)
        return WRONG
    if "tvm" in sys.modules:
        raise CannotRunError("TVM was loaded: the bundle is not complete")
    print(f"{len(manifest['kernels'])} kernels load with the runtime of the bundle alone")
    return RIGHT


def times_of(milliseconds: list[float]) -> Times:
    """Median and spread."""
    p20, median, p80 = np.percentile(milliseconds, [20, 50, 80])
    return Times(float(median), float(p20), float(p80), len(milliseconds))


class DryRunner:
    """Goes the same way without a GPU: kernels are emulated if sparse_tir is here; nothing is timed."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        try:
            from sparse_tir.runtime import cuda_on_cpu
        except ImportError:
            cuda_on_cpu = None
        self.emulator = cuda_on_cpu
        self.device = "none: emulated on the CPU" if cuda_on_cpu else "none: NumPy stands for the kernels"
        self.versions = {"numpy": np.__version__}

    def run(self, kernel: dict[str, Any], name: str, graph: Csr, x: np.ndarray) -> Row:
        """Checks one kernel on one graph."""
        out = self._emulate(kernel, graph, x) if self.emulator else product(graph, x)
        exact = product(graph, x.astype(np.float64))
        absolute = Csr(graph.n, graph.indptr, graph.indices, np.abs(graph.data))
        scale = np.maximum(product(absolute, np.abs(x).astype(np.float64)), 1e-30)
        error = np.nan_to_num(np.abs(out - exact) / scale, nan=np.inf).max()
        is_right = bool(error <= TOLERANCE)
        return Row(name, graph.n, graph.indices.size, x.shape[1], float(error), is_right, None, None)

    def _emulate(self, kernel: dict[str, Any], graph: Csr, x: np.ndarray) -> np.ndarray:
        emulator = self.emulator
        source = (HERE / "kernels" / f"{kernel['name']}.cu").read_text(encoding="utf-8")
        kernels = emulator.kernels_of(source)
        parts = -(-kernel["feat"] // (kernel["vector"] * kernel["lanes"]))
        grid, block = (-(-graph.n // kernel["rows"]), parts, 1), (kernel["lanes"], kernel["rows"], 1)
        arrays = {"A": graph.data, "B": x, "indptr": graph.indptr, "indices": graph.indices}
        arrays |= {"C": np.full((graph.n, x.shape[1]), np.nan, x.dtype), "m": graph.n}
        program = emulator.build_program(source, kernels)
        schedule = emulator.Schedule("random")
        return emulator.execute(program, kernels, [emulator.Launch(0, grid, block)], arrays, schedule)["C"]


def product(graph: Csr, x: np.ndarray) -> np.ndarray:
    """The sparse matrix times x, in the dtype of x."""
    out = np.zeros((graph.n, x.shape[1]), x.dtype)
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    np.add.at(out, rows, graph.data[:, None].astype(x.dtype) * x[graph.indices])
    return out


def read_manifest() -> dict[str, Any]:
    """What the bundle says of itself."""
    path = HERE / "manifest.json"
    if not path.is_file():
        raise CannotRunError(f"{path} is missing: check.py runs in a folder that export.py wrote")
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise CannotRunError(
            f"the bundle is of schema {manifest.get('schema_version')}, this is for {SCHEMA_VERSION}"
        )
    return manifest


def print_row(row: Row) -> None:
    """One line of the table."""

    def text(times: Times | None) -> str:
        return (
            "not timed".rjust(26)
            if times is None
            else f"{times.median_ms:9.4f} [{times.p20_ms:.4f}, {times.p80_ms:.4f}]"
        )

    ratio = f"{row.cusparse.median_ms / row.ours.median_ms:6.2f}" if row.ours and row.cusparse else "     -"
    verdict = "right" if row.is_right else "WRONG"
    head = f"{row.graph:14s} {row.nodes:8d} {row.entries:9d} {row.feat:5d} {row.error:9.1e} {verdict}"
    print(f"{head} {text(row.ours):>28s} {text(row.cusparse):>28s} {ratio}", flush=True)


def check(is_dry: bool, json_path: Path | None) -> int:
    """Runs every kernel on every graph; returns the exit status."""
    began = time.monotonic()
    manifest = read_manifest()
    if is_dry:  # in a process of its own: sparse_tir brings a TVM
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        loaded = subprocess.run([sys.executable, __file__, "--load-only"], env=environment, check=False)
        if loaded.returncode:
            return loaded.returncode
    runner = DryRunner(manifest) if is_dry else GpuRunner(manifest)
    print(f"device: {runner.device}; kernels: {manifest['arch']}, {manifest['versions']}; {runner.versions}")
    print(
        "graph             nodes   entries  feat     error       ours: median [p20, p80] ms   cuSPARSE  ratio"
    )
    rows = []
    for name, parameters in (SMALL_GRAPHS if is_dry else GRAPHS).items():
        graph = rmat(*parameters)
        for kernel in manifest["kernels"]:
            x = np.random.default_rng(1).random((graph.n, kernel["feat"]), dtype=np.float32) - np.float32(0.5)
            rows.append(runner.run(kernel, name, graph, x))
            print_row(rows[-1])
    wrong = sum(not row.is_right for row in rows)
    seconds = time.monotonic() - began
    print(
        f"{len(rows) - wrong} of {len(rows)} results right, {seconds:.0f} s"
        + (", nothing timed" if is_dry else "")
    )
    if json_path is not None:
        described = {
            "device": runner.device,
            "is_dry_run": is_dry,
            "versions": runner.versions,
            "manifest": manifest,
        }
        described |= {"seconds": seconds, "rows": [asdict(row) for row in rows]}
        json_path.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    return WRONG if wrong else RIGHT


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dry-run", action="store_true", help="go the same way without a GPU; times nothing")
    parser.add_argument(
        "--load-only", action="store_true", help="load the kernels, without a driver too, and end"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    options = parser.parse_args(arguments)
    try:
        return load_only() if options.load_only else check(options.dry_run, options.json)
    except CannotRunError as reason:
        print(f"check: this machine cannot run the check: {reason}", file=sys.stderr)
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
