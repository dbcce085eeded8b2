"""From CUDA C to a program for the CPU: g++, the shim, and a cache of what was compiled."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs

from ... import errors
from .source import CudaKernel, glue

SHIM = Path(__file__).with_name("shim")
_RUNTIME = ("scheduler.cc", "main.cc")
_WHERE = "cuda_on_cpu"
_TIMEOUT_S = 300
_LONGEST_MESSAGE = 3000

#: Kernels are checked in their accesses; -fno-strict-aliasing because CUDA C casts pointers to vectors freely.
_KERNEL_FLAGS = ("-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-fsanitize=bounds,alignment")
_RUNTIME_FLAGS = ("-O1", "-Wall")
#: From this version on g++ fills uninitialised locals with a conspicuous value, and knows _Float16.
_FILLS_LOCALS = 12


@functools.cache
def compiler() -> tuple[str, str]:
    """The path of g++ and its version.

    Raises
    ------
    BuildError
        ST508 if there is none, or this is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise errors.error("ST508", _WHERE, platform.system(), "Linux")
    path = shutil.which(os.environ.get("CXX", "") or "g++") or shutil.which("g++")
    if path is None:
        raise errors.error("ST508", _WHERE, "no g++ on the search path", "g++", "install a C++ compiler")
    version = subprocess.run([path, "-dumpfullversion"], capture_output=True, text=True, check=False)
    return path, version.stdout.strip()


def build_program(source: str, kernels: tuple[CudaKernel, ...]) -> Path:
    """The program that runs the kernels of a source; compiled once for each text.

    Raises
    ------
    BuildError
        ST508 without g++, ST510 for a source that the shim does not cover.
    """
    text = f'#include "cuda_shim.h"\n{source}\n{glue(kernels)}'
    folder = _cache_folder()
    program = folder / f"{_digest(text)}.exe"
    if not program.exists():
        runtime = [_runtime_object(folder, name) for name in _RUNTIME]
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary, "kernel.cc")
            file.write_text(text, encoding="utf-8")
            compiled = Path(temporary, "kernel.o")
            _compile(file, compiled, _kernel_flags())
            # linked without -fsanitize: main.cc is what the checks call
            _run([compiler()[0], str(compiled), *map(str, runtime), "-o", f"{temporary}/program"], file)
            _publish(Path(temporary, "program"), program)
    return program


def _kernel_flags() -> tuple[str, ...]:
    has_filling = int(compiler()[1].split(".")[0] or 0) >= _FILLS_LOCALS
    return (*_KERNEL_FLAGS, *(["-ftrivial-auto-var-init=pattern"] if has_filling else []))


def _runtime_object(folder: Path, name: str) -> Path:
    file = SHIM / name
    found = folder / f"{_digest(file.read_text(encoding='utf-8'))}.o"
    if not found.exists():
        with tempfile.TemporaryDirectory() as temporary:
            compiled = Path(temporary, "runtime.o")
            _compile(file, compiled, _RUNTIME_FLAGS)
            _publish(compiled, found)
    return found


def _compile(file: Path, output: Path, flags: tuple[str, ...]) -> None:
    _run(
        [compiler()[0], "-std=c++17", *flags, "-I", str(SHIM), "-c", str(file), "-o", str(output)],
        file,
    )


def _run(command: list[str], file: Path) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise errors.error("ST508", _WHERE, f"{command[0]}: {reason}", "g++ that compiles") from reason
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        found = "\n".join(lines or done.stderr.splitlines())[:_LONGEST_MESSAGE]
        hint = "cuda_shim.h says what the emulator covers"
        raise errors.error("ST510", f"{_WHERE}: {file.name}", found, "CUDA C that the shim covers", hint)


def _publish(made: Path, place: Path) -> None:
    """Moves a file into the cache in one step, so that nobody sees half of it."""
    handle, beside = tempfile.mkstemp(dir=place.parent)
    os.close(handle)
    shutil.copy2(made, beside)
    os.replace(beside, place)


def _cache_folder() -> Path:
    folder = Path(platformdirs.user_cache_dir("sparse_tir")) / "cuda_on_cpu"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise errors.error("ST508", _WHERE, f"{folder}: {reason}", "a cache folder to write to") from reason
    return folder


@functools.cache
def _shim_text() -> str:
    return "".join(file.read_text(encoding="utf-8") for file in sorted(SHIM.iterdir()))


def _digest(text: str) -> str:
    parts = (*compiler(), " ".join(_kernel_flags()), " ".join(_RUNTIME_FLAGS), _shim_text(), text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
