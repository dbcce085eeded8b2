"""One program, run in every way: interpreted at each stage and compiled. All must agree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm.tirx import PrimFunc

from ..interpret import OutOfRangeWriteWarning, interpret
from ..runtime import Kernel, compile
from ..runtime.operands import aligned_empty
from ..transform import lower

WAYS = ("interpreter", "position", "loop", "compiled")

#: How many roundings of one element are allowed for.
_ROUNDINGS = 256


@dataclass(frozen=True)
class Stages:
    """A program at every stage."""

    program: PrimFunc
    position: tvm.IRModule
    loop: tvm.IRModule
    kernel: Kernel

    @staticmethod
    def of(program: PrimFunc) -> Stages:
        """Lower and compile a program."""
        position = lower(program, "position")
        return Stages(program, position, lower(position, "loop"), compile(program))

    def run(
        self, way: str, arguments: Mapping[str, Any], *, policy: str = "validate"
    ) -> dict[str, NDArray[Any]]:
        """The outputs of one way; the arguments stay as they are."""
        given = fresh(arguments)
        outputs = [p.name for p in self.kernel.signature.arrays if p.is_output]
        if way == "compiled":
            self.kernel(policy=policy, **given)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OutOfRangeWriteWarning)
                interpret(
                    {"interpreter": self.program, "position": self.position, "loop": self.loop}[way], **given
                )
        for name, value in given.items():
            if name not in outputs and isinstance(value, np.ndarray):
                assert np.array_equal(value, arguments[name], equal_nan=value.dtype.kind == "f"), name
        return {name: given[name] for name in outputs}


def fresh(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the arrays; they are aligned as compiled code likes it."""
    return {name: _copy(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}


def _copy(array: NDArray[Any]) -> NDArray[Any]:
    out = aligned_empty(array.shape, array.dtype)
    out[...] = array
    return out


def assert_same(
    found: Mapping[str, NDArray[Any]],
    wanted: Mapping[str, NDArray[Any]],
    what: str,
    magnitudes: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Integers are equal; floats differ by no more than roundings of what enters them.

    Parameters
    ----------
    magnitudes
        For each element the sum of the magnitudes of its terms; without them, its own magnitude.
    """
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        if array.dtype.kind != "f":
            np.testing.assert_array_equal(found[name], array, err_msg=f"{what}: {name}")
            continue
        with np.errstate(all="ignore"):
            scale = np.abs(array).astype("float64") if magnitudes is None else magnitudes[name]
            scale = np.where(np.isfinite(scale), scale, np.abs(array))
            bound = _ROUNDINGS * np.finfo(array.dtype).eps * scale
            near = np.abs(found[name].astype("float64") - array) <= bound
        same = (found[name] == array) | (np.isnan(found[name]) & np.isnan(array)) | near
        if not same.all():
            np.testing.assert_array_equal(found[name], array, err_msg=f"{what}: {name}")
