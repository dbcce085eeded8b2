"""Write a folder that a machine with a GPU needs to check and time our CUDA kernels: no TVM, no compiler.

    python benchmarks/gpu/export.py build/gpu-check
    python build/gpu-check/check.py                    # there; or with --dry-run anywhere

The folder holds the compiled kernels, their CUDA C, TVM's runtime, tvm_ffi for this version of Python, and check.py.
Needs nvcc and a C++ compiler, but neither a GPU nor a driver.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import sparse_tir
from sparse_tir._base import WHEELS
from sparse_tir.errors import SparseTIRError
from sparse_tir.ops import spmm, spmm_cuda
from sparse_tir.runtime import CudaKernel, device_report
from sparse_tir.runtime.cuda_export import build_driver_stub
from sparse_tir.runtime.nvcc import cpp_compiler, require_nvcc
from sparse_tir.runtime.target import cuda_target

HERE = Path(__file__).resolve().parent
SCHEMA_VERSION = 1
DTYPE, IDTYPE = "float32", "int32"
TVM_LIBRARIES = ("libtvm_runtime.so", "libtvm_runtime_cuda.so")
#: What libtvm_runtime_cuda.so was linked with; machines with another CUDA do not have it.
CUDART = "libcudart.so.13"
#: Of tvm_ffi, what only compiling and testing need; its module is linked with libtvm_ffi_testing.so, though.
NOT_NEEDED = ("3rdparty", "include", "src", "share", "stub", "testing", "__pycache__")


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to write; what is there is replaced")
    parser.add_argument(
        "--feat", type=int, nargs="+", default=[32, 64, 128], help="feature widths (32 64 128)"
    )
    parser.add_argument("--arch", default="sm_90", help="architecture of the GPU (sm_90)")
    parser.add_argument("--tar", action="store_true", help="write FOLDER.tar.gz too")
    options = parser.parse_args(arguments)
    try:
        write_bundle(options.folder, options.feat, options.arch)
    except SparseTIRError as reason:
        print(f"export: {reason}", file=sys.stderr)
        return 2
    if options.tar:
        print(shutil.make_archive(str(options.folder), "gztar", options.folder.parent, options.folder.name))
    size = sum(file.stat().st_size for file in options.folder.rglob("*") if file.is_file())
    print(f"{options.folder}: {size / 2**20:.1f} MiB; run check.py in it on a machine with a GPU")
    return 0


def write_bundle(folder: Path, widths: list[int], arch: str) -> None:
    """Everything that check.py needs, in ``folder``; what fails leaves an earlier bundle as it was."""
    require_nvcc("export")
    if folder.exists() and any(folder.iterdir()) and not (folder / "manifest.json").is_file():
        raise SystemExit(f"export: {folder} is neither empty nor a bundle; choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary, folder.name)
        _fill(made, widths, arch)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)


def _fill(folder: Path, widths: list[int], arch: str) -> None:
    folder.mkdir()
    kernels = [_write_kernel(folder / "kernels", feat, arch) for feat in widths]
    _copy_runtime(folder / "runtime")
    shutil.copy2(HERE / "check.py", folder / "check.py")
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "arch": arch,
        "python": list(sys.version_info[:2]),
        "versions": {"sparse-tir": sparse_tir.__version__, **WHEELS},
        "kernels": kernels,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _write_kernel(folder: Path, feat: int, arch: str) -> dict[str, Any]:
    """Compiles one kernel; returns its entry of the manifest."""
    kernel = spmm.kernel(feat, DTYPE, IDTYPE, target=cuda_target(arch))
    if not isinstance(kernel, CudaKernel):
        raise TypeError(f"a kernel for a GPU, not {kernel!r}")
    name = f"spmm_{feat}_{DTYPE}_{IDTYPE}"
    kernel.save(folder / f"{name}.so")
    (folder / f"{name}.cu").write_text(kernel.source, encoding="utf-8")
    (report,) = device_report(kernel.source, cuda_target(arch))
    decisions = spmm_cuda.default_decisions(feat, DTYPE)
    print(f"{name}: {report.registers} registers, {report.spill_stores + report.spill_loads} bytes spilled")
    return {
        "name": name,
        "operator": "spmm",
        "feat": feat,
        "dtype": DTYPE,
        "idtype": IDTYPE,
        "parameters": [parameter.name for parameter in kernel.signature.parameters],
        "vector": decisions.vector,
        "lanes": decisions.lanes,
        "rows": decisions.rows,
        "registers": report.registers,
        "spilled_bytes": report.spill_stores + report.spill_loads,
    }


def _copy_runtime(folder: Path) -> None:
    libraries = folder / "lib"
    libraries.mkdir(parents=True)
    for name in TVM_LIBRARIES:
        shutil.copy2(_package("tvm") / "lib" / name, libraries)
    cudart = _cudart()
    if cudart is None:
        print(f"export: {CUDART} is not beside nvcc; the machine with the GPU must have it")
    else:
        shutil.copy2(cudart, libraries / CUDART)
    without_driver = folder / "without_driver"  # for check.py --dry-run
    without_driver.mkdir()
    build_driver_stub(without_driver, cpp_compiler("export"))
    shutil.copytree(_package("tvm_ffi"), folder / "tvm_ffi", ignore=shutil.ignore_patterns(*NOT_NEEDED))
    typing_extensions = importlib.util.find_spec("typing_extensions")
    if typing_extensions is not None and typing_extensions.origin is not None:
        shutil.copy2(typing_extensions.origin, folder)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return Path(spec.origin).parent


def _cudart() -> Path | None:
    toolkit = Path(require_nvcc("export")).resolve().parent.parent
    candidates = [toolkit / "lib64" / CUDART, *sorted(Path("/usr/local").glob(f"cuda*/lib*/{CUDART}"))]
    return next((path for path in candidates if path.exists()), None)


if __name__ == "__main__":
    sys.exit(main())
