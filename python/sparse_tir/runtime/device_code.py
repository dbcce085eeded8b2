"""The CUDA part of a program: source text and launches, as TVM's own pipeline makes them. Needs no GPU and no driver."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm.ir import Call, Expr, Var
from tvm.sym import Analyzer
from tvm.target import Target
from tvm.tirx import For, ForKind, PrimFunc
from tvm.tirx.build import codegen_build, split_host_device_mods
from tvm_ffi import structural_walk

from .. import errors
from .signature import main_function

_LAUNCH = "tirx.call_ffi_kernel"
_COMPILE = "tvm_callback_cuda_compile"
_LOCK = threading.Lock()  # a function of TVM's registry is replaced for a moment
_TAGS = tuple(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz")


@dataclass(frozen=True)
class DeviceLaunch:
    """One launch of the host function.

    Attributes
    ----------
    kernel
        Name of the kernel.
    scalars
        Position among the parameters of the kernel -> what the host passes there, for those that are no arrays.
    extents
        Tag such as ``"blockIdx.x"`` -> extent; tags that are missing have extent 1.
    """

    kernel: str
    scalars: Mapping[int, Expr]
    extents: Mapping[str, Expr]

    def grid_and_block(self, values: Mapping[str, int]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The extents for values of the scalar parameters."""
        sizes = [value_of(self.extents[tag], values) if tag in self.extents else 1 for tag in _TAGS]
        return (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])


@dataclass(frozen=True)
class DeviceCode:
    """CUDA C, and what the host does with it."""

    source: str
    launches: tuple[DeviceLaunch, ...]


def device_code(module: tvm.IRModule, target: Target) -> DeviceCode:
    """Generate the CUDA C of a module of loops, and read the launches off the host function.

    Raises
    ------
    BuildError
        ST515 if a loop is not on the GPU, ST510 for launches that need more than extents and scalars.
    """
    source, host = _generate(module, target)
    return DeviceCode(source, _launches(host))


def device_source(module: tvm.IRModule, target: Target) -> str:
    """Generate the CUDA C of a module of loops (ST515 if a loop is not on the GPU)."""
    return _generate(module, target)[0]


def _generate(module: tvm.IRModule, target: Target) -> tuple[str, PrimFunc]:
    """CUDA C and the host function that launches its kernels."""
    check_is_bound(module)
    pipeline, _, finalize = tvm.tirx.get_default_tir_pipeline(target)
    with target:
        split = pipeline(tvm.tirx.transform.BindTarget(target)(module))
    host, devices = split_host_device_mods(split)
    function = main_function(host)
    loops: list[For] = []
    structural_walk(function.body, (For, loops.append))
    if loops:
        names = ", ".join(loop.loop_var.name for loop in loops)
        raise errors.error("ST515", "target cuda", f"loops {names} on the host", "loops inside of kernels")
    ((device_target, device),) = devices.items()
    with target, _LOCK, _without_compiling():
        built = codegen_build(finalize()(device), device_target)
    return str(built.inspect_source()), function


def check_is_bound(module: tvm.IRModule) -> None:
    """Refuses a program that TVM would not run on the GPU (ST515)."""
    loops: list[For] = []
    structural_walk(main_function(module).body, (For, loops.append))
    if not any(loop.kind == ForKind.THREAD_BINDING for loop in loops):
        found = f"{len(loops)} loops, none of them bound"
        hint = "bind loops with Schedule.bind(loop, 'blockIdx.x') before lowering"
        raise errors.error("ST515", "target cuda", found, "loops bound to blockIdx and threadIdx", hint)


def value_of(expr: Expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression of the host."""
    if isinstance(expr, Var) and expr.name in values:
        return values[expr.name]
    if isinstance(expr, tvm.tirx.IntImm | tvm.tirx.FloatImm):
        return expr.value
    analyzer = Analyzer()
    variables: list[Var] = []
    structural_walk(expr, (Var, variables.append))
    for var in set(variables):
        if var.name in values:
            analyzer.bind(var, tvm.tirx.const(values[var.name], str(var.ty.dtype)))
    simplified = analyzer.simplify(expr)
    if isinstance(simplified, tvm.tirx.IntImm | tvm.tirx.FloatImm):
        return simplified.value
    raise errors.error(
        "ST510", "device code", f"{expr}, which the host computes", "sums of scalar parameters"
    )


@contextmanager
def _without_compiling() -> Iterator[None]:
    """Only text is wanted: where a driver is present, TVM would also compile it."""
    compile_cuda = tvm_ffi.get_global_func(_COMPILE, allow_missing=True)
    tvm_ffi.register_global_func(_COMPILE, lambda code: code.encode(), override=True)
    try:
        yield
    finally:
        if compile_cuda is None:
            tvm_ffi.remove_global_func(_COMPILE)
        else:
            tvm_ffi.register_global_func(_COMPILE, compile_cuda, override=True)


def _launches(host: PrimFunc) -> tuple[DeviceLaunch, ...]:
    launches: list[DeviceLaunch] = []

    def collect(call: Call) -> None:
        if getattr(call.op, "name", "") == _LAUNCH:
            launches.append(_launch(call))

    structural_walk(host.body, (Call, collect))
    return tuple(launches)


def _launch(call: Call) -> DeviceLaunch:
    tags = [str(tag) for tag in call.attrs.launch_params]
    unknown = set(tags) - set(_TAGS)
    kernel, *arguments = call.args
    if unknown:
        found = f"launch parameters {', '.join(sorted(unknown))}"
        raise errors.error("ST510", f"device code: {kernel}", found, ", ".join(_TAGS))
    split = len(arguments) - len(tags)
    scalars = {q: a for q, a in enumerate(arguments[:split]) if not isinstance(a, Call)}
    return DeviceLaunch(str(kernel.value), scalars, dict(zip(tags, arguments[split:], strict=True)))
