"""What TVM and Python say about a script, in the words of this package."""

from __future__ import annotations

import re

from .. import errors
from .stores import wrong_subscripts

_TOO_MANY = re.compile(r"\((?P<given>\d+) vs\. (?P<listed>\d+)\) : Too many indices")
_CANNOT_INDEX = re.compile(
    r"BufferVar (?P<name>\w+) is (?P<listed>\d+)-dimensional, .* the (?P<given>\d+)-dim"
)
_TOO_FEW = re.compile(r"\bTensorRegion\b")
_MISMATCH = re.compile(
    r"Mismatched type on argument #\d+ .*Expected `(?P<expected>.*)` but got `(?P<found>.*)`"
)
_CHECK = re.compile(r"^Check failed: .*?(?: is false: | : )(?P<said>.*)$")
_NO_VISITOR = re.compile(r"^Visitor of AST node is not implemented: (?P<kind>\w+)")
_EXPECTED = "declarations of sparse_tir.script, iterations, and assignments"


def translated(error: Exception | str) -> errors.SparseTIRError:
    """The coded error for something that is not one of ours: ST212 about subscripts, else ST201."""
    text = " ".join(str(error).split()) or type(error).__name__
    if found := _TOO_MANY.search(text):
        return wrong_subscripts("a buffer", int(found["given"]), int(found["listed"]))
    if found := _CANNOT_INDEX.search(text):
        return wrong_subscripts(found["name"], int(found["given"]), int(found["listed"]))
    if _TOO_FEW.search(text):
        return wrong_subscripts("a buffer", None, None)
    if found := _MISMATCH.search(text):
        return errors.error(
            "ST201", "script", f"an object of type {found['found']}", f"one of type {found['expected']}"
        )
    if found := _NO_VISITOR.search(text):
        return errors.error("ST201", "script", f"a Python construct of kind `{found['kind']}`", _EXPECTED)
    if found := _CHECK.search(text):
        text = found["said"]
    return errors.error("ST201", "script", text, _EXPECTED)
