"""Expressions as functions without arguments, evaluated in the dtype that TVM gives each node.

Values are NumPy scalars: float32 rounds as float32, integers wrap, a division of integers by zero gives 0.
Both operands of `and` and `or` are always evaluated (compiled code does so), of a selection only the branch
taken.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes  # noqa: F401  makes np.dtype("bfloat16") known
import numpy as np
import scipy.special
import tvm_ffi
from tvm.ir import Call, Expr, TensorLoad, Var, prim

from .. import errors

#: A compiled expression or statement.
Thunk = Callable[[], Any]
DType = np.dtype[Any]

_WIDE = {
    np.dtype(narrow): np.dtype(wide)
    for narrow, wide in (
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("int8", "int32"),
        ("uint8", "int32"),
    )
}


def identity(node: Any) -> int:
    """What two references to one node share."""
    return int(node.__chandle__())


def unknown(what: object, where: str) -> errors.SparseTIRError:
    """The error for a node that the interpreter has no meaning for."""
    hint = "please report the program" if isinstance(what, str) else None
    name = what if isinstance(what, str) else f"a node {type(what).__name__}"
    return errors.error("ST900", f"interpret: {where}", name, "a node that the interpreter knows", hint)


def dtype_of(expr: Expr) -> DType:
    """The dtype of a scalar expression."""
    return as_dtype(expr.ty.dtype, str(type(expr).__name__))


#: Lowered int64 arithmetic is done in 128 bits, so that it wraps; NumPy has Python's integers for that.
_EXACT = np.dtype(object)


def as_dtype(found: Any, where: str) -> DType:
    """A TVM dtype as NumPy's."""
    if str(found) in ("int128", "uint128"):
        return _EXACT
    try:
        return np.dtype(str(found))
    except TypeError:
        raise unknown(f"dtype {found}", where) from None


def wide_of(dtype: DType) -> DType:
    """The dtype in which values of ``dtype`` accumulate (law 7)."""
    return _WIDE.get(dtype, dtype)


def variables_in(node: Any) -> set[int]:
    """Identities of the variables in an expression or statement, loaded buffers included."""
    found: set[int] = set()
    tvm_ffi.structural_walk(node, (Var, lambda var: found.add(identity(var))))
    return found


def loads_in(expr: Expr) -> Iterator[TensorLoad]:
    """The loads of an expression, those in subscripts of loads included."""
    found: list[TensorLoad] = []
    tvm_ffi.structural_walk(expr, (TensorLoad, found.append))
    yield from found


def _divide(a: Any, b: Any) -> Any:
    """``Div``: exact for floats, toward zero for integers."""
    return a / b if a.dtype.kind not in "iu" else (a - np.fmod(a, b)) // b


def _round_half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(x.dtype.type(1), x) if abs(x - whole) >= x.dtype.type(0.5) else whole


def _sigmoid(x: Any) -> Any:
    one = x.dtype.type(1)
    return one / (one + np.exp(-x))


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    prim.Add: operator.add,
    prim.Sub: operator.sub,
    prim.Mul: operator.mul,
    prim.Div: _divide,
    prim.Mod: np.fmod,
    prim.FloorDiv: np.floor_divide,
    prim.FloorMod: np.remainder,
    prim.Min: np.minimum,  # law 5: NumPy's two propagate NaN
    prim.Max: np.maximum,
    prim.EQ: operator.eq,
    prim.NE: operator.ne,
    prim.LT: operator.lt,
    prim.LE: operator.le,
    prim.GT: operator.gt,
    prim.GE: operator.ge,
    prim.And: np.logical_and,
    prim.Or: np.logical_or,
    prim.LShift: operator.lshift,
    prim.RShift: operator.rshift,
    prim.BitwiseAnd: operator.and_,
    prim.BitwiseOr: operator.or_,
    prim.BitwiseXor: operator.xor,
}

_SAME_NAME = (
    "exp exp2 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh fabs floor ceil trunc isnan fmod copysign"
)
_NUMPY_NAME = {
    **{
        name: name.replace("a", "arc", 1)
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")
    },
    "hypot": "hypot",
    "nearbyint": "rint",
    "nextafter": "nextafter",
    "popcount": "bitwise_count",
    "pow": "power",
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME_NAME.split()},
    **{name: getattr(np, numpy_name) for name, numpy_name in _NUMPY_NAME.items()},
    "erf": scipy.special.erf,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "likely": lambda x: x,
    "round": _round_half_away,
    "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
    "sigmoid": _sigmoid,
}


@dataclass(frozen=True)
class Expressions:
    """Compiles expressions.

    Attributes
    ----------
    values
        Identity of a scalar variable -> its value now.
    load
        Compiles a load; the result has the dtype of the buffer.
    is_wide
        Law 7, for the contribution of a fold into a narrow buffer: narrow loads, variables and constants are
        widened, so that all that is made of them is wide. A cast to a narrow dtype still rounds.
    """

    values: dict[int, Any]
    load: Callable[[TensorLoad], Thunk]
    is_wide: bool = False

    def widened(self, is_wide: bool = True) -> Expressions:
        """The same with or without widening."""
        return replace(self, is_wide=is_wide)

    def compile(self, expr: Expr) -> Thunk:
        """The function that evaluates ``expr``."""
        if type(expr) in BINARY:
            return self._binary(BINARY[type(expr)], expr.a, expr.b)
        handler = _HANDLERS.get(type(expr))
        if handler is None:
            raise unknown(expr, "an expression")
        return handler(self, expr)

    def integer(self, expr: Expr) -> Callable[[], int]:
        """The function that evaluates a subscript or an extent, which is never widened."""
        value = self.widened(False).compile(expr)
        return lambda: int(value())

    def _result(self, expr: Expr) -> DType:
        return wide_of(dtype_of(expr)) if self.is_wide else dtype_of(expr)

    def _binary(self, function: Callable[[Any, Any], Any], a: Expr, b: Expr) -> Thunk:
        left, right = self.compile(a), self.compile(b)
        return lambda: function(left(), right())

    def _constant(self, expr: Any) -> Thunk:
        constant = np.asarray(expr.value).astype(self._result(expr))[()]
        return lambda: constant

    def _variable(self, expr: Var) -> Thunk:
        values, key, dtype = self.values, identity(expr), self._result(expr)

        def value() -> Any:
            if key not in values:
                raise errors.error("ST900", f"interpret: {expr.name}", "a variable without a value", "one")
            return values[key].astype(dtype)

        return value

    def _load(self, expr: TensorLoad) -> Thunk:
        value, dtype = self.widened(False).load(expr), self._result(expr)
        return (lambda: value().astype(dtype)) if self.is_wide else value

    def _cast(self, expr: prim.Cast) -> Thunk:
        value, exact, result = self.compile(expr.value), dtype_of(expr), self._result(expr)
        if exact == _EXACT:
            return lambda: int(value())
        if dtype_of(expr.value) == _EXACT:
            return lambda: np.uint64(value() % 2**64).astype(exact)
        return lambda: value().astype(exact).astype(result)

    def _not(self, expr: prim.Not) -> Thunk:
        value = self.compile(expr.a)
        return lambda: np.logical_not(value())

    def _invert(self, expr: prim.BitwiseNot) -> Thunk:
        value = self.compile(expr.a)
        return lambda: ~value()

    def _select(self, expr: prim.Select) -> Thunk:
        return self._branch(expr.condition, expr.true_value, expr.false_value)

    def _branch(self, condition: Expr, true_value: Expr, false_value: Expr) -> Thunk:
        test, yes, no = self.compile(condition), self.compile(true_value), self.compile(false_value)
        return lambda: yes() if test() else no()

    def _let(self, expr: prim.Let) -> Thunk:
        key, value, body = (
            identity(expr.var),
            self.widened(False).compile(expr.value),
            self.compile(expr.body),
        )

        def evaluate() -> Any:
            self.values[key] = value()
            return body()

        return evaluate

    def _call(self, expr: Call) -> Thunk:
        name = str(getattr(expr.op, "name", expr.op)).rpartition(".")[2]
        result = self._result(expr)
        if name == "if_then_else":
            return self._branch(*expr.args)
        if name == "reinterpret":
            bits = self.widened(False).compile(expr.args[0])
            exact = dtype_of(expr)
            return lambda: bits().view(exact).astype(result)
        if name not in FUNCTIONS:
            raise unknown(f"a call of {getattr(expr.op, 'name', expr.op)}", "an expression")
        function, arguments = FUNCTIONS[name], [self.compile(argument) for argument in expr.args]
        return lambda: np.asarray(function(*[argument() for argument in arguments])).astype(result)[()]


_HANDLERS: dict[type, Callable[[Expressions, Any], Thunk]] = {
    prim.IntImm: Expressions._constant,
    prim.FloatImm: Expressions._constant,
    Var: Expressions._variable,
    TensorLoad: Expressions._load,
    prim.Cast: Expressions._cast,
    prim.Not: Expressions._not,
    prim.BitwiseNot: Expressions._invert,
    prim.Select: Expressions._select,
    prim.Let: Expressions._let,
    Call: Expressions._call,
}
