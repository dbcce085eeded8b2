"""`script`: readable text of functions with sparse iterations, which `from_source` parses to an equal function.

TVM's printer has no hook for a new construct. So the annotation objects of each carrier become plain literals and
expressions, which TVM prints with consistent names; then the Python AST of that text is rewritten to ``S.*``.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

import tvm
import tvm_ffi
from tvm.s_tir import SBlock
from tvm.tirx import PrimFunc

from .. import errors
from ..ir import Axis, DenseFixedAxis, DenseVariableAxis, SparseFixedAxis, SparseVariableAxis, names

_DESCRIPTION = "sparse_tir_description"
_HEADER = "# from sparse_tir import script as S\n# from tvm.script import tirx as T\n\n"


def script(obj: PrimFunc | tvm.IRModule) -> str:
    """Text of a function or module; it parses back to a structurally equal one.

    Functions of later stages print as TVM prints them.
    """
    if not isinstance(obj, PrimFunc | tvm.IRModule):
        raise errors.error("ST159", "S.script(obj)", f"a {type(obj).__name__}", "a function or a module")
    if isinstance(obj, tvm.IRModule):
        described: Any = tvm.IRModule({gv: _describe(f) for gv, f in obj.functions.items()}, attrs=obj.attrs)
    else:
        described = _describe(obj)
    text = str(described.script())
    if _DESCRIPTION not in text:
        return text
    tree = ast.fix_missing_locations(_ToSparseScript().visit(ast.parse(text)))
    return _HEADER + ast.unparse(tree) + "\n"


class _AxisNames:
    """Unique names for axes, parents before children."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Axis, str]] = []

    def of(self, axis: Axis) -> str:
        for known, name in self.pairs:
            if known.same_as(axis):
                return name
        if axis.parent is not None:
            self.of(axis.parent)
        used = {name for _, name in self.pairs}
        base = axis.name or "axis"
        candidates = [base, *(f"{base}_{i}" for i in range(1, len(used) + 2))]
        name = next(n for n in candidates if n not in used)
        self.pairs.append((axis, name))
        return name


def _describe_axis(names_of: _AxisNames, name: str, axis: Axis) -> list[Any]:
    """[name, constructor, parent or "", length, size, structure arrays.., idtype, sorted, unique]"""
    parent = names_of.of(axis.parent) if axis.parent is not None else ""
    head, tail = [parent, axis.length], [axis.idtype, axis.sorted, axis.unique]
    if isinstance(axis, DenseFixedAxis):
        return [name, "dense_fixed", *head, *tail]
    if isinstance(axis, DenseVariableAxis):
        return [name, "dense_variable", *head, axis.nnz, axis.indptr, *tail]
    if isinstance(axis, SparseFixedAxis):
        return [name, "sparse_fixed", *head, axis.width, axis.indices, *tail]
    if isinstance(axis, SparseVariableAxis):
        return [name, "sparse_variable", *head, axis.nnz, axis.indptr, axis.indices, *tail]
    raise TypeError(f"no script syntax for {type(axis).__name__}")


def _describe(func: Any) -> Any:
    """The function with every carrier's annotation objects replaced by what TVM can print."""
    if not isinstance(func, PrimFunc) or func.attrs.get(names.STAGE) != names.COORDINATE_STAGE:
        return func
    names_of = _AxisNames()

    def on_block(block: SBlock) -> SBlock:
        if names.AXES not in block.annotations:
            return block
        buffers = [
            [sb.buffer, [names_of.of(a) for a in sb.axes], str(sb.buffer.ty.dtype.dtype), sb.default_value]
            for sb in block.annotations[names.BUFFERS]
        ]
        axes = [names_of.of(a) for a in block.annotations[names.AXES]]
        declared = [_describe_axis(names_of, name, axis) for axis, name in names_of.pairs]
        fields = [
            "iter_vars",
            "reads",
            "writes",
            "name_hint",
            "body",
            "init",
            "alloc_buffers",
            "match_buffers",
        ]
        return SBlock(*[getattr(block, f) for f in fields], {_DESCRIPTION: [declared, axes, buffers]})

    attrs = {k: v for k, v in func.attrs.items() if k not in (names.STAGE, "tirx.noalias")}
    result = tvm_ffi.structural_map(func, (SBlock, on_block))
    return PrimFunc(result.params, result.body, result.ret_type, tvm.ir.make_node("ir.DictAttrs", **attrs))


def _statement(source: str) -> Any:
    return ast.parse(source).body[0]


def _expression(source: str) -> Any:
    return ast.parse(source, mode="eval").body


class _ToSparseScript(ast.NodeTransformer):
    """``T.sblock`` with a description becomes ``S.iter``; axes and buffers are declared at the head."""

    def visit_FunctionDef(self, func: ast.FunctionDef) -> ast.FunctionDef:
        self.axes: dict[str, str] = {}
        self.buffers: dict[str, tuple[list[str], str, str]] = {}
        self.generic_visit(func)
        if not self.axes:
            return func
        head = [_statement(source) for source in self.axes.values()]
        taken = {a.arg for a in func.args.args}
        matches = {a.arg: self._match(a, taken) for a in list(func.args.args) if a.arg in self.buffers}
        head += [matches[name] for name in self.buffers]  # in the order in which they were declared
        for arg in func.args.args:
            if isinstance(arg.annotation, ast.Call) and ast.unparse(arg.annotation.func) == "T.Buffer":
                # quoted, a shape is evaluated later: it may precede the scalar parameter that it uses
                shape: Any = arg.annotation.args[0]
                shape.elts = [
                    e if isinstance(e, ast.Constant) else ast.Constant(ast.unparse(e)) for e in shape.elts
                ]
        func.decorator_list = [_expression("S.prim_func")]
        attrs = [s for s in func.body if isinstance(s, ast.Expr) and "func_attr" in ast.unparse(s)]
        func.body = attrs + head + [s for s in func.body if s not in attrs]
        return func

    def _match(self, arg: ast.arg, taken: set[str]) -> Any:
        name = arg.arg
        candidates = itertools.chain([name.lower()], (f"{name}_handle{'_' * n}" for n in itertools.count()))
        handle = next(h for h in candidates if h not in taken)
        taken.add(handle)
        axes, dtype, default = self.buffers[name]
        arg.arg, arg.annotation = handle, _expression("T.handle")
        extra = "" if default == "0" else f", default={default}"
        return _statement(f"{name} = S.match_sparse_buffer({handle}, ({', '.join(axes)},), {dtype!r}{extra})")

    def visit_With(self, node: ast.With) -> ast.With:
        self.generic_visit(node)
        opener: Any = node.items[0].context_expr
        if ast.unparse(opener) == "T.init()":
            node.items[0].context_expr = _expression("S.init()")
        if ast.unparse(opener.func) != "T.sblock":
            return node
        kinds, iterators, body, description = "", [], [], None
        for stmt in node.body:
            value: Any = stmt.value if isinstance(stmt, ast.Assign | ast.Expr) else None
            callee = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
            if callee in ("T.axis.spatial", "T.axis.reduce"):
                kinds += "S" if callee.endswith("spatial") else "R"
                iterators.append(ast.unparse(stmt.targets[0]))  # type: ignore[attr-defined]
            elif callee == "T.sblock_attr" and [k.value for k in value.args[0].keys] == [_DESCRIPTION]:
                description = value.args[0].values[0].elts
            elif callee not in ("T.reads", "T.writes"):
                body.append(stmt)
        if description is None:
            return node
        declared, axes, buffers = (part.elts for part in description)
        self._declare(declared, buffers)
        listed = ", ".join(a.value for a in axes)
        name = ast.unparse(opener.args[0])
        iteration: ast.With = _statement(
            f"with S.iter([{listed}], {kinds!r}, {name}) as [{', '.join(iterators)}]: pass"
        )
        iteration.body = body
        return iteration

    def _declare(self, declared: list[Any], buffers: list[Any]) -> None:
        for entry in declared:
            name, *rest = entry.elts
            self.axes.setdefault(name.value, f"{name.value} = {_axis_source(rest)}")
        for entry in buffers:
            buffer, axes, dtype, default = entry.elts
            text = ast.unparse(default)
            is_zero = text in ("0", "0.0") or text.endswith(("(0)", "(0.0)"))
            self.buffers[ast.unparse(buffer)] = (
                [a.value for a in axes.elts],
                dtype.value,
                "0" if is_zero else text,
            )


def _axis_source(entry: list[Any]) -> str:
    kind = entry[0].value
    parent, length, *structure, idtype, is_sorted, is_unique = [ast.unparse(e) for e in entry[1:]]
    parent = entry[1].value or "None"
    flags = "".join(
        f", {k}=False" for k, v in (("sorted", is_sorted), ("unique", is_unique)) if v in ("False", "0")
    )
    if kind == "dense_fixed":
        return f"S.dense_fixed({length}, {idtype})"
    size, *arrays = structure
    data = f"({', '.join(arrays)})" if len(arrays) == 2 else arrays[0]
    return f"S.{kind}({parent}, ({length}, {size}), {data}, {idtype}{flags})"
