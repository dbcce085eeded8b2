"""`prim_func` and `from_source`: TVM's script parser, extended by dispatch tokens only."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tvm
from tvm.script.ir_builder.base import IRBuilder
from tvm.script.parser._core import Parser, dispatch, doc, utils
from tvm.script.parser.core.diagnostics import Source
from tvm.script.parser.core.entry import _default_globals
from tvm.tirx import PrimFunc
from tvm.tirx.script import builder as T

from .. import errors
from ..ir import names
from ..ir.verify import verify
from .foreign import translated
from .location import at_place, point_at_line, raise_at
from .scope import is_open, open_scope
from .stores import check_assignment, plain_assignment

TOKEN = "sparse_tir"

#: Declarations learn the name that they are assigned to.
_DECLARATIONS = ("dense_fixed", "dense_variable", "sparse_fixed", "sparse_variable", "match_sparse_buffer")
#: Attributes of older scripts that have no meaning here.
_IGNORED_ATTRIBUTES = ("sparse_tir_level",)
_BEGIN = "__sparse_tir_begin"
_WHOLE = "one function under @S.prim_func, or a module"


class _SparseParser(Parser):  # type: ignore[misc]  # TVM ships no types
    """Raises our errors, with the line, instead of printing diagnostics."""

    def __init__(self, source: Source, annotations: dict[str, Any]) -> None:
        super().__init__(source, annotations)
        #: Where each function begins.
        self.heads: dict[str, tuple[int, int]] = {}

    def report_error(self, node: doc.AST, err: Exception | str) -> None:
        raise_at(self.diag.source, node, err)

    def visit_Assign(self, node: doc.Assign) -> Any:  # noqa: N802  the name that TVM calls
        if is_open():
            check_assignment(self, node)
        return super().visit_Assign(node)

    def visit_AugAssign(self, node: doc.AugAssign) -> Any:  # noqa: N802  the name that TVM calls
        if is_open() and isinstance(node.target, doc.Subscript):
            return self.visit_Assign(plain_assignment(node))
        return super().visit_AugAssign(node)


def prim_func(func: Callable[..., Any]) -> PrimFunc:
    """Parse a Python function with sparse iterations; use it as a decorator.

    The function is checked against the laws of the language at once.

    Raises
    ------
    ScriptError, LegalityError
        With the line of the script.
    """
    if not inspect.isfunction(func):
        raise errors.error(
            "ST159", "st.prim_func(func)", f"a {type(func).__name__}", "a function of a Python file"
        )
    outer = inspect.stack()
    if utils.is_defined_in_class(outer, func):
        return func  # @I.ir_module parses its members itself
    captured = utils.inspect_function_capture(func)
    utils.resolve_closure_vars(func, captured, outer)
    return _parse(func, captured)


prim_func.dispatch_token = TOKEN  # type: ignore[attr-defined]


def from_source(text: str) -> PrimFunc | tvm.IRModule:
    """Parse the text of a function or module, such as `script` prints. ``S``, ``T`` and ``I`` need no import."""
    from .. import script as namespace

    if not isinstance(text, str):
        hint = "decorate a function with @S.prim_func instead" if callable(text) else None
        raise errors.error(
            "ST159", "st.from_source(text)", f"a {type(text).__name__}", "the text of a program", hint
        )
    if not text.strip():
        raise errors.error("ST201", "st.from_source(text)", "an empty text", _WHOLE)
    return _parse(text, {**_default_globals(), "S": namespace})


def _parse(program: Any, variables: dict[str, Any]) -> Any:
    source = Source(program)
    annotations = {program.__name__: program.__annotations__} if inspect.isfunction(program) else {}
    parser = _SparseParser(source, annotations)
    with IRBuilder() as builder:
        try:
            parser.parse(extra_vars=variables)
            result = builder.get()
        except errors.SparseTIRError:
            raise
        except SyntaxError as reason:
            error = errors.error("ST201", "script", reason.msg, "Python's own grammar")
            raise at_place(source, error, *_place_of(source, reason)) from reason
        except Exception as reason:  # what TVM raises when nothing was built, or too much
            if "IRBuilder" not in str(reason):
                raise translated(reason) from reason
            raise errors.error(
                "ST201", "script", "a text without a function, or with several", _WHOLE
            ) from reason
    module = result if isinstance(result, tvm.IRModule) else tvm.IRModule.from_expr(result)
    for func in module.functions.values():
        if isinstance(func, PrimFunc) and func.attrs.get(names.STAGE) == names.COORDINATE_STAGE:
            _verify(func, source, parser.heads)
    return result


def _verify(func: PrimFunc, source: Source, heads: dict[str, tuple[int, int]]) -> None:
    """`verify`; the error shows its line, or that of the function where it is about the whole of it."""
    try:
        verify(func)
    except errors.SparseTIRError as error:
        head = heads.get(str(func.attrs.get("global_symbol")))
        if head is None or "\n  at: " in str(error):
            raise point_at_line(source, error) from None
        raise at_place(source, error, *head) from None


def _place_of(source: Source, error: SyntaxError) -> tuple[int, int]:
    """Line and column of a syntax error, counted as those of nodes are."""
    return (error.lineno or 1) + source.start_line - 1, (error.offset or 1) + source.start_column


def _check_iterator_names(parser: Parser, node: doc.AST) -> None:
    """As many names as kinds, where both are written out."""
    for stmt in getattr(node, "body", []):
        _check_iterator_names(parser, stmt)
        for item in stmt.items if isinstance(stmt, doc.With) else []:
            call, target = item.context_expr, item.optional_vars
            if not isinstance(call, doc.Call) or getattr(call.func, "attr", "") not in ("iter", "sp_iter"):
                continue
            kinds, name = [
                a.value if isinstance(a, doc.Constant) else None for a in [*call.args[1:], None, None][:2]
            ]
            given = len(target.elts) if isinstance(target, doc.List | doc.Tuple) else None
            listed = (
                len(call.args[0].elts)
                if call.args and isinstance(call.args[0], doc.List | doc.Tuple)
                else None
            )
            if isinstance(kinds, str) and given is not None and given != len(kinds) and listed == len(kinds):
                found = f"{given} names for {listed} axes"
                parser.report_error(
                    target, errors.error("ST204", f"S.iter {name!r}", found, "one name per axis")
                )


def _begin_function() -> None:
    T.func_attr({names.STAGE: names.COORDINATE_STAGE, "tirx.noalias": True})


def _where(node: doc.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _pass_names(func: doc.FunctionDef) -> None:
    """``I = S.dense_fixed(m)`` becomes ``I = S.dense_fixed(m, name="I")``."""
    for stmt in func.body:
        call = getattr(stmt, "value", None)
        if not (
            isinstance(stmt, doc.Assign)
            and isinstance(call, doc.Call)
            and isinstance(call.func, doc.Attribute)
        ):
            continue
        if call.func.attr in _DECLARATIONS and isinstance(stmt.targets[0], doc.Name):
            name = doc.Constant(stmt.targets[0].id, None, *_where(call))
            call.keywords.append(doc.keyword("name", name))


def _drop_ignored_attributes(func: doc.FunctionDef) -> None:
    for stmt in func.body:
        call = getattr(stmt, "value", None)
        if not (
            isinstance(stmt, doc.Expr) and isinstance(call, doc.Call) and isinstance(call.func, doc.Attribute)
        ):
            continue
        if call.func.attr == "func_attr" and isinstance(call.args[0], doc.Dict):
            attributes = call.args[0]
            kept = [
                (k, v)
                for k, v in zip(attributes.keys, attributes.values, strict=True)
                if not (isinstance(k, doc.Constant) and k.value in _IGNORED_ATTRIBUTES)
            ]
            attributes.keys, attributes.values = [k for k, _ in kept], [v for _, v in kept]


@dispatch.register(token=TOKEN, type_name="FunctionDef")  # type: ignore[untyped-decorator]  # of TVM
def _visit_function_def(parser: Parser, node: doc.FunctionDef) -> None:
    if isinstance(parser, _SparseParser):
        parser.heads[node.name] = parser.diag.source.location(node)[:2]
    _pass_names(node)
    _drop_ignored_attributes(node)
    _check_iterator_names(parser, node)
    place = _where(node.decorator_list[-1])
    # becomes @S.prim_func(s_tir=True), the flag that TVM's visitor looks for
    s_tir = doc.keyword("s_tir", doc.Constant(True, None, *place))
    node.decorator_list[-1] = doc.Call(node.decorator_list[-1], [], [s_tir], *place)
    begin = doc.Call(doc.Name(_BEGIN, doc.Load(), *place), [], [], *place)
    node.body.insert(0, doc.Expr(begin, *place))
    with open_scope(node.name), parser.var_table.with_frame():
        parser.var_table.add(_BEGIN, _begin_function)
        dispatch.get("tirx", "FunctionDef")(parser, node)


@dispatch.register(token=TOKEN, type_name="tvm_declare_function")  # type: ignore[untyped-decorator]  # of TVM
def _declare_function(parser: Parser, node: doc.FunctionDef) -> Any:
    return dispatch.get("tirx", "tvm_declare_function")(parser, node)
