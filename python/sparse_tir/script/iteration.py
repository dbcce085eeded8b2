"""``with S.iter([axes], kinds, name) as [iterators]``: opens the block that carries an iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm
from tvm.ir import Var
from tvm.ir import _ffi_api as _ir_api
from tvm.tirx.expr import CallEffectKind
from tvm.tirx.op import call_intrin
from tvm.tirx.script import builder as T

from .. import errors
from ..ir import Axis, names
from .scope import current_scope

_KINDS = {"S": T.axis.spatial, "R": T.axis.reduce}


def _register_position_op() -> None:
    """Placeholder binding of an iterator that is not lowered yet: code generators refuse the op."""
    if names.POSITION_OP in set(_ir_api.ListOpNames()):
        return
    _ir_api.RegisterOp(names.POSITION_OP, "position along an axis, removed by LowerSparseIter")
    tvm.ir.register_op_attr(names.POSITION_OP, "TCallEffectKind", int(CallEffectKind.Pure.value))
    tvm.ir.register_op_attr(names.POSITION_OP, "TScriptPrinterName", "sparse_tir_position")


_register_position_op()


class iter:  # noqa: N801  the construct of the language
    """Run a body once per stored position of ``axes``, outermost first.

    Parameters
    ----------
    axes : sequence of Axis
        Parents before children; a parent may be an axis of an enclosing iteration.
    kinds : str
        One letter per axis: ``S`` spatial, ``R`` reduction.
    name : str
        The name that schedules and errors use.
    """

    def __init__(self, axes: Sequence[Axis], kinds: str, name: str = "") -> None:
        scope = current_scope("S.iter")
        scope.iterations += 1
        self.name = name or f"iteration_{scope.iterations}"
        if not isinstance(axes, Sequence) or isinstance(axes, str):
            raise errors.error(
                "ST202", f"S.iter {self.name!r}", f"{axes!r} as the list of axes", "a list of axes"
            )
        self.axes, self.kinds, self.buffers = list(axes), kinds, list(scope.buffers)
        _check_header(self.name, self.axes, kinds)
        self.frame = T.sblock(self.name)

    def __enter__(self) -> list[Var]:
        self.frame.__enter__()
        iterators = []
        for number, (axis, kind) in enumerate(zip(self.axes, self.kinds, strict=True)):
            position = call_intrin(axis.idtype, names.POSITION_OP, number)
            extent = axis.length.astype(axis.idtype)  # a root of another width may have declared it
            iterators.append(_KINDS[kind](extent, position, axis.idtype))
        T.sblock_attr({names.AXES: self.axes, names.BUFFERS: self.buffers})
        return iterators

    def __exit__(self, *exc: Any) -> Any:
        if exc[0] is None:
            self._check_regions()
        return self.frame.__exit__(*exc)

    def _check_regions(self) -> None:
        """What a body reads and writes follows from its statements; declarations of it would mean nothing."""
        for word in ("reads", "writes"):
            if getattr(self.frame, word, None) is not None:
                expected = "assignments to buffers and nested iterations"
                raise errors.error(
                    "ST208", f"S.iter {self.name!r}", f"T.{word}", expected, f"leave T.{word} out"
                )


sp_iter = iter
init = T.init


def _check_header(name: str, axes: list[Any], kinds: Any) -> None:
    where = f"S.iter {name!r}"
    if not axes:
        raise errors.error("ST204", where, "no axes", "at least one axis")
    for axis in axes:
        if not isinstance(axis, Axis):
            raise errors.error("ST202", where, f"{axis!r} in the list of axes", "axes")
    if not isinstance(kinds, str) or len(kinds) != len(axes):
        raise errors.error("ST204", where, f"{len(axes)} axes and kinds {kinds!r}", "one letter per axis")
    for letter in kinds:
        if letter not in _KINDS:
            raise errors.error(
                "ST205", where, f"{letter!r} in kinds {kinds!r}", "S (spatial) or R (reduction)"
            )
    for number, axis in enumerate(axes):
        if any(axis.same_as(other) for other in axes[:number]):
            raise errors.error("ST206", where, f"axis `{axis.name}` twice", "every axis once")
