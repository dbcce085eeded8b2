"""Running kernels in a process of their own, and what its reports mean."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import errors
from .memory import GuardedArray
from .source import CudaKernel, scalar_bits

#: Orders in which the threads of a block run between two barriers, and the blocks of a grid.
FIBER_ORDERS = ("forward", "reverse", "random")
_MOST_THREADS = 1024
_MOST_BLOCKS = (2**31 - 1, 65535, 65535)
_REPORT_FIELDS = 5


@dataclass(frozen=True)
class Launch:
    """One launch: the number of a kernel, and its extents as (x, y, z)."""

    kernel: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True)
class Schedule:
    """How fibers are ordered, and how long they may take."""

    order: str = "forward"
    seed: int = 0
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if self.order not in FIBER_ORDERS:
            known = ", ".join(FIBER_ORDERS)
            raise errors.error(
                "ST513", "cuda_on_cpu: fiber_order", repr(self.order), known, "pass one of them"
            )


def execute(
    program: Path,
    kernels: Sequence[CudaKernel],
    launches: Sequence[Launch],
    arguments: Mapping[str, Any],
    schedule: Schedule,
) -> dict[str, NDArray[Any]]:
    """Run launches one after another.

    Parameters
    ----------
    program
        From `build_program`.
    kernels
        What it holds.
    launches
        In order; one after another they see the same arrays.
    arguments
        Parameter name -> array or number.
    schedule
        Fiber order, seed and time limit.

    Returns
    -------
    dict
        Array name -> contents afterwards.

    Raises
    ------
    BuildError
        ST511 for an access out of bounds or misaligned, ST512 for a kernel that does not end, ST513 for a launch that
        no device takes.
    """
    for launch in launches:
        check_launch(kernels[launch.kernel].name, launch)
    alignments: dict[str, int] = {}
    for launch in launches:
        for p in kernels[launch.kernel].parameters:
            if p.is_array:
                alignments[p.name] = max(p.alignment, alignments.get(p.name, 1))
    with ExitStack() as stack:
        arrays: dict[str, GuardedArray] = {}
        for name, alignment in alignments.items():
            arrays[name] = GuardedArray(np.ascontiguousarray(arguments[name]), alignment)
            stack.callback(arrays[name].close)
        plan = _plan(kernels, launches, arguments, arrays, schedule)
        names = [kernels[launch.kernel].name for launch in launches]
        _run(program, plan, arrays, schedule, ", ".join(dict.fromkeys(names)))
        return {name: array.view for name, array in arrays.items()}


def check_launch(name: str, launch: Launch) -> None:
    """Refuses what the driver would refuse (ST513)."""
    threads = int(np.prod(launch.block))
    if not 1 <= threads <= _MOST_THREADS:
        raise errors.error(
            "ST513", f"cuda_on_cpu: {name}", f"{threads} threads per block", f"1 to {_MOST_THREADS}"
        )
    for letter, blocks, most in zip("xyz", launch.grid, _MOST_BLOCKS, strict=True):
        if not 1 <= blocks <= most:
            found = f"{blocks} blocks along {letter}"
            raise errors.error("ST513", f"cuda_on_cpu: {name}", found, f"1 to {most}")


def _plan(
    kernels: Sequence[CudaKernel],
    launches: Sequence[Launch],
    arguments: Mapping[str, Any],
    arrays: Mapping[str, GuardedArray],
    schedule: Schedule,
) -> str:
    numbers = {name: number for number, name in enumerate(arrays)}
    lines = [f"order {schedule.order} {schedule.seed}"]
    lines += [f"array {a.fd} {a.room} {a.offset} {a.view.nbytes}" for a in arrays.values()]
    for launch in launches:
        parameters = kernels[launch.kernel].parameters
        values = [
            f"a {numbers[p.name]}" if p.is_array else f"s {scalar_bits(p.ctype, arguments[p.name])}"
            for p in parameters
        ]
        extents = " ".join(map(str, (*launch.grid, *launch.block)))
        lines.append(f"launch {launch.kernel} {extents} {len(parameters)} {' '.join(values)}")
    return "\n".join(lines) + "\n"


def _run(
    program: Path, plan: str, arrays: Mapping[str, GuardedArray], schedule: Schedule, names: str
) -> None:
    fds = tuple(array.fd for array in arrays.values())
    try:
        done = subprocess.run(
            [str(program)],
            input=plan,
            capture_output=True,
            text=True,
            pass_fds=fds,
            timeout=schedule.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as reason:
        found = f"still running after {schedule.timeout_s:g} s"
        raise errors.error("ST512", f"cuda_on_cpu: {names}", found, "a kernel that ends") from reason
    if done.returncode:
        raise _failure(done.stdout, done.returncode, arrays, names)
    for name, array in arrays.items():
        place = array.stray_write()
        if place is not None:
            found = f"a write beside {name}, at {_element(array, place)}"
            raise errors.error("ST511", f"cuda_on_cpu: {names}", found, _extent(name, array))


def _failure(
    report: str, returncode: int, arrays: Mapping[str, GuardedArray], names: str
) -> errors.SparseTIRError:
    """The error that the last line of the emulator's output stands for."""
    lines = report.splitlines()
    fields = lines[-1].split("\t") if lines else []
    if len(fields) != _REPORT_FIELDS:
        found = f"the emulator ended with status {returncode}"
        return errors.error("ST511", f"cuda_on_cpu: {names}", found, "a kernel that ends normally")
    kind, detail, kernel, block, thread = fields
    where = f"cuda_on_cpu: {kernel or names}, block {block}, thread {thread}"
    if kind == "outside":
        number, place = map(int, detail.split())
        name = list(arrays)[number]
        found = f"an access to {name} at {_element(arrays[name], place)}"
        return errors.error("ST511", where, found, _extent(name, arrays[name]))
    if kind == "deadlock":
        hint = "all threads of a block must reach each __syncthreads, all lanes of a warp each shuffle"
        return errors.error(
            "ST512", where, f"{detail} threads wait at barriers", "barriers that all reach", hint
        )
    code, found, expected = {
        "bounds": ("ST511", f"a local or shared array {detail}", "an index inside of it"),
        "misaligned": ("ST511", f"a misaligned access: {detail}", "an address that suits the type"),
        "fault": ("ST511", f"an access at address {detail}, outside of all arrays", "the arrays"),
        "stack": ("ST511", "a stack that overflows", "less than 192 KiB of local arrays"),
        "divide": ("ST511", "an integer division by zero", "a divisor other than 0"),
    }.get(kind, ("ST513", re.sub(r"\s+", " ", detail), "a plan that the emulator can run"))
    return errors.error(code, where, found, expected)


def _element(array: GuardedArray, place: int) -> str:
    return f"element {place // array.view.itemsize}" if array.view.itemsize else f"byte {place}"


def _extent(name: str, array: GuardedArray) -> str:
    return f"elements 0 to {array.view.size - 1} of {name}" if array.view.size else f"none: {name} is empty"
