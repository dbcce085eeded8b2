"""nvcc: where it is, and what it says of a kernel."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvm

from .. import errors
from ..transform import lower
from .device_code import device_source
from .target import resolve_target

_TIMEOUT_S = 600
_LONGEST_MESSAGE = 3000
_ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)' for '(?P<arch>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)
_SHARED = re.compile(r"(\d+) bytes smem")
#: Those of TVM, so that the report is about the code that a kernel holds.
_NVCC_FLAGS = ("-O3", "-cubin", "-w", "--ptxas-options=-v,--register-usage-level=10")


@dataclass(frozen=True)
class DeviceReport:
    """What one kernel needs of a GPU, as the assembler (``ptxas -v``) counts it.

    Attributes
    ----------
    kernel, arch
        Name and architecture.
    registers
        Of each thread.
    spill_stores, spill_loads
        Bytes that did not fit into registers, written to and read from memory, per thread.
    stack
        Bytes of local arrays that are not in registers, per thread.
    shared
        Bytes of static shared memory of a block.
    """

    kernel: str
    arch: str
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int

    @property
    def is_spilled(self) -> bool:
        """Whether registers were not enough."""
        return bool(self.spill_stores or self.spill_loads)


def nvcc_path() -> str | None:
    """Where nvcc is, if it is on the search path."""
    return shutil.which("nvcc")


def require_nvcc(where: str) -> str:
    """Where nvcc is (ST508)."""
    found = nvcc_path()
    if found is None:
        hint = "install the CUDA toolkit and put its bin folder on PATH; a driver is not needed"
        raise errors.error("ST508", where, "no nvcc on the search path", "nvcc", hint)
    return found


def cpp_compiler(where: str) -> str:
    """Where the C++ compiler is, which links what nvcc made (ST508)."""
    found = shutil.which("g++") or shutil.which("c++")
    if found is None:
        raise errors.error("ST508", where, "no C++ compiler on the search path", "g++ or c++, for linking")
    return found


def device_report(program: Any, target: Any = "cuda") -> tuple[DeviceReport, ...]:
    """Assemble the kernels of a program, and report registers, spills and shared memory of each.

    Parameters
    ----------
    program : IRModule, PrimFunc or str
        Loops bound to a GPU, at any stage from scheduling on, or CUDA C.
    target : str, dict or Target
        Of kind cuda.

    Returns
    -------
    tuple of DeviceReport
        One per kernel, in the order of the source.

    Raises
    ------
    BuildError
        ST508 without nvcc, ST509 if it refuses the source, ST515 if no loop is bound.
    """
    resolved = resolve_target(target, ("cuda",))
    nvcc = require_nvcc("device_report")
    source = program if isinstance(program, str) else device_source(lower(program, "loop"), resolved)
    arch = str(resolved.attrs["arch"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(source, encoding="utf-8")
        command = [nvcc, f"-arch={arch}", *_NVCC_FLAGS, "-o", f"{folder}/kernel.cubin", str(file)]
        return parse_ptxas(run_compiler(command, "device_report"))


def parse_ptxas(text: str) -> tuple[DeviceReport, ...]:
    """The report of each entry function in the output of ``ptxas -v``."""
    reports = []
    for match in _ENTRY.finditer(text):
        shared = _SHARED.search(match["rest"])
        reports.append(
            DeviceReport(
                kernel=match["name"],
                arch=match["arch"],
                registers=int(match["registers"]),
                spill_stores=int(match["stores"]),
                spill_loads=int(match["loads"]),
                stack=int(match["stack"]),
                shared=int(shared[1]) if shared else 0,
            )
        )
    return tuple(reports)


def run_compiler(command: list[str], where: str, env: dict[str, str] | None = None) -> str:
    """Runs a compiler; returns what it says on the standard error output (ST509 if it fails)."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise errors.error(
            "ST509", where, f"{type(reason).__name__}: {reason}", "a compiler that ends"
        ) from reason
    if done.returncode:
        found = (done.stderr or done.stdout).strip()[-_LONGEST_MESSAGE:]
        raise errors.error("ST509", where, found, "CUDA C that nvcc takes")
    return done.stderr


def has_device() -> bool:
    """Whether TVM can reach a CUDA device in this process."""
    return bool(tvm.cuda(0).exist) if tvm.get_global_func("device_api.cuda", allow_missing=True) else False
