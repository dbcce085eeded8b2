"""`compile_for_emulation`: a program scheduled for a GPU, as a kernel that runs on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm.tirx import PrimFunc

from ... import errors
from ...transform import lower
from ..artifact import make_metadata
from ..device_code import DeviceCode, DeviceLaunch, device_code, value_of
from ..kernel import Kernel
from ..signature import Signature, main_function, signature_of
from ..target import resolve_target
from .runner import Launch, Schedule, execute
from .source import CudaKernel, kernels_of
from .toolchain import build_program


class EmulatedKernel(Kernel):
    """A kernel for a GPU that is called like one for the CPU, with arrays on the CPU. It cannot be saved.

    Attributes
    ----------
    code : DeviceCode
        Its CUDA C and its launches.
    schedule : Schedule
        The order of its threads, and how long a call may take.
    """

    code: DeviceCode
    schedule: Schedule

    def reordered(self, fiber_order: str, seed: int = 0) -> EmulatedKernel:
        """The same kernel with its threads in another order; nothing is compiled again."""
        schedule = replace(self.schedule, order=fiber_order, seed=seed)
        return _emulated(self.name, self.signature, self.code, schedule, self.metadata)

    def save(self, path: str | Path) -> NoReturn:
        """Refused: what is emulated is for this process (ST505)."""
        expected = "a kernel from st.compile(.., target='cuda')"
        raise errors.error("ST505", f"save({str(path)!r})", "an emulated kernel", expected)


def compile_for_emulation(
    program: PrimFunc | tvm.IRModule,
    target: Any = "cuda",
    *,
    signature: Signature | None = None,
    fiber_order: str = "forward",
    seed: int = 0,
    timeout_s: float = 60.0,
) -> EmulatedKernel:
    """Compile a program that is scheduled for a GPU so that its CUDA C runs on the CPU.

    The CUDA C is the one that a GPU would get. g++ compiles it with headers that stand for CUDA's, and each call runs
    it in a process of its own: one fiber per thread, with barriers, warp shuffles, shared memory and atomics.

    Parameters
    ----------
    program : PrimFunc or IRModule
        One function whose loops are bound to blockIdx and threadIdx.
    target : str, dict or Target
        Of kind cuda.
    signature : Signature, optional
        What a call checks; see `sparse_tir.compile`.
    fiber_order : {"forward", "reverse", "random"}
        In which order the threads of a block run between two barriers, and the blocks one after another. A result that
        depends on it means a missing barrier.
    seed : int
        Of the random order.
    timeout_s : float
        A call that takes longer is an error.

    Returns
    -------
    EmulatedKernel
        Called like a `Kernel` for the CPU.

    Raises
    ------
    BuildError
        ST503 target, ST508 without g++ or outside of Linux, ST510 for CUDA C that the emulator does not cover, ST515
        if no loop is bound. Of a call: ST511 for an access out of bounds or misaligned, ST512 for a barrier that not
        all threads reach, or no end in time, ST513 for a launch that no device takes.

    Notes
    -----
    Emulation is about correctness, not speed, and not proof: one thread runs at a time, so a missing atomic is not
    seen. Arrays end at an unreadable page; reads just before an array are seen only if they are far enough.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sparse_tir.ops import spmm
    >>> from sparse_tir.runtime.cuda_on_cpu import compile_for_emulation
    >>> kernel = compile_for_emulation(spmm.loops(8, target="cuda"))
    >>> A = sp.random_array((5, 4), density=0.5, format="csr", dtype=np.float32, rng=0)
    >>> X, Y = np.ones((4, 8), "float32"), np.empty((5, 8), "float32")
    >>> kernel(A.data, X, Y, A.indptr, A.indices)
    >>> bool(np.allclose(Y, A @ X))
    True
    """
    resolved = resolve_target(target, ("cuda",))
    module = program if isinstance(program, tvm.IRModule) else tvm.IRModule({"main": program})
    func = main_function(module)
    loops = lower(module, "loop")
    name = str(func.attrs.get("global_symbol", "main"))
    signature = signature_of(func, main_function(loops)) if signature is None else signature
    code = device_code(loops, resolved)
    described = {"kind": "cuda_on_cpu", "mcpu": "", "text": str(resolved)}
    metadata = make_metadata(name, signature, described, {})
    return _emulated(name, signature, code, Schedule(fiber_order, seed, timeout_s), metadata)


def _emulated(
    name: str, signature: Signature, code: DeviceCode, schedule: Schedule, metadata: Any
) -> EmulatedKernel:
    entry = _Entry(signature, code, schedule)
    kernel = EmulatedKernel(name, signature, entry, None, metadata)
    kernel.code, kernel.schedule = code, schedule
    return kernel


class _Entry:
    """What stands for the compiled function: takes the arguments in order, writes outputs in place."""

    def __init__(self, signature: Signature, code: DeviceCode, schedule: Schedule) -> None:
        self._signature = signature
        self._launches = code.launches
        self._schedule = schedule
        self._kernels = kernels_of(code.source)
        self._numbers = {kernel.name: number for number, kernel in enumerate(self._kernels)}
        self._program = build_program(code.source, self._kernels)
        _check_arrays(self._kernels, {p.name for p in signature.arrays})

    def __call__(self, *values: Any) -> None:
        given = {p.name: v for p, v in zip(self._signature.parameters, values, strict=True)}
        scalars = {p.name: given[p.name] for p in self._signature.scalars}
        for launch in self._launches:
            number = self._numbers[launch.kernel]
            arguments = {**given, **_scalar_arguments(self._kernels[number], launch, scalars)}
            planned = Launch(number, *launch.grid_and_block(scalars))
            after = execute(self._program, self._kernels, [planned], arguments, self._schedule)
            for parameter in self._signature.arrays:
                if parameter.is_output and parameter.name in after:
                    _array(given[parameter.name])[...] = after[parameter.name]


def _array(value: Any) -> NDArray[Any]:
    return np.asarray(value)


def _scalar_arguments(kernel: CudaKernel, launch: DeviceLaunch, scalars: dict[str, Any]) -> dict[str, Any]:
    return {kernel.parameters[q].name: value_of(expr, scalars) for q, expr in launch.scalars.items()}


def _check_arrays(kernels: Sequence[CudaKernel], names: set[str]) -> None:
    for kernel in kernels:
        for parameter in kernel.parameters:
            if parameter.is_array and parameter.name not in names:
                found = f"an array {parameter.name} that is no parameter of the program"
                raise errors.error("ST510", f"cuda_on_cpu: {kernel.name}", found, ", ".join(sorted(names)))
