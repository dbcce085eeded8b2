"""Assignments to elements, checked before TVM's parser converts values without a word."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import numpy as np
from tvm.ir import Expr, TensorRegion
from tvm.script.parser._core import Parser, doc
from tvm.tirx import is_buffer_var

from .. import errors


def check_assignment(parser: Parser, node: doc.Assign) -> None:
    """ST211 or ST212 unless the statement ``buffer[indices] = value`` stores a value of the buffer's dtype.

    Other assignments are left to the parser.
    """
    if len(node.targets) != 1 or not isinstance(node.targets[0], doc.Subscript):
        return
    target = node.targets[0]
    buffer = parser.eval_expr(deepcopy(target.value))
    if not is_buffer_var(buffer):
        raise errors.error(
            "ST201", "script", f"a subscript of {buffer!r} on the left", "an element of a buffer"
        )
    _check_subscripts(parser, buffer, target.slice)
    nothing = {name for name, value in parser.var_table.get().items() if value is None}
    if _holds_none(node.value, nothing):  # inside of a call it would end the process
        raise _refusal(buffer.name, str(buffer.ty.dtype.dtype), "None (a NoneType) in the value")
    _check_value(buffer, parser.eval_expr(deepcopy(node.value)))


def plain_assignment(node: doc.AugAssign) -> doc.Assign:
    """``Y[i] += v`` as ``Y[i] = Y[i] + v``."""
    place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    element = deepcopy(node.target)
    element.ctx = doc.Load()
    return doc.Assign([node.target], doc.BinOp(element, node.op, node.value, *place), *place)


def wrong_subscripts(name: str, given: int | None, listed: int | None) -> errors.SparseTIRError:
    """ST212: so many subscripts (None: too few) for a buffer with so many axes."""
    found = f"{name} with {'too few' if given is None else given} subscripts"
    expected = "one subscript for each axis" if listed is None else f"{listed}, one for each axis"
    return errors.error("ST212", name, found, expected)


def _holds_none(node: Any, nothing: set[str]) -> bool:
    """Whether ``None``, or a name of it, occurs somewhere in an expression."""
    if isinstance(node, list | tuple):
        return any(_holds_none(element, nothing) for element in node)
    if isinstance(node, doc.Constant):
        return node.value is None
    if isinstance(node, doc.Name):
        return node.id in nothing
    fields = node._FIELDS if isinstance(node, doc.AST) else ()
    return any(_holds_none(getattr(node, field, None), nothing) for field in fields)


def _check_subscripts(parser: Parser, buffer: Any, node: doc.AST) -> None:
    elements = node.elts if isinstance(node, doc.Tuple) else [node]
    if any(isinstance(element, doc.Starred | doc.Slice) for element in elements):
        return
    if len(elements) != len(buffer.ty.shape):
        raise wrong_subscripts(buffer.name, len(elements), len(buffer.ty.shape))
    for element in elements:
        index = parser.eval_expr(deepcopy(element))
        if not isinstance(index, Expr | int | np.integer):  # TVM's builder ends the process for a None
            raise errors.error(
                "ST209", buffer.name, f"{buffer.name} subscripted by {_shown(index)}", "integers"
            )


def _shown(value: Any) -> str:
    is_short = value is None or isinstance(value, str | bool | int | float | np.number)
    return f"{value!r} (a {type(value).__name__})" if is_short else f"a {type(value).__name__}"


def _check_value(buffer: Any, value: Any) -> None:
    if isinstance(value, TensorRegion):
        raise wrong_subscripts(value.source.name, None, len(value.source.ty.shape))
    if is_buffer_var(value):
        raise wrong_subscripts(value.name, 0, len(value.ty.shape))
    wanted = str(buffer.ty.dtype.dtype)
    if isinstance(value, Expr):
        dtype = getattr(value.ty, "dtype", None)
        if dtype is None or _lanes_apart(str(dtype)) != wanted:
            raise _refusal(buffer.name, wanted, f"a value of dtype {dtype}")
    elif not isinstance(value, bool | int | float | np.number | np.bool_):
        raise _refusal(buffer.name, wanted, _shown(value))
    elif not _holds(wanted, value):
        raise _refusal(buffer.name, wanted, f"the number {value!r}")


def _lanes_apart(dtype: str) -> str:
    """A vector's dtype is its element's here: vector subscripts are refused for what they are (ST209)."""
    return dtype.partition("x")[0]


def _holds(dtype: str, number: Any) -> bool:
    """Whether a number of Python can be written as one of the dtype: exactly, but for the rounding of floats."""
    if dtype == "bool":
        return isinstance(number, bool | np.bool_)
    if "float" in dtype:
        return True
    if not math.isfinite(number) or number != int(number):
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= int(number) <= limits.max)


def _refusal(name: str, dtype: str, found: str) -> errors.SparseTIRError:
    hint = f'convert it: T.cast(value, "{dtype}")'
    return errors.error(
        "ST211", name, f"{found}, stored in {name} of dtype {dtype}", f"a value of dtype {dtype}", hint
    )
