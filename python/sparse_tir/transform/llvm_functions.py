"""Small functions in LLVM's own text, for what TVM has no statement for; they are inlined."""

from __future__ import annotations

from tvm import tirx
from tvm.ir import Expr, StringImm
from tvm.tirx import AttrStmt, Evaluate, Stmt

# Defined again and again in the versions of a function, and kept until they are called.
_HEAD = "define weak_odr void"
_ATTRIBUTES = "alwaysinline nounwind"


def define(name: str, parameters: str, body: str) -> str:
    """The text of a function without result."""
    return f"{_HEAD} @{name}({parameters}) {_ATTRIBUTES} {{\n{body}  ret void\n}}\n"


def call(name: str, *arguments: Expr) -> Stmt:
    """A call of such a function."""
    return Evaluate(tirx.call_extern("void", name, *arguments))


def with_functions(body: Stmt, text: str) -> Stmt:
    """The statement, compiled beside these functions."""
    return AttrStmt(0, "pragma_import_llvm", StringImm(text), body)
