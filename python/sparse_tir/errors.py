"""Every error that a user can meet: its class, its code and its wording.

A code has one title (`CODES`), a next step (`next_steps`), a page (docs/errors) and, by its first digit, one
class. Python raises with `error`; C++ throws with ``Refuse`` (src/ir/diagnostics.h) and the class arrives here,
because the classes are registered with tvm-ffi, under names of their own: TVM has a ``ScheduleError`` too.

=========  ==================  =====================================
range      class               about
=========  ==================  =====================================
ST1xx      `DataError`         arrays, shapes, dtypes, files
ST2xx      `ScriptError`       the text of a program
ST3xx      `ScheduleError`     schedule primitives
ST4xx      `LegalityError`     the laws of the language, lowering
ST5xx      `BuildError`        building, loading and running kernels
ST6xx      `TuningError`       tuning jobs and databases
ST9xx      `InternalError`     a bug of ours
=========  ==================  =====================================
"""

from __future__ import annotations

import re
from typing import TypeVar

import tvm_ffi

from .next_steps import NEXT

_HEAD = re.compile(r"\[(ST\d{3})\] (.*)")


class SparseTIRError(Exception):
    """Base of all errors of this package. ``error.code`` is the code, such as ``"ST104"``.

    The message is completed here, for errors of Python and of C++: the title of the code, a next step where the
    message has none, and the page of the documentation as its last line.
    """

    def __init__(self, message: str = "") -> None:
        head, _, rest = message.partition("\n")
        found = _HEAD.match(head)
        self.code: str = found.group(1) if found else "ST900"
        title = CODES[self.code]
        if found and title not in head:
            head = f"{head}: {title}"
        super().__init__("\n".join([head, *_completed(self.code, rest)]) if found else message)


def page(code: str) -> str:
    """The page of the documentation about a code."""
    return f"docs/errors/{code}.md"


def _completed(code: str, rest: str) -> list[str]:
    """The lines below the head. Completing a message again, with more lines or not, changes nothing else."""
    lines = [line.rstrip() for line in rest.splitlines() if not line.startswith("  see: ")]
    if code in NEXT and not any(line.startswith("  next: ") for line in lines):
        place = next((n for n, line in enumerate(lines) if line.startswith("  at: ")), len(lines))
        lines.insert(place, f"  next:     {NEXT[code]}")
    return [*lines, f"  see:      {page(code)}"]


_Class = TypeVar("_Class", bound=type)


def _registered(cls: _Class) -> _Class:
    tvm_ffi.register_error(f"SparseTIR{cls.__name__}", cls)
    return cls


@_registered
class DataError(SparseTIRError, ValueError):
    """ST1xx: an array, a shape, a dtype or a file is not what the call needs."""


@_registered
class ScriptError(SparseTIRError, ValueError):
    """ST2xx: the text of a program cannot be understood."""


@_registered
class ScheduleError(SparseTIRError, ValueError):
    """ST3xx: a schedule primitive does not apply."""


@_registered
class LegalityError(SparseTIRError, ValueError):
    """ST4xx: a program breaks a law of the language, or cannot be lowered soundly."""


@_registered
class BuildError(SparseTIRError, RuntimeError):
    """ST5xx: a kernel cannot be built, loaded or run here."""


@_registered
class TuningError(SparseTIRError, RuntimeError):
    """ST6xx: a tuning job cannot be done."""


@_registered
class InternalError(SparseTIRError, RuntimeError):
    """ST9xx: a bug of this package. Please report it."""


_CLASSES: dict[str, type[SparseTIRError]] = {
    "1": DataError,
    "2": ScriptError,
    "3": ScheduleError,
    "4": LegalityError,
    "5": BuildError,
    "6": TuningError,
    "9": InternalError,
}

CODES: dict[str, str] = {
    # ---- ST10x to ST12x: structure arrays and patterns
    "ST101": "the object is not a sparse matrix that this call understands",
    "ST102": "a structure array has the wrong length",
    "ST103": "indptr is not monotone or negative",
    "ST104": "indptr does not end at the number of stored entries",
    "ST105": "an index is out of range",
    "ST106": "indices and values differ in length",
    "ST107": "a structure array has a dtype or dimension that cannot be used",
    "ST108": "the arrays break an order or uniqueness that the axis declares",
    "ST109": "unknown policy",
    "ST110": "a graph of this size cannot be generated",
    # ---- ST13x: files
    "ST130": "the file cannot be read",
    "ST131": "the file name has an unknown ending",
    "ST132": "the .npz file does not hold a sparse matrix",
    "ST133": "the file holds a pickle",
    "ST134": "the Matrix Market file is malformed",
    "ST135": "the file cannot be written",
    # ---- ST15x: operands of a call
    "ST150": "an operand is not an array",
    "ST151": "an operand has the wrong shape",
    "ST152": "an operand has the wrong dtype",
    "ST153": "an output cannot be written",
    "ST154": "an output shares memory with an operand",
    "ST155": "an operand is on another device",
    "ST156": "the dtype is not supported by this call",
    "ST157": "wrong number of arguments",
    "ST158": "a number has a value that its parameter cannot take",
    "ST159": "an argument is not what the call takes",
    # ---- ST2xx: script
    "ST201": "the script cannot be parsed",
    "ST202": "an axis is declared wrongly",
    "ST203": "a sparse buffer is declared wrongly",
    "ST204": "an iteration has the wrong number of names or kinds",
    "ST205": "a kind letter is neither S nor R",
    "ST206": "an axis is listed twice",
    "ST207": "an axis is listed before its parent",
    "ST208": "a declaration or statement stands where it is not allowed",
    "ST209": "a subscript is not an integer",
    "ST210": "a construct is not part of this version of the language",
    "ST211": "a value has another dtype than the element that it is stored in",
    "ST212": "the number of subscripts is not the number of axes",
    # ---- ST4xx: laws and lowering
    "ST401": "law 1: a non-unique axis listed S selects elements of a dense axis",
    "ST402": "law 2: a search on an axis that is not unique",
    "ST403": "law 3: a stored axis is written by something other than its own iterator",
    "ST404": "law 3: the position of an R axis selects a stored element",
    "ST405": "law 3: a write is out of range",
    "ST406": "law 4: an init under an iterator that does not select the element",
    "ST407": "law 4: init and body write different elements",
    "ST408": "law 9: different spatial positions write one element",
    "ST409": "law 9: a statement under a reduction is not a fold",
    "ST410": "law 10: a written buffer is read at another element",
    "ST411": "law 2: a structure array or value array is used as something else",
    "ST420": "the stage of the function is not the one that the pass takes",
    "ST421": "this lowering does not support the program",
    "ST422": "the schedule repeats or overwrites a reduction",
    "ST423": "concurrent loops share elements of the output",
    # ---- ST5xx: build and run
    "ST501": "this TVM is not the one that sparse_tir was built for",
    "ST502": "the compiled library of sparse_tir is missing or cannot be opened",
    "ST503": "unknown target",
    "ST504": "the kernel was built for another CPU",
    "ST505": "the file is not a saved kernel",
    "ST506": "the kernel was saved by another version",
    "ST507": "the program or kernel does not fit the call",
    "ST508": "a compiler that this target needs is missing",
    "ST509": "the CUDA compiler refuses the kernel",
    "ST510": "the emulator does not cover the kernel",
    "ST511": "the emulated kernel makes an access that is not allowed",
    "ST512": "the emulated kernel does not end",
    "ST513": "the launch is not one that a device takes",
    "ST514": "there is no CUDA device here",
    "ST515": "not all loops of the program run on the GPU",
    "ST516": "the kernel cannot be saved",
    # ---- ST6xx: tuning
    "ST601": "the operator cannot be tuned",
    "ST602": "no candidate ran right",
    "ST603": "the work directory holds no usable result",
    "ST604": "a tuning argument is out of range",
    "ST605": "the measuring process does not start",
    # ---- ST9xx: bugs of ours
    "ST900": "internal error",
}


def error(
    code: str, where: str, found: object, expected: object = None, hint: str | None = None
) -> SparseTIRError:
    """The error of a code, worded the same way everywhere.

    Parameters
    ----------
    code
        A key of `CODES`.
    where
        The call and the argument, array or file at fault, such as ``"st.asarray(A).indptr"``.
    found, expected
        What is there, and what should be.
    hint
        What to do next.

    Returns
    -------
    SparseTIRError
        To be raised by the caller: ``raise error("ST104", ...)``.
    """
    lines = [f"[{code}] {where}"]
    shown = str(found) if str(found).strip() else repr(found)  # what was passed may be an empty text
    for word, text in (("found", shown), ("expected", expected), ("next", hint)):
        if text is not None:
            first, *more = str(text).splitlines() or [""]
            lines += [f"  {word + ':':9} {first}", *(f"            {line}" for line in more)]
    return _CLASSES[code[2]]("\n".join(lines))
