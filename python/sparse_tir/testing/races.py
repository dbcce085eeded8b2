"""Finds races: runs the loops of a module in order, and notes what the iterations of a concurrent loop share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm
from tvm.ir import Expr, TensorLoad
from tvm.s_tir.transform import LowerInitBlock, PlanAndUpdateBufferAllocationLocation
from tvm.tirx import BufferStore, For, ForKind

from ..interpret.arguments import Parameter, bind_arguments, written_buffers
from ..interpret.expressions import Thunk, identity
from ..interpret.position import PositionInterpreter
from ..interpret.starts import Nest
from ..runtime.signature import main_function
from .agreement import fresh

_CONCURRENT = (ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.THREAD_BINDING)


@dataclass
class _Shared:
    """What the iterations of one execution of a concurrent loop touch."""

    name: str
    loop_var: int
    writers: dict[tuple[int, Any], Any] = field(default_factory=dict)
    readers: dict[tuple[int, Any], set[Any]] = field(default_factory=dict)


class _RaceInterpreter(PositionInterpreter):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.races: dict[str, None] = {}
        self._loops: list[_Shared] = []
        self._kept: list[Any] = []  # so that no array gets the identity of an earlier one

    def _for(self, loop: For, nest: Nest, combiner: str | None) -> Thunk:
        if loop.kind not in _CONCURRENT:
            return super()._for(loop, nest, combiner)
        serial = For(loop.loop_var, loop.min, loop.extent, ForKind.SERIAL, loop.body, step=loop.step)
        key, run = identity(loop.loop_var), super()._for(serial, nest, combiner)

        def run_concurrently() -> None:
            self._values.pop(key, None)  # what is read before the first iteration belongs to none
            self._loops.append(_Shared(f"{ForKind(loop.kind).name.lower()} loop {loop.loop_var.name}", key))
            run()
            self._loops.pop()

        return run_concurrently

    def _note(self, array: Any, place: Any, buffer: str, is_write: bool) -> None:
        for shared in self._loops:
            now, element = self._values.get(shared.loop_var), (id(array), place)
            if now is None:
                continue
            writer = shared.writers.get(element, now)
            others = shared.readers.get(element, set()) - {now} if is_write else set()
            if writer != now or others:
                self.races[f"{buffer}{list(place)} under {shared.name}"] = None
            if is_write:
                shared.writers[element] = now
            else:
                shared.readers.setdefault(element, set()).add(now)
        if self._loops:
            self._kept.append(array)

    def _load(self, load: TensorLoad) -> Thunk:
        access = self._access(load.source, load.indices)

        def value() -> Any:
            array, place = access()
            self._note(array, place, load.source.name, False)
            return array[place]

        return value

    def _store(self, store: BufferStore, combiner: str | None) -> Thunk:
        access = self._access(store.buffer, store.indices)
        value = self._expressions.compile(store.value)

        def run() -> None:
            new = value()
            array, place = access()
            self._note(array, place, store.buffer.name, True)
            array[place] = new

        return run


def races(module: tvm.IRModule, arguments: Mapping[str, Any]) -> list[str]:
    """Elements that different iterations of a concurrent loop write, or that one writes and another one reads.

    The module is without a stage; buffers stand where TVM will allocate them.
    """
    func = main_function(PlanAndUpdateBufferAllocationLocation()(LowerInitBlock()(module)))
    parameters = _parameters(func)
    bound = bind_arguments("races", parameters, [], fresh(arguments))
    interpreter = _RaceInterpreter(bound, False)
    with np.errstate(all="ignore"):
        interpreter.run(func)
    return list(interpreter.races)


def _parameters(func: Any) -> Sequence[Parameter]:
    written = written_buffers(func)
    found = []
    for var in func.params:
        shape: list[Expr] | None = list(var.ty.shape) if hasattr(var.ty, "shape") else None
        found.append(Parameter(var.name, var, shape, is_written=identity(var) in written))
    return found
