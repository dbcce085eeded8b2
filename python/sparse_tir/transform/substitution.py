"""Replacing variables in expressions and statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tvm import tirx
from tvm.ir import Expr, Var
from tvm.s_tir import SBlock
from tvm.tirx import For, Stmt
from tvm_ffi import structural_map, structural_walk


def substitution(values: Mapping[Var, Expr]) -> Callable[[Any], Any]:
    """What replaces each variable of ``values`` by its value."""
    pairs = list(values.items())

    def replaced(var: Var) -> Any:
        return next((value for old, value in pairs if old.same_as(var)), var)

    return lambda node: structural_map(node, (Var, replaced)) if pairs else node


def with_fresh_variables(statement: Stmt) -> Stmt:
    """A copy whose loops and blocks bind variables of their own: TVM wants none bound twice in a function."""
    fresh: dict[Var, Expr] = {}

    def of_loop(node: For) -> None:
        fresh[node.loop_var] = tirx.Var(node.loop_var.name, node.loop_var.ty)

    def of_block(node: SBlock) -> None:
        fresh.update({i.var: tirx.Var(i.var.name, i.var.ty) for i in node.iter_vars})

    structural_walk(statement, ((For, of_loop), (SBlock, of_block)))
    return substitution(fresh)(statement)
