"""What the function that is being parsed has declared so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from tvm.ir import Var

from .. import errors
from ..ir import SparseBuffer


@dataclass
class FunctionScope:
    """Declarations of one function: its sparse buffers, and the buffer that each handle was matched to."""

    name: str
    buffers: list[SparseBuffer] = field(default_factory=list)
    matched: dict[str, Var] = field(default_factory=dict)
    iterations: int = 0

    def check_head(self, what: str) -> None:
        """Declarations stand at the head of the function, before its iterations."""
        if self.iterations:
            raise errors.error(
                "ST208", what, "a declaration after an iteration", "declarations at the head of the function"
            )


_SCOPE: ContextVar[FunctionScope | None] = ContextVar("sparse_tir_script_scope", default=None)


def current_scope(what: str) -> FunctionScope:
    """The scope of the function being parsed; ``what`` is the construct that asks."""
    scope = _SCOPE.get()
    if scope is None:
        raise errors.error(
            "ST208", what, "a call outside of @S.prim_func", "a call inside of a parsed function"
        )
    return scope


def is_open() -> bool:
    """Whether a function with sparse iterations is being parsed."""
    return _SCOPE.get() is not None


@contextlib.contextmanager
def open_scope(name: str) -> Iterator[FunctionScope]:
    """The scope of a function, while it is parsed."""
    scope = FunctionScope(name)
    token = _SCOPE.set(scope)
    try:
        yield scope
    finally:
        _SCOPE.reset(token)
