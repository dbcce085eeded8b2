"""What the tests of errors share: small programs around one CSR matrix, refusals and their places."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.interpret import OutOfRangeWriteWarning

#: A (3, 4) CSR matrix A, vectors along its rows (W, Y) and columns (X), and one of size r (Z).
DECLARATIONS = """
I = S.dense_fixed(m)
J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32"{flags})
D = S.dense_fixed(n)
R = S.dense_fixed(r)
A = S.match_sparse_buffer(a, (I, J), "{dtype}")
X = S.match_sparse_buffer(x, (D,), "{dtype}")
W = S.match_sparse_buffer(w, (I,), "{dtype}")
Y = S.match_sparse_buffer(y, (I,), "{dtype}")
Z = S.match_sparse_buffer(z, (R,), "{dtype}")
"""
_PLACE = re.compile(r"\n  at: +<str>:(?P<line>\d+):(?P<column>\d+)\n +\| (?P<text>.*)\n +\| (?P<caret> *)\^")


def program(
    body: str,
    *,
    flags: str = "",
    dtype: str = "float32",
    head: str = DECLARATIONS,
    more: str = "",
    handles: str = "",
    scalars: str = "",
) -> str:
    """The text of a function: declarations (``more``: those of further parameters), then ``body``."""
    names = [f"{name}: T.handle" for name in f"a x w y z indptr indices {handles}".split()]
    names += [f"{name}: T.int32" for name in f"m n nnz r {scalars}".split()]
    statements = head.format(flags=flags, dtype=dtype) + textwrap.dedent(more) + textwrap.dedent(body)
    indented = textwrap.indent(statements.strip(), "    ")
    return f"@S.prim_func\ndef main({', '.join(names)}):\n{indented}\n"


def arguments(dtype: str = "float32", **others: Any) -> dict[str, Any]:
    """The matrix [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4]] with a dead head of one entry, and operands."""
    arrays = {"A": [9, 1, 2, 3, 4], "X": [1, 10, 100, 1000], "W": [5, 6, 7], "Y": [7, 7, 7], "Z": [7] * 7}
    return {
        **{name: np.array(numbers, dtype) for name, numbers in arrays.items()},
        "indptr": np.array([1, 3, 3, 5], "int32"),
        "indices": np.array([0, 0, 2, 1, 3], "int32"),
        **{"m": 3, "n": 4, "nnz": 5, "r": 7},
        **others,
    }


def refusal(call: Callable[[], Any]) -> errors.SparseTIRError:
    """The error of ours that the call must end in."""
    with pytest.raises(errors.SparseTIRError) as caught:
        call()
    return caught.value


def check_refusal(error: errors.SparseTIRError, code: str, *mentions: str) -> None:
    """The code with its title, and the names of what is at fault."""
    assert error.code == code, error
    head = str(error).splitlines()[0]
    assert head.startswith(f"[{code}] ")
    assert errors.CODES[code] in head
    for name in mentions:
        assert name in str(error), f"{name!r} is not mentioned in {error}"


def check_place(error: errors.SparseTIRError, text: str, marked: str) -> None:
    """The message shows the line of the script, with a caret under ``marked``."""
    found = _PLACE.search(str(error))
    assert found is not None, f"no place in {error}"
    assert found["text"] == text.splitlines()[int(found["line"]) - 1]
    assert int(found["column"]) == len(found["caret"]) + 1
    assert found["text"][len(found["caret"]) :].startswith(marked), str(error)


def caught_place(message: str) -> str:
    """The text above the caret, from there on."""
    found = re.search(r"\n  at: +.*:\d+:\d+\n +\| (?P<text>.*)\n +\| (?P<caret> *)\^\n", message)
    assert found is not None, f"no place in {message}"
    return found["text"][len(found["caret"]) :]


def check_values(text: str, call: dict[str, Any], **expected: Any) -> None:
    """The program gives these outputs, and changes nothing else, interpreted at every stage and compiled."""
    func = st.from_source(text)
    ways: list[Callable[..., Any]] = [lambda **kwargs: st.interpret(func, **kwargs)]
    ways += [
        lambda stage=stage, **kwargs: st.interpret(st.lower(func, stage), **kwargs)
        for stage in ("position", "loop")
    ]
    for way in [*ways, st.compile(func)]:
        copies = {
            name: value.copy() if isinstance(value, np.ndarray) else value for name, value in call.items()
        }
        with warnings.catch_warnings():  # of the interpreter at the first stage; the others only guard
            warnings.simplefilter("ignore", OutOfRangeWriteWarning)
            way(**copies)
        for name, value in copies.items():
            if isinstance(value, np.ndarray):
                wanted: NDArray[Any] = np.asarray(expected.get(name, call[name]), value.dtype)
                np.testing.assert_array_equal(value.ravel(), wanted.ravel(), err_msg=name)
