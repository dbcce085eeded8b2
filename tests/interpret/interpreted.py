"""What the tests of the interpreter share: declarations of common formats, small arrays, refusals."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tvm.tirx import PrimFunc

from sparse_tir import errors
from sparse_tir import script as S

#: Axes and buffers of a CSR program with operands of one feature, and of one with several.
CSR = """
    I = S.dense_fixed(m)
    J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32"{flags})
    D = S.dense_fixed(n)
    A = S.match_sparse_buffer(a, (I, J), "{dtype}"{default})
    X = S.match_sparse_buffer(x, (D,), "{dtype}")
"""


def program(handles: str, scalars: str, body: str) -> PrimFunc:
    """The parsed function of these parameters and statements. A scalar is int32, or ``name:dtype``."""
    pairs = [(name, "handle") for name in handles.split()]
    pairs += [
        (name, dtype or "int32") for name, _, dtype in (word.partition(":") for word in scalars.split())
    ]
    parameters = ", ".join(f"{name}: T.{dtype}" for name, dtype in pairs)
    return S.from_source(
        f"@S.prim_func\ndef main({parameters}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    )


def csr_program(
    y: str, statements: str, dtype: str = "float32", flags: str = "", default: str = ""
) -> PrimFunc:
    """A function of ``a, x, y, indptr, indices, m, n, nnz`` where y has the axes ``y`` among I, J and D."""
    head = textwrap.dedent(CSR.format(dtype=dtype, flags=flags, default=default))
    head += f'Y = S.match_sparse_buffer(y, ({y},), "{dtype}")\n'
    return program("a x y indptr indices", "m n nnz", head + textwrap.dedent(statements))


def i32(*numbers: int) -> NDArray[np.int32]:
    """A structure array."""
    return np.array(numbers, "int32")


def f32(*numbers: Any) -> NDArray[np.float32]:
    """A value array."""
    return np.array(numbers, "float32")


def code_of(call: Callable[[], Any]) -> str:
    """The code of the refusal that the call must end in."""
    with pytest.raises(errors.SparseTIRError) as caught:
        call()
    return caught.value.code
