"""The programs that everybody writes, over awkward patterns, against SciPy and NumPy, in every way of running them.

A kernel is compiled once and reused for every pattern: sizes and numbers of entries are run-time values.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from sparse_tir import script as S
from sparse_tir.testing.agreement import WAYS, Stages

HEAD = {
    "csr": "    I = S.dense_fixed(m)\n    J = S.sparse_variable(I, (n, nnz), (indptr, indices), '{idtype}')\n"
    "    N = S.dense_fixed(n)\n",
    "csc": "    N = S.dense_fixed(n)\n    I = S.sparse_variable(N, (m, nnz), (indptr, indices), '{idtype}')\n"
    "    M = S.dense_fixed(m)\n",
}
ARGUMENTS = "indptr: T.handle, indices: T.handle, m: T.int32, n: T.int32, nnz: T.int32"
FEAT = 3


def text(handles: str, body: str) -> str:
    params = ", ".join(f"{name}: T.handle" for name in handles.split())
    return f"@S.prim_func\ndef main({params}, {ARGUMENTS}):\n{body}"


def buffer(name: str, axes: str, dtype: str) -> str:
    return f"    {name} = S.match_sparse_buffer({name.lower()}, ({axes},), '{dtype}')\n"


def fold(axes: str, kinds: str, element: str, value: str, dtype: str, start: str = "0", op: str = "+") -> str:
    names = ", ".join(a.lower() for a in axes.split(", "))
    combined = f"{element} {op} {value}" if op in "+*" else f"T.{op}({element}, {value})"
    zero = f"T.cast({start}, '{dtype}')" if "inf" not in start else f"T.{dtype}('{start}')"
    return (
        f"    with S.iter([{axes}], '{kinds}', 'fold') as [{names}]:\n        with S.init():\n"
        f"            {element} = {zero}\n        {element} = {combined}\n"
    )


@functools.cache
def stages(source: str) -> Stages:
    return Stages.of(S.from_source(source))


def dense_pattern(name: str, rng: np.random.Generator) -> np.ndarray:
    """Which entries are stored: rectangular, with empty first, middle and last rows, hubs, nothing at all."""
    mask = rng.random((7, 5)) < 0.4
    mask[[0, 3, 6]] = False
    if name == "hub":
        mask[2] = True
        mask[:, 4] = False
    if name == "nothing":
        mask[:] = False
    if name == "one row":
        return np.ones((1, 5), bool)
    if name == "no rows":
        return np.zeros((0, 5), bool)
    return mask


PATTERNS = ("scattered", "hub", "nothing", "one row", "no rows")


def values(rng: np.random.Generator, shape, dtype: str) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(dtype)  # exact in every dtype, so results are equal


def compressed(mask: np.ndarray, data: np.ndarray, idtype: str, dead: int) -> dict[str, np.ndarray]:
    """CSR arrays of the mask, with ``dead`` positions before indptr[0] that must never be touched."""
    rows, cols = np.nonzero(mask)
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]) + dead
    poison = np.full(dead, np.nan if data.dtype.kind == "f" else 77, data.dtype)
    return {
        "indptr": indptr.astype(idtype),
        "indices": np.concatenate([np.full(dead, 1 << 20), cols]).astype(idtype),
        "A": np.concatenate([poison, data[rows, cols]]),
    }


def poisoned(shape, dtype: str) -> np.ndarray:
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


def check(source: str, given: dict, output: str, wanted: np.ndarray) -> None:
    for way in WAYS:
        found = stages(source).run(way, given)[output]
        np.testing.assert_array_equal(found, wanted, err_msg=f"{way}\n{source}")


def cases(dtypes=("float32", "float64", "int32")):
    return itertools.product(PATTERNS, dtypes, ("int32", "int64"), (0, 2))


# ---- CSR and CSC
@pytest.mark.parametrize("order", ["I, J, K", "I, K, J", "K, I, J"])
def test_csr_spmm_in_every_order(order: str) -> None:
    for pattern, dtype, idtype, dead in cases():
        rng = np.random.default_rng(1)
        mask = dense_pattern(pattern, rng)
        data, b = values(rng, mask.shape, dtype), values(rng, (mask.shape[1], FEAT), dtype)
        kinds = "".join("R" if a == "J" else "S" for a in order.split(", "))
        body = HEAD["csr"].format(idtype=idtype) + f"    K = S.dense_fixed({FEAT})\n"
        body += buffer("A", "I, J", dtype) + buffer("B", "N, K", dtype) + buffer("C", "I, K", dtype)
        body += fold(order, kinds, "C[i, k]", "A[i, j] * B[j, k]", dtype)
        given = {**compressed(mask, data, idtype, dead), "B": b, "C": poisoned((len(mask), FEAT), dtype)}
        given.update(m=mask.shape[0], n=mask.shape[1], nnz=given["A"].size)
        check(text("a b c", body), given, "C", (data * mask) @ b)


@pytest.mark.parametrize("order", ["N, I, K", "N, K, I", "K, N, I"])
def test_csc_spmm_in_every_order(order: str) -> None:
    for pattern, dtype, idtype, dead in cases(("float32", "int32")):
        rng = np.random.default_rng(2)
        mask = dense_pattern(pattern, rng)
        data, b = values(rng, mask.shape, dtype), values(rng, (mask.shape[1], FEAT), dtype)
        kinds = "".join("R" if a == "N" else "S" for a in order.split(", "))
        body = HEAD["csc"].format(idtype=idtype) + f"    K = S.dense_fixed({FEAT})\n"
        body += buffer("A", "N, I", dtype) + buffer("B", "N, K", dtype) + buffer("C", "M, K", dtype)
        body += fold(order, kinds, "C[i, k]", "A[n_, i] * B[n_, k]".replace("n_", "n"), dtype)
        body = body.replace("as [n,", "as [n0,").replace(", n,", ", n0,").replace("[n, ", "[n0, ")
        given = {**compressed(mask.T, data.T, idtype, dead), "B": b, "C": poisoned((len(mask), FEAT), dtype)}
        given.update(m=mask.shape[0], n=mask.shape[1], nnz=given["A"].size)
        check(text("a b c", body), given, "C", (data * mask) @ b)


def test_spmv_and_element_wise() -> None:
    for pattern, dtype, idtype, dead in cases():
        rng = np.random.default_rng(3)
        mask = dense_pattern(pattern, rng)
        data, x = values(rng, mask.shape, dtype), values(rng, mask.shape[1], dtype)
        head = HEAD["csr"].format(idtype=idtype) + buffer("A", "I, J", dtype) + buffer("X", "N", dtype)
        given = {**compressed(mask, data, idtype, dead), "X": x}
        given.update(m=mask.shape[0], n=mask.shape[1], nnz=given["A"].size)
        spmv = head + buffer("Y", "I", dtype) + fold("I, J", "SR", "Y[i]", "A[i, j] * X[j]", dtype)
        check(text("a x y", spmv), {**given, "Y": poisoned(len(mask), dtype)}, "Y", (data * mask) @ x)
        scale = head + buffer("C", "I, J", dtype)
        scale += "    with S.iter([I, J], 'SS', 'scale') as [i, j]:\n        C[i, j] = A[i, j] * X[j]\n"
        start = poisoned(given["A"].size, dtype)
        wanted = start.copy()
        wanted[dead:] = (data * x)[np.nonzero(mask)]
        check(text("a x c", scale), {**given, "C": start}, "C", wanted)


@pytest.mark.parametrize(
    ("op", "start", "reduce"),
    [("+", "0", np.add), ("*", "1", np.multiply), ("max", "-inf", np.maximum), ("min", "inf", np.minimum)],
)
@pytest.mark.parametrize("axis", ["row", "column"])
def test_row_and_column_reductions(op: str, start: str, reduce: np.ufunc, axis: str) -> None:
    for pattern, dtype, idtype, dead in cases(("float32", "float64")):
        rng = np.random.default_rng(4)
        mask = dense_pattern(pattern, rng)
        data = values(rng, mask.shape, dtype)
        if mask.sum() > 2:
            data[tuple(np.argwhere(mask)[0])] = np.nan  # first in its row: compare-and-select would lose it
        out, element, kinds = ("I", "Y[i]", "SR") if axis == "row" else ("N", "Y[j]", "RS")
        body = HEAD["csr"].format(idtype=idtype) + buffer("A", "I, J", dtype) + buffer("Y", out, dtype)
        body += fold("I, J", kinds, element, "A[i, j]", dtype, start, op)
        given = compressed(mask, data, idtype, dead)
        size = mask.shape[0 if axis == "row" else 1]
        given.update(Y=poisoned(size, dtype), m=mask.shape[0], n=mask.shape[1], nnz=given["A"].size)
        along = 1 if axis == "row" else 0
        filled = np.where(mask, data, np.asarray(float(start), dtype))
        wanted = reduce.reduce(filled, axis=along, initial=float(start))
        check(text("a y", body), given, "Y", wanted.astype(dtype))


# ---- other layouts
def test_dcsr_starts_the_rows_that_are_not_listed() -> None:
    body = (
        "    I = S.dense_fixed(m)\n    O = S.sparse_fixed(None, (m, rows), row_ids)\n"
        "    J = S.sparse_variable(O, (n, nnz), (indptr, indices))\n    N = S.dense_fixed(n)\n"
        + buffer("A", "O, J", "float32")
        + buffer("X", "N", "float32")
        + buffer("Y", "I", "float32")
        + fold("O, J", "SR", "Y[o]", "A[o, j] * X[j]", "float32")
    )
    source = text("a x y row_ids", body).replace("nnz: T.int32", "nnz: T.int32, rows: T.int32")
    for pattern in PATTERNS:
        rng = np.random.default_rng(5)
        mask = dense_pattern(pattern, rng)
        data, x = values(rng, mask.shape, "float32"), values(rng, mask.shape[1], "float32")
        listed = np.flatnonzero(mask.any(axis=1))
        for padding in (0, 2):  # a padded slot holds the number of rows and no entries
            given = compressed(mask[listed], data[listed], "int32", 0)
            given["indptr"] = np.append(given["indptr"], np.repeat(given["indptr"][-1:], padding))
            given["row_ids"] = np.append(listed, np.full(padding, len(mask))).astype("int32")
            given.update(X=x, Y=poisoned(len(mask), "float32"), m=mask.shape[0], n=mask.shape[1])
            given.update(nnz=given["A"].size, rows=given["row_ids"].size)
            check(source, given, "Y", (data * mask) @ x)


def test_ell_never_looks_through_padding() -> None:
    body = (
        "    I = S.dense_fixed(m)\n    J = S.sparse_fixed(I, (n, 5), indices)\n    N = S.dense_fixed(n)\n"
        f"    K = S.dense_fixed({FEAT})\n"
        + buffer("A", "I, J", "float32")
        + buffer("B", "N, K", "float32")
        + buffer("C", "I, K", "float32")
        + fold("I, J, K", "SRS", "C[i, k]", "A[i, j] * B[j, k]", "float32")
    )
    params = "a: T.handle, b: T.handle, c: T.handle, indices: T.handle, m: T.int32, n: T.int32"
    source = f"@S.prim_func\ndef main({params}):\n{body}"
    for pattern in PATTERNS:
        rng = np.random.default_rng(6)
        mask = dense_pattern(pattern, rng)
        data, b = values(rng, mask.shape, "float32"), values(rng, (mask.shape[1], FEAT), "float32")
        indices, slots = np.full((len(mask), 5), 5, "int32"), np.full((len(mask), 5), np.nan, "float32")
        for row, stored in enumerate(mask):
            indices[row, : stored.sum()] = np.flatnonzero(stored)
            slots[row, : stored.sum()] = data[row, stored]
        unused = ~mask.any(axis=0)
        b[unused] = np.inf
        wanted = np.where(mask, data, 0) @ np.where(unused[:, None], 0, b)
        given = {"A": slots, "B": b, "indices": indices.ravel(), "C": poisoned((len(mask), FEAT), "float32")}
        check(source, {**given, "m": mask.shape[0], "n": mask.shape[1]}, "C", wanted)


BSR_ORDERS = [o for o in itertools.permutations(["I", "J", "P", "Q", "F"]) if o.index("I") < o.index("J")]


@pytest.mark.parametrize("order", BSR_ORDERS[::3], ids=lambda o: "".join(o))
def test_bsr_spmm_in_legal_orders(order: tuple[str, ...]) -> None:
    kinds = "".join("R" if a in "JQ" else "S" for a in order)
    body = (
        HEAD["csr"].format(idtype="int32")
        + f"    P = S.dense_fixed(2)\n    Q = S.dense_fixed(3)\n    F = S.dense_fixed({FEAT})\n"
        + buffer("A", "I, J, P, Q", "float32")
        + buffer("B", "N, Q, F", "float32")
        + buffer("C", "I, P, F", "float32")
        + fold(", ".join(order), kinds, "C[i, p, f]", "A[i, j, p, q] * B[j, q, f]", "float32")
    )
    for pattern in ("scattered", "nothing", "hub"):
        rng = np.random.default_rng(7)
        mask = dense_pattern(pattern, rng)
        blocks, b = (
            values(rng, (*mask.shape, 2, 3), "float32"),
            values(rng, (mask.shape[1], 3, FEAT), "float32"),
        )
        given = compressed(mask, np.zeros(mask.shape, "float32"), "int32", 0)
        given["A"] = blocks[np.nonzero(mask)]
        given.update(B=b, C=poisoned((len(mask), 2, FEAT), "float32"))
        given.update(m=mask.shape[0], n=mask.shape[1], nnz=int(mask.sum()))
        wanted = np.einsum("ijpq,jqf->ipf", blocks * mask[..., None, None], b)
        check(text("a b c", body), given, "C", wanted)


def test_ragged_segment_reduce() -> None:
    body = (
        "    I = S.dense_fixed(m)\n    L = S.dense_variable(I, (n, nnz), indptr)\n"
        f"    F = S.dense_fixed({FEAT})\n"
        + buffer("X", "I, L, F", "float32")
        + buffer("Y", "I, F", "float32")
        + fold("I, L, F", "SRS", "Y[i, f]", "X[i, l, f]", "float32")
    )
    params = "x: T.handle, y: T.handle, indptr: T.handle, m: T.int32, n: T.int32, nnz: T.int32"
    source = f"@S.prim_func\ndef main({params}):\n{body}"
    for lengths in ([0, 3, 0, 1, 0], [0, 0], [4], []):
        for dead in (0, 2):
            rng = np.random.default_rng(8)
            indptr = np.concatenate([[0], np.cumsum(lengths)]).astype("int32") + np.int32(dead)
            x = values(rng, (indptr[-1], FEAT), "float32")
            wanted = np.array([x[a:b].sum(axis=0) for a, b in itertools.pairwise(indptr)]).reshape(-1, FEAT)
            x[:dead] = np.nan
            given = {"X": x, "Y": poisoned((len(lengths), FEAT), "float32"), "indptr": indptr}
            given.update(m=len(lengths), n=max(lengths, default=0), nnz=int(indptr[-1]))
            check(source, given, "Y", wanted)


@pytest.mark.parametrize("order", ["I, J, K", "K, I, J", "I, K, J"])
def test_sddmm_writes_only_what_is_stored(order: str) -> None:
    kinds = "".join("R" if a == "K" else "S" for a in order.split(", "))
    body = HEAD["csr"].format(idtype="int32") + f"    K = S.dense_fixed({FEAT})\n"
    body += buffer("X", "I, K", "float32") + buffer("Y", "N, K", "float32") + buffer("C", "I, J", "float32")
    body += fold(order, kinds, "C[i, j]", "X[i, k] * Y[j, k]", "float32")
    for pattern, dead in itertools.product(PATTERNS, (0, 2)):
        rng = np.random.default_rng(9)
        mask = dense_pattern(pattern, rng)
        x, y = (values(rng, (size, FEAT), "float32") for size in mask.shape)
        given = compressed(mask, np.zeros(mask.shape, "float32"), "int32", dead)
        start = poisoned(given.pop("A").size, "float32")
        wanted = start.copy()
        wanted[dead:] = (x @ y.T)[np.nonzero(mask)]
        given.update(X=x, Y=y, C=start, m=mask.shape[0], n=mask.shape[1], nnz=start.size)
        check(text("x y c", body), given, "C", wanted)


def test_a_dense_walk_of_a_sparse_operand_searches_it() -> None:
    for pattern, dtype, idtype, dead in cases(("float32",)):
        rng = np.random.default_rng(10)
        mask = dense_pattern(pattern, rng)
        data = values(rng, mask.shape, dtype)
        body = HEAD["csr"].format(idtype=idtype) + buffer("A", "I, J", dtype) + buffer("D", "I, N", dtype)
        body += "    with S.iter([I, N], 'SS', 'densify') as [i, j]:\n        D[i, j] = A[i, j]\n"
        given = {**compressed(mask, data, idtype, dead), "D": poisoned(mask.shape, dtype)}
        given.update(m=mask.shape[0], n=mask.shape[1], nnz=given["A"].size)
        check(text("a d", body), given, "D", data * mask)


def test_spmm_agrees_with_scipy_on_a_power_law_matrix() -> None:
    rng = np.random.default_rng(11)
    counts = np.minimum(rng.zipf(1.6, 300), 200)
    rows = np.repeat(np.arange(300), counts)
    matrix = sp.csr_array((rng.random(rows.size), (rows, rng.integers(0, 250, rows.size))), shape=(300, 250))
    import sparse_tir as st

    dense = rng.random((250, 20))
    np.testing.assert_allclose(st.spmm(matrix, dense), matrix @ dense, rtol=1e-12)
