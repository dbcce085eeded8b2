"""`CudaKernel`: a compiled program for a GPU, called with arrays on the GPU."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import tvm
from tvm.target import Target

from .. import errors
from . import cuda_export
from .device_code import device_source
from .kernel import Kernel
from .nvcc import cpp_compiler, has_device, require_nvcc, run_compiler
from .signature import Parameter, Signature, evaluate, extent_text

_DLPACK_CUDA = 2
#: Kernels may use the widest vectors of CUDA, whose addresses must be multiples of this.
_ALIGNMENT = 16
#: For the process that exports: nvcc instead of NVRTC, which needs another package, and IEEE arithmetic.
_EXPORT_ENVIRONMENT = {"TVM_CUDA_COMPILE_MODE": "nvcc", "TVM_CUDA_NVCC_NO_FAST_MATH": "1"}


class CudaKernel(Kernel):
    """A compiled program for a GPU. Make one with `compile`, or `load` a saved one.

    It is called with torch, CuPy or other DLPack arrays on one GPU, row-major, at addresses that are multiples of
    16 (as allocated ones are). Nothing is copied, and the contents of structure arrays are not checked. The call
    returns when the kernel is launched on the current stream.

    Attributes
    ----------
    source : str
        Its CUDA C; empty if it was loaded from a file.
    """

    source: str = ""

    def __init__(
        self, name: str, signature: Signature, library: bytes, metadata: Mapping[str, Any], source: str = ""
    ) -> None:
        self._bytes = library
        self.source = source
        module = _opened(library) if has_device() else None
        entry: Callable[..., Any] = _no_device(name) if module is None else module["main"]
        super().__init__(name, signature, entry, module, metadata)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel; outputs are written in place.

        Raises
        ------
        DataError
            ST150 to ST157 for arguments, ST155 for arrays that are not on a GPU.
        BuildError
            ST514 if there is no GPU here.
        """
        given = self._by_name(args, kwargs)
        for parameter in self.signature.arrays:
            self._check_place(parameter, given[parameter.name])
        scalars = self._scalars(given, {})
        for parameter in self.signature.arrays:
            self._check_form(parameter, given[parameter.name], scalars)
        outputs = [given[p.name] for p in self.signature.arrays if p.is_output]
        if any(0 not in tuple(out.shape) for out in outputs):  # an empty grid cannot be launched
            self.entry(*[{**given, **scalars}[p.name] for p in self.signature.parameters])

    def save(self, path: str | Path) -> Path:
        """Write the kernel to ``path`` and its metadata beside it; returns the path of the library."""
        from .artifact import write_artifact  # it opens what this class holds

        return write_artifact(path, self.metadata, lambda file: file.write_bytes(self._bytes))

    def _check_place(self, parameter: Parameter, array: Any) -> None:
        device = getattr(array, "__dlpack_device__", None)
        if device is None or not hasattr(array, "shape"):
            found = f"{parameter.name} is a {type(array).__name__}"
            raise errors.error("ST150", self.name, found, "an array on a GPU, such as a torch tensor")
        if int(device()[0]) != _DLPACK_CUDA:
            found = f"{parameter.name} is not on a GPU"
            raise errors.error("ST155", self.name, found, "arrays on one GPU", "for example tensor.cuda()")

    def _check_form(self, parameter: Parameter, array: Any, scalars: Mapping[str, Any]) -> None:
        shape = tuple(evaluate(e, scalars) for e in parameter.shape or ())
        if tuple(array.shape) != shape:
            letters = ", ".join(extent_text(e) for e in parameter.shape or ())
            found = f"{parameter.name} has shape {tuple(array.shape)}"
            raise errors.error("ST151", self.name, found, f"shape {shape} ({letters})")
        dtype = str(array.dtype).rpartition(".")[2]
        if dtype != parameter.dtype:
            raise errors.error("ST152", self.name, f"{parameter.name} of dtype {dtype}", parameter.dtype)
        address = _address(array)
        if address % _ALIGNMENT:
            found = f"{parameter.name} at an address that is no multiple of {_ALIGNMENT}"
            raise errors.error(
                "ST150", self.name, found, "an array as allocated", "copy it, for example with clone()"
            )


def compile_cuda(
    name: str, loops: tvm.IRModule, signature: Signature, target: Target, metadata: Mapping[str, Any]
) -> CudaKernel:
    """Compile a module of loops for a GPU, with nvcc, in a process of its own. Needs no driver and no GPU.

    Raises
    ------
    BuildError
        ST508 without nvcc or a C++ compiler, ST509 if nvcc fails, ST515 if no loop is bound to the GPU.
    """
    where = f"st.compile({name}, target='cuda')"
    require_nvcc(where)
    compiler = cpp_compiler(where)
    source = device_source(loops, target)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "kernel.so")
        request = {
            "module": tvm.ir.save_json(loops),
            "target": str(target),
            "compiler": compiler,
            "output": str(output),
        }
        file = Path(folder, "request.json")
        file.write_text(json.dumps(request), encoding="utf-8")
        program = f"import runpy, sys; runpy.run_path({cuda_export.__file__!r}, run_name='__main__')"
        environment = {
            **os.environ,
            **_EXPORT_ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        run_compiler([sys.executable, "-c", program, str(file)], where, environment)
        return CudaKernel(name, signature, output.read_bytes(), metadata, source)


def _opened(library: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:  # once it is open, the file may go
        path = Path(folder, "kernel.so")
        path.write_bytes(library)
        return tvm.runtime.load_module(str(path))


def _no_device(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any) -> NoReturn:
        hint = "sparse_tir.runtime.cuda_on_cpu runs the same CUDA C without one"
        raise errors.error("ST514", name, "TVM finds no CUDA device", "a GPU and its driver", hint)

    return refuse


def _address(array: Any) -> int:
    if hasattr(array, "data_ptr"):
        return int(array.data_ptr())
    interface = getattr(array, "__cuda_array_interface__", None)
    return int(interface["data"][0]) if interface else 0
