"""Awkward structure: compressed rows, ELL rows and ragged rows that break what is easy to assume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: What a dead place of an index array holds: an address that must never be formed.
DEAD_INDEX = -(2**20)


def dead_value(dtype: Any) -> Any:
    """What a place holds that is never read: NaN, or a large number."""
    return np.nan if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max // 3


def small_values(rng: np.random.Generator, shape: Any, dtype: Any) -> NDArray[Any]:
    """Numbers whose sums and products are exact in every dtype: small multiples of 1/4, or small integers."""
    numbers: NDArray[Any] = rng.integers(-4, 5, shape)
    if np.dtype(dtype).kind == "f":
        numbers = numbers / 4
    return numbers.astype(dtype)


@dataclass(frozen=True)
class Csr:
    """Compressed rows.

    Attributes
    ----------
    shape
        Rows and columns.
    indptr, indices, data
        As in SciPy, but that ``indptr[0]`` may be above 0: what stands before is dead.
    """

    shape: tuple[int, int]
    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]

    @property
    def nnz(self) -> int:
        """Stored entries, the dead head included."""
        return int(self.data.shape[0])

    @property
    def live(self) -> slice:
        """The entries that belong to a row."""
        return slice(int(self.indptr[0]), int(self.indptr[-1]))

    @property
    def rows(self) -> NDArray[Any]:
        """The row of each live entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @property
    def columns(self) -> NDArray[Any]:
        """The column of each live entry."""
        return self.indices[self.live]

    @property
    def matrix(self) -> sp.csr_array:
        """The same without the dead head."""
        indptr = self.indptr - self.indptr[0]
        return sp.csr_array((self.data[self.live], self.columns, indptr), shape=self.shape)


def csr(
    rng: np.random.Generator,
    n_cols: int,
    lengths: Sequence[int],
    *,
    head: int = 0,
    dtype: Any = "float32",
    idtype: Any = "int32",
    sorted: bool = True,
    unique: bool = True,
) -> Csr:
    """Rows of these lengths with random columns; the first ``head`` entries are dead."""
    rows = []
    for length in lengths:
        drawn = rng.permutation(n_cols)[:length] if unique else rng.integers(0, max(n_cols, 1), length)
        rows.append(np.sort(drawn) if sorted else drawn)
    dead = np.full(head, DEAD_INDEX)
    indices = np.concatenate([dead, *rows]).astype(idtype)
    indptr = np.concatenate([[head], head + np.cumsum(lengths)]).astype(idtype)
    data = small_values(rng, len(indices), dtype)
    data[:head] = dead_value(dtype)
    return Csr((len(lengths), n_cols), indptr, indices, data)


#: Name -> (columns, row lengths, dead head). Rectangular both ways, empty sides, hub rows, empty rows and columns.
AWKWARD_ROWS: dict[str, tuple[int, list[int], int]] = {
    "wide": (9, [2, 0, 5, 1], 0),
    "tall": (3, [0, 3, 1, 0, 2, 2, 0], 0),
    "hub_row": (6, [0, 1, 6, 0, 1, 1], 0),
    "nothing_stored": (4, [0, 0, 0], 0),
    "no_rows": (4, [], 0),
    "no_columns": (0, [0, 0], 0),
    "dead_head": (5, [0, 4, 0, 3, 0], 3),
    "only_a_dead_head": (5, [0, 0], 4),
    "one_by_one": (1, [1], 0),
    "long_rows": (40, [33, 0, 17, 40, 1], 2),
}


def awkward_csr(
    dtype: Any = "float32", idtype: Any = "int32", *, sorted: bool = True, unique: bool = True, seed: int = 0
) -> dict[str, Csr]:
    """Every pattern of `AWKWARD_ROWS`, with values."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, (n_cols, lengths, head) in AWKWARD_ROWS.items():
        doubled = lengths if unique or not n_cols else [length * 2 for length in lengths]
        found[name] = csr(
            rng, n_cols, doubled, head=head, dtype=dtype, idtype=idtype, sorted=sorted, unique=unique
        )
    return found


@dataclass(frozen=True)
class Ell:
    """Rows of a fixed number of slots: ``indices`` and ``data`` of shape (m, width); a dead slot has index n."""

    shape: tuple[int, int]
    indices: NDArray[Any]
    data: NDArray[Any]

    @property
    def live(self) -> NDArray[Any]:
        """Whether a slot is stored."""
        return self.indices < self.shape[1]


def ell(rows: Csr, width: int | None = None, *, middle: bool = False) -> Ell:
    """The rows of a matrix in slots. ``middle``: padding stands between entries too (an unsorted axis)."""
    lengths = np.diff(rows.indptr)
    width = int(lengths.max(initial=0)) + 1 if width is None else width
    indices = np.full((rows.shape[0], width), rows.shape[1], rows.indices.dtype)
    data = np.full((rows.shape[0], width), dead_value(rows.data.dtype), rows.data.dtype)
    for row, length in enumerate(lengths):
        first = int(rows.indptr[row])
        slots = np.arange(length) + (width - length if middle else 0)
        indices[row, slots] = rows.indices[first : first + length]
        data[row, slots] = rows.data[first : first + length]
    return Ell(rows.shape, indices, data)


@st.composite
def csr_rows(
    draw: st.DrawFn,
    dtype: Any = "float32",
    idtype: Any = "int32",
    *,
    sorted: bool = True,
    unique: bool = True,
    max_side: int = 7,
) -> Csr:
    """Any small matrix: empty sides, empty rows, hub rows, a dead head; unsorted or with repeats if declared."""
    n_cols = draw(st.integers(0, max_side), label="columns")
    longest = n_cols if unique else 2 * n_cols
    lengths = draw(st.lists(st.integers(0, longest), max_size=max_side), label="row lengths")
    head = draw(st.sampled_from([0, 0, 1, 3]), label="dead head")
    seed = draw(st.integers(0, 2**16), label="seed")
    return csr(
        np.random.default_rng(seed),
        n_cols,
        lengths,
        head=head,
        dtype=dtype,
        idtype=idtype,
        sorted=sorted,
        unique=unique,
    )


def ragged_lengths(rng: np.random.Generator, rows: int, longest: int) -> NDArray[Any]:
    """Row lengths in [0, longest] of one awkward kind: random, all empty, one hub, full."""
    lengths = rng.integers(0, longest + 1, rows)
    kind = rng.integers(0, 6)
    if kind == 0:
        lengths[:] = 0
    elif kind == 1:
        lengths[:] = longest
    elif kind == 2 and rows:
        lengths[:] = 0
        lengths[rng.integers(0, rows)] = longest
    return lengths
