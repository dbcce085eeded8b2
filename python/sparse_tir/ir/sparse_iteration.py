"""Sparse iterations: a typed view of the block that carries one (src/ir/sparse_iteration.h says why)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tvm
from tvm.ir import Var
from tvm.s_tir import SBlockRealize
from tvm.tirx import IterVar, SeqStmt, Stmt

from . import names
from .axis import Axis
from .sparse_buffer import SparseBuffer


@dataclass(frozen=True)
class SparseIterator:
    """One iterator: its variable, the axis that it walks and whether it is a reduction."""

    var: Var
    axis: Axis
    is_reduction: bool


@dataclass(frozen=True)
class SparseIteration:
    """``with S.iter([axes], kinds, name) as [iterators]``: init and body run over stored positions."""

    name: str
    iterators: tuple[SparseIterator, ...]
    buffers: tuple[SparseBuffer, ...]
    init: Stmt | None
    body: Stmt

    @property
    def kinds(self) -> str:
        """One letter per iterator: S spatial, R reduction."""
        return "".join("R" if it.is_reduction else "S" for it in self.iterators)

    @staticmethod
    def of(stmt: Stmt) -> SparseIteration | None:
        """The iteration that a statement carries, or None."""
        if not isinstance(stmt, SBlockRealize) or names.AXES not in stmt.block.annotations:
            return None
        block = stmt.block
        axes = block.annotations[names.AXES]
        iterators = tuple(
            SparseIterator(iv.var, axis, iv.iter_type == IterVar.CommReduce)
            for iv, axis in zip(block.iter_vars, axes, strict=True)
        )
        buffers = tuple(block.annotations[names.BUFFERS])
        return SparseIteration(block.name_hint, iterators, buffers, block.init, block.body)


def statements(body: Stmt) -> Iterator[Stmt]:
    """The statements of a body, in order."""
    if isinstance(body, SeqStmt):
        for stmt in body.seq:
            yield from statements(stmt)
    else:
        yield body


def outermost_statements(func: tvm.tirx.PrimFunc) -> list[Stmt]:
    """The statements of a function, without the root block that TVM puts around them."""
    body = func.body
    if isinstance(body, SBlockRealize) and body.block.name_hint == "root" and not body.block.iter_vars:
        body = body.block.body
    return list(statements(body))


def iterations(func: tvm.tirx.PrimFunc) -> list[SparseIteration]:
    """Every iteration of a function, outer before inner, in order."""
    found: list[SparseIteration] = []

    def visit(stmt: Stmt) -> None:
        iteration = SparseIteration.of(stmt)
        if iteration is not None:
            found.append(iteration)
            for inner in statements(iteration.body):
                visit(inner)

    for stmt in outermost_statements(func):
        visit(stmt)
    return found
