"""CSR arrays in every state of disrepair, drawn by Hypothesis, and what they mean where they are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

HUGE = (2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**62)
DTYPES = (
    *(
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        ">i4",
        ">i8",
        ">f4",
        "float16",
    ),
    *("float32", "float64", "complex64", "bool", "object", "U3", "S3", "M8[s]", "m8[s]", "i4,i4", "V4"),
)


@dataclass
class Csr:
    """Arguments of a call: three arrays and a shape, or what stands in their places."""

    data: Any
    indices: Any
    indptr: Any
    shape: Any


def expected(csr: Csr, shape: tuple[int, int]) -> NDArray[Any]:
    """The dense matrix that accepted arrays stand for, computed entry by entry."""
    values, columns, ends = (
        np.asarray(csr.data),
        np.asarray(csr.indices).tolist(),
        np.asarray(csr.indptr).tolist(),
    )
    dense = np.zeros(shape, values.dtype.newbyteorder("="))
    for row in range(shape[0]):
        for position in range(ends[row], ends[row + 1]):
            dense[row, columns[position]] += values[position]
    return dense


def _unaligned(array: NDArray[Any]) -> NDArray[Any]:
    memory = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype)
    view[:] = array
    return view


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _strided(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 3)[::3]


def _with(array: NDArray[Any], position: int, number: float) -> NDArray[Any]:
    if array.size == 0:
        return array
    copy = array.astype("int64" if isinstance(number, int) and array.dtype.kind in "iu" else "float64")
    copy[position % array.size] = number
    return copy


#: What keeps the meaning of an array, and what changes it or makes it something else.
HARMLESS: tuple[Callable[[NDArray[Any]], Any], ...] = (
    _unaligned,
    _read_only,
    _strided,
    lambda a: a[::-1].copy()[::-1],
    lambda a: a.astype("int64") if a.dtype.kind == "i" else a.copy(),
    lambda a: a.astype(a.dtype.newbyteorder(">")),
)
HARMFUL: tuple[Callable[[NDArray[Any]], Any], ...] = (
    lambda a: a[:-1],
    lambda a: a[:0],
    lambda a: np.append(a, a[-1:]),
    lambda a: np.append(a, np.zeros(3, a.dtype)),
    lambda a: a[::-1],
    lambda a: a.reshape(-1, 1),
    lambda a: a.reshape(1, 1, -1),
    lambda a: np.array(2, a.dtype),
    lambda a: np.broadcast_to(a[:1], a.shape) if a.size else a,
    lambda a: a.tolist(),
    lambda a: tuple(a),
    lambda a: memoryview(a),
    lambda a: np.ma.masked_array(a, mask=a == 0),
    lambda a: a.tobytes(),
    lambda a: None,
    lambda a: 3,
    lambda a: "indptr",
    lambda a: object(),
    lambda a: type(a),
)
SHAPES: tuple[Callable[[int, int], Any], ...] = (
    lambda m, n: (m + 1, n),
    lambda m, n: (m, n - 1),
    lambda m, n: (m, n + 5),
    lambda m, n: (-m, n),
    lambda m, n: (m, -1),
    lambda m, n: (m, 2**40),
    lambda m, n: (2**62, n),
    lambda m, n: (2**63, 2**63),
    lambda m, n: (m,),
    lambda m, n: (m, n, 1),
    lambda m, n: (float(m), n),
    lambda m, n: ("m", "n"),
    lambda m, n: None,
    lambda m, n: m,
    lambda m, n: np.array([m, n]),
)


@st.composite
def arrays(draw: st.DrawFn, idtype: str, dtype: str, shapes: bool = True) -> Csr:
    """Right CSR arrays with up to two things done to them."""
    m, n = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, n), min_size=m, max_size=m))
    head = draw(st.integers(0, 2))
    indptr = np.cumsum([head, *lengths]).astype(idtype)
    columns = [*range(head), *(column for length in lengths for column in range(length))]
    indices = np.array(columns, idtype) % n
    csr = Csr(np.arange(1, len(columns) + 1).astype(dtype), indices, indptr, (m, n))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(
            st.sampled_from(
                ("indptr", "indices", "data", "shape") if shapes else ("indptr", "indices", "data")
            )
        )
        value = getattr(csr, name)
        if name == "shape":
            csr.shape = draw(st.sampled_from(SHAPES))(m, n)
        elif isinstance(value, np.ndarray) and value.ndim == 1:
            setattr(csr, name, draw(_changed(value)))
    return csr


def _changed(value: NDArray[Any]) -> st.SearchStrategy[Any]:
    if value.dtype.kind not in "iuf":  # changed before
        return st.just(value)
    number = st.one_of(st.sampled_from(HUGE), st.integers(-2, 7), st.sampled_from((np.nan, np.inf, 1.5)))
    return st.one_of(
        st.sampled_from(HARMLESS).map(lambda way: way(value)),
        st.sampled_from(HARMFUL).map(lambda way: way(value)),
        st.builds(_with, st.just(value), st.integers(0, 99), number),
        st.sampled_from(DTYPES).map(lambda dtype: _cast(value, dtype)),
    )


def _cast(value: NDArray[Any], dtype: str) -> NDArray[Any]:
    if dtype in ("i4,i4", "V4"):
        return np.zeros(value.shape, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        return value.astype(dtype)
