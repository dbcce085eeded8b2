"""What the process that exports CUDA kernels runs, on a file that holds the request. It imports nothing of this package.

It is a process of its own, because TVM reads environment variables for nvcc, and because a machine without a driver
needs a stand-in for ``libcuda.so.1``, which must not stay loaded where other libraries look for the driver.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

#: What libtvm_runtime_cuda.so takes from the driver. Every function answers CUDA_ERROR_NO_DEVICE.
DRIVER_FUNCTIONS = (
    "cuDeviceGetName",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuLaunchKernelEx",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuTensorMapEncodeTiled",
)
_NO_DEVICE = 100
_DRIVER = "libcuda.so.1"


def load_driver(folder: Path, compiler: str) -> None:
    """Loads the driver, or a stand-in made in ``folder`` where there is none."""
    try:
        ctypes.CDLL(_DRIVER, ctypes.RTLD_GLOBAL)
    except OSError:
        ctypes.CDLL(str(build_driver_stub(folder, compiler)), ctypes.RTLD_GLOBAL)


def build_driver_stub(folder: Path, compiler: str) -> Path:
    """A library with the name and the functions of the driver, for machines without one."""
    source = folder / "driver.c"
    lines = [f"int {name}(void) {{ return {_NO_DEVICE}; }}" for name in DRIVER_FUNCTIONS]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    library = folder / _DRIVER
    options = ["-shared", "-fPIC", "-x", "c", f"-Wl,-soname,{_DRIVER}"]
    subprocess.run([compiler, *options, "-o", str(library), str(source)], check=True)
    return library


def main(path: str) -> None:
    """Compiles the module of a request and writes a library that ``tvm_ffi.load_module`` reads."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    load_driver(Path(path).parent, request["compiler"])
    import tvm  # only now: it looks for the driver

    ctypes.CDLL(str(runtime_library()), ctypes.RTLD_GLOBAL)
    target = tvm.target.Target(json.loads(request["target"]), host="llvm")
    module = tvm.ir.load_json(request["module"])
    with target:  # TVM's call of nvcc reads the architecture from here
        tvm.compile(module, target=target).export_library(request["output"])


def runtime_library() -> Path:
    """TVM's runtime for CUDA."""
    import importlib.util

    spec = importlib.util.find_spec("tvm")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("tvm")
    return Path(spec.origin).parent / "lib" / "libtvm_runtime_cuda.so"


if __name__ == "__main__":
    main(sys.argv[-1])
