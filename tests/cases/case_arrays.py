"""Arrays and matrices as cases.json writes them (its ``conventions`` say how)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

TOKENS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "-0.0": -0.0}
_LAYOUT_KEYS = {"csr": {"indptr", "indices"}, "coo": {"rows", "cols"}}


def _number(x: Any) -> Any:
    if isinstance(x, list):
        return [_number(element) for element in x]
    return TOKENS.get(x, x) if isinstance(x, str) else x


def array(entry: dict[str, Any]) -> NDArray[Any]:
    """Of literal numbers or of a formula over the indices i, j, k. A view is made by `view_and_base`."""
    dtype = np.dtype(entry["dtype"])
    if "expr" in entry:
        grids = dict(zip("ijk", np.indices(entry["shape"]), strict=False))
        values = eval(entry["expr"], {"__builtins__": {}, "np": np}, grids)
        return np.ascontiguousarray(np.broadcast_to(values, entry["shape"]).astype(dtype))
    values = np.array(_number(entry["data"]), dtype)  # integers keep all their digits
    return values.reshape(entry.get("shape", values.shape))


def view_and_base(entry: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The array, and the memory that it is a view of (itself, if it is none)."""
    if "view" not in entry:
        whole = array(entry)
        return whole, whole
    base = array(entry["base"])
    view = eval(entry["view"], {"__builtins__": {}}, {"base": base})
    assert view.shape == tuple(entry["shape"])
    assert np.shares_memory(view, base)
    return view, base


def sparse(entry: dict[str, Any]) -> Any:
    """A SciPy array with these very arrays, however broken: its constructors would refuse or repair them."""
    layout = entry["format"]
    assert entry.keys() == {"format", "shape", "data"} | _LAYOUT_KEYS[layout]
    if layout == "coo":
        rows, cols = array(entry["rows"]), array(entry["cols"])
        return sp.coo_array((array(entry["data"]), (rows, cols)), shape=tuple(entry["shape"]))
    matrix = sp.csr_array(tuple(entry["shape"]))
    matrix.indptr, matrix.indices, matrix.data = (array(entry[k]) for k in ("indptr", "indices", "data"))
    return matrix


def assert_equal(actual: NDArray[Any], wanted: NDArray[Any], shape: tuple[int, ...] | None = None) -> None:
    """Equal as numbers: 0.0 equals -0.0, NaN equals NaN; dtype and shape count."""
    assert actual.dtype == wanted.dtype
    assert actual.shape == (wanted.shape if shape is None else shape)
    np.testing.assert_array_equal(actual.reshape(wanted.shape), wanted)
