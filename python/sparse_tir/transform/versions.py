"""One function with several versions of its loops, of which every call runs the one that fits its sizes."""

from __future__ import annotations

from collections.abc import Callable

from tvm.ir import Expr
from tvm.s_tir import renew_defs
from tvm.tirx import IfThenElse, PrimFunc

from .. import errors
from .substitution import substitution


def choose_version(then: PrimFunc, otherwise: PrimFunc, condition: Callable[[PrimFunc], Expr]) -> PrimFunc:
    """The function that runs ``then`` if the condition holds, else ``otherwise``.

    Parameters
    ----------
    then, otherwise : PrimFunc
        Versions of one function at the loop stage, with the same parameters.
    condition
        An expression over the parameters of the function that it is given.

    Raises
    ------
    InternalError
        ST900 if the parameters differ.
    """
    if [str(p.ty) for p in then.params] != [str(p.ty) for p in otherwise.params]:
        found = f"parameters {list(then.params)} and {list(otherwise.params)}"
        raise errors.error("ST900", "choose_version", found, "versions of one function")
    fresh = renew_defs(otherwise)
    body = substitution(dict(zip(fresh.params, then.params, strict=True)))(fresh.body)
    return then.with_body(IfThenElse(condition(then), then.body, body))
