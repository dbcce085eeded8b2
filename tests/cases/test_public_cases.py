"""Small inputs that broke systems doing the same job (``../shared/cases/cases.json`` beside the repository).

Each case runs as far as this version has its operator; what is left out stands in two tables with the reason.
Every field of a case counts: a harness that met one it does not know would fail.
"""

from __future__ import annotations

import base64
import io
import json
import pathlib
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from case_arrays import array, assert_equal, sparse, view_and_base

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops import KERNELS

FILE = pathlib.Path(__file__).parents[2].parent / "shared" / "cases" / "cases.json"
if not FILE.is_file():
    pytest.skip(f"the public cases are not there: no {FILE}", allow_module_level=True)
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads(FILE.read_text(encoding="utf-8"))["cases"]
}

#: Operator -> why its cases do not run yet.
NO_OPERATOR = {
    "block_attention": "no attention operator; its program needs S.alloc_sparse_buffer",
    "mul": "no element-wise operator and no lazy expressions",
    "rgms": "no relational operator",
    "row_softmax": "no softmax operator; its program needs S.alloc_sparse_buffer",
    "sddmm": "no lazy expressions",
    "sparse_conv": "no convolution operator",
    "tune": "about records of other systems; tests/tuning asks the same of ours",
}
#: Case -> dtype that operators must refuse by name (ST156) until they compute in it.
NO_DTYPE = {
    "spmm-fp16-hub-row": ["float16"],
    "spmm-bool-256-paths": ["bool", "bool"],
    "spmm-int8-into-int32": ["int8", "uint8"],
}
#: Fields that say in words what the others say in numbers.
WORDS = {"note", "name", "start", "also", "then", "via", "compare", "why", "words", "to", "every_round"}

BSR_SPMM = """
@S.prim_func
def bsr_spmm(a: T.handle, b: T.handle, c: T.handle, indptr: T.handle, indices: T.handle,
             mb: T.int32, nb: T.int32, nnzb: T.int32):
    I = S.dense_fixed(mb)
    J = S.sparse_variable(I, (nb, nnzb), (indptr, indices), sorted=False)
    J_dense = S.dense_fixed(nb)
    BI = S.dense_fixed({rows})
    BJ = S.dense_fixed({columns})
    F = S.dense_fixed({features})
    A = S.match_sparse_buffer(a, (I, J, BI, BJ), "float32")
    B = S.match_sparse_buffer(b, (J_dense, BJ, F), "float32")
    C = S.match_sparse_buffer(c, (I, BI, F), "float32")
    with S.iter([I, J, BI, BJ, F], "SRSRS", "bsr_spmm") as [i, j, bi, bj, f]:
        with S.init():
            C[i, bi, f] = T.float32(0)
        C[i, bi, f] = C[i, bi, f] + A[i, j, bi, bj] * B[j, bj, f]
"""
ELL_SPMM = """
@S.prim_func
def ell_spmm(a: T.handle, b: T.handle, c: T.handle, indices: T.handle, m: T.int32, n: T.int32):
    I = S.dense_fixed(m)
    J = S.sparse_fixed(I, (n, {width}), indices)
    J_dense = S.dense_fixed(n)
    F = S.dense_fixed({features})
    A = S.match_sparse_buffer(a, (I, J), "float32")
    B = S.match_sparse_buffer(b, (J_dense, F), "float32")
    C = S.match_sparse_buffer(c, (I, F), "float32")
    with S.iter([I, J, F], "SRS", "ell_spmm") as [i, j, f]:
        with S.init():
            C[i, f] = T.float32(0)
        C[i, f] = C[i, f] + A[i, j] * B[j, f]
"""


def case_ids(*operators: str) -> list[str]:
    return [name for name, case in CASES.items() if case["op"] in operators]


def is_one_product(name: str) -> bool:
    """The others, with several calls or threads or an unsupported dtype, have tests of their own."""
    return name not in NO_DTYPE and not CASES[name]["inputs"].keys() & {"calls", "threads"}


def take(fields: dict[str, Any], *names: str) -> list[Any]:
    """Remove and return fields (None where there is none)."""
    return [fields.pop(name, None) for name in names]


def assert_all_used(*remaining: dict[str, Any]) -> None:
    for fields in remaining:
        assert fields.keys() <= WORDS, f"the harness does not know {sorted(fields.keys() - WORDS)}"


def parts_of(case: dict[str, Any], key: str = "parts") -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The sub-cases, each with what is common to all; the case itself if it has none."""
    inputs, expect = dict(case["inputs"]), dict(case["expect"])
    given, wanted = inputs.pop(key, [{}]), expect.pop(key, [{}])
    for part, result in zip(given, wanted, strict=True):
        yield {**inputs, **part}, {**expect, **result}


def assert_refused(call: Callable[[], Any], names: list[str], message: str) -> errors.SparseTIRError:
    with pytest.raises(errors.DataError) as caught:
        call()
    for name in names:
        assert name in str(caught.value), f"{name!r} is not in the refusal, which should say: {message}"
    return caught.value


def operand(fields: dict[str, Any]) -> Any:
    """The dense operand: x, "ones of matching length", or a matrix."""
    x, dense = take(fields, "x", "dense")
    if x == "ones of matching length":
        return np.ones(fields["a"]["shape"][1], fields["a"]["data"]["dtype"])
    return array(x if dense is None else dense)


def run(A: Any, X: Any, out: Any = None) -> Any:
    return st.spmv(A, X, out) if X.ndim == 1 else st.spmm(A, X, out)


def run_product(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    """One product: its value, and that of everything said beside it."""
    (a, alpha, beta, readonly, out, before) = take(
        inputs, "a", "alpha", "beta", "readonly", "out", "out_before"
    )
    assert alpha in (None, 1.0)
    assert beta in (None, 0.0)
    A = sparse(a)
    inputs["a"] = a
    if isinstance(inputs.get("dense"), dict):
        X, base = view_and_base(inputs.pop("dense"))
    else:
        X = base = operand(inputs)
    inputs.pop("a")
    arrays = {"a.indptr": A.indptr, "a.indices": A.indices, "a.data": A.data, "dense": X, "x": X}
    for name in readonly or []:
        arrays[name].flags.writeable = False
    held = {name: array_.tobytes() for name, array_ in arrays.items()}
    value, error, or_error, names = take(expect, "value", "error", "or_error", "names")
    if error is not None:
        assert_refused(lambda: run(A, X), names, error)
        assert_refused(lambda: st.asarray(A), names, error)
    elif out is not None:
        target = X if out == "the same memory as dense" else eval(out, {"__builtins__": {}}, {"base": base})
        refusal = assert_refused(lambda: run(A, X, target), ["out", "shares memory"], or_error)
        assert refusal.code == "ST154"
    else:
        assert_equal(run(A, X), array(value))
        for filling in (np.nan, 7.0) if before is not None else (7.0,):
            target = np.full(array(value).shape, filling if array(value).dtype.kind == "f" else 7, X.dtype)
            if before is not None and np.isnan(filling):
                np.testing.assert_array_equal(target, array(before))
            assert run(A, X, target) is target
            assert_equal(target, array(value))
    check_matrix(A, expect)
    unchanged = expect.pop("unchanged", list(arrays))
    assert all(arrays[name].tobytes() == held[name] for name in unchanged)
    assert_all_used(inputs, expect)


def check_matrix(A: Any, expect: dict[str, Any]) -> None:
    """The matrix itself, read as dense."""
    whole, row = take(expect, "dense_of_a", "row_1_of_a")
    if whole is not None:
        assert_equal(st.asarray(A).to_scipy(copy=True).toarray(), array(whole))
    if row is not None:
        assert_equal(st.asarray(A).to_scipy(copy=True).toarray()[1], array(row))


def test_every_case_runs_or_says_why_not() -> None:
    run_here = {"spmv", "spmm", "bsr_spmm", "spgemm", "convert", "load"}
    assert {case["op"] for case in CASES.values()} == run_here | NO_OPERATOR.keys()
    assert NO_DTYPE.keys() <= CASES.keys()


@pytest.mark.parametrize("name", [n for n in case_ids("spmv", "spmm") if is_one_product(n)])
def test_a_product_is_right_or_refused(name: str) -> None:
    for inputs, expect in parts_of(CASES[name]):
        run_product(inputs, expect)


@pytest.mark.parametrize("name", NO_DTYPE)
def test_a_dtype_without_kernels_is_refused_by_its_name(name: str) -> None:
    for (inputs, _), dtype in zip(parts_of(CASES[name]), NO_DTYPE[name], strict=True):
        refusal = assert_refused(
            lambda inputs=inputs: run(sparse(inputs["a"]), array(inputs["dense"])), [dtype], dtype
        )
        assert refusal.code == "ST156"


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if "calls" in case["inputs"]])
def test_a_call_compiles_only_what_is_new(name: str) -> None:
    KERNELS.clear()
    compiles = []
    for inputs, expect in parts_of(CASES[name], "calls"):
        before = KERNELS.info().compiled
        assert_equal(run(sparse(inputs["a"]), array(inputs["dense"])), array(expect["value"]))
        compiles.append(KERNELS.info().compiled - before)
    assert compiles == CASES[name]["expect"]["compiles_per_call"]


def test_threads_that_share_a_kernel_do_not_share_results() -> None:
    case = CASES["two-threads-one-kernel"]
    KERNELS.clear()
    pairs = list(parts_of(case, "threads"))
    barrier, wrong = threading.Barrier(len(pairs)), []

    def work(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
        A, X, wanted = sparse(inputs["a"]), array(inputs["dense"]), array(expect["value"])
        barrier.wait()
        for number in range(inputs["rounds"]):
            try:
                assert_equal(run(A, X), wanted)
            except Exception as reason:  # whatever it is, the main thread reports it
                wrong.append((number, reason))
                return

    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert KERNELS.info().compiled == 1


def test_padded_rows_do_not_touch_the_dense_operand() -> None:
    for inputs, expect in parts_of(CASES["ell-padding-beside-inf-and-nan"]):
        A, X, wanted = sparse(inputs["a"]), array(inputs["dense"]), array(expect["value"])
        (m, n), width = A.shape, 3
        slots = np.arange(width) < np.diff(A.indptr)[:, None]
        indices, values = np.full((m, width), n, "int32"), np.full((m, width), np.nan, "float32")
        indices[slots], values[slots] = A.indices, A.data
        kernel = st.compile(st.from_source(ELL_SPMM.format(width=width, features=X.shape[1])))
        out = np.full(wanted.shape, np.nan, "float32")
        kernel(values, X, out, indices.ravel(), m, n)
        assert_equal(out, wanted)


@pytest.mark.parametrize("name", case_ids("bsr_spmm"))
def test_overhanging_blocks_are_padding(name: str) -> None:
    inputs, expect = dict(CASES[name]["inputs"]), dict(CASES[name]["expect"])
    a, (rows, columns), dense = take(inputs, "a", "block", "dense")
    value, shape, _ = take(
        expect, "value", "shape", "or_error"
    )  # it is right here, so it need not be refused
    A, X = sparse(a), array(dense)
    (m, n), features = A.shape, X.shape[1]
    mb, nb = -(-m // rows), -(-n // columns)
    padded = A.copy()
    padded.resize(mb * rows, nb * columns)
    blocks = padded.tobsr(blocksize=(rows, columns))
    source = BSR_SPMM.format(rows=rows, columns=columns, features=features)
    B = np.zeros((nb * columns, features), "float32")
    B[:n] = X
    C = np.full((mb, rows, features), np.nan, "float32")
    st.compile(st.from_source(source))(
        blocks.data,
        B.reshape(nb, columns, features),
        C,
        blocks.indptr,
        blocks.indices,
        mb,
        nb,
        len(blocks.data),
    )
    whole = C.reshape(mb * rows, features)
    assert_equal(whole[:m], array(value), tuple(shape))
    assert not whole[m:].any()
    assert_all_used(inputs, expect)


@pytest.mark.parametrize("name", case_ids("spgemm"))
def test_a_matrix_is_checked_before_any_product(name: str) -> None:
    inputs, expect = CASES[name]["inputs"], CASES[name]["expect"]
    A = sparse(inputs["a"])
    X = np.ones((A.shape[1], 2), A.dtype)
    for call in (lambda: st.asarray(A), lambda: st.spmm(A, X), lambda: st.spmv(A, X[:, 0].copy())):
        assert_refused(call, expect["names"], expect["error"])


def test_repeats_are_added_at_places_whose_numbers_exceed_32_bits() -> None:
    case = CASES["coalesce-key-needs-64-bits"]
    matrix = st.asarray(sparse(case["inputs"]["a"]), policy="canonicalize")
    found, wanted = matrix.to_scipy(copy=True).tocoo(), case["expect"]["value"]
    for actual, key in ((found.row, "rows"), (found.col, "cols"), (found.data, "data")):
        assert_equal(actual, array(wanted[key]))


def test_a_chain_of_layouts_returns_the_same_matrix() -> None:
    case = CASES["convert-chain-returns-same-matrix"]
    results = []
    for key in ("a", "b"):
        current = sparse(case["inputs"][key])
        for layout in case["inputs"]["chain"]:
            current = st.asarray(current).to_scipy(copy=True).asformat(layout)
        results.append(st.asarray(current))
    for matrix, key in zip(results, ("value", "value_b"), strict=True):
        assert_equal(matrix.to_scipy(copy=True).toarray(), array(case["expect"][key]))
    for key in ("indptr", "indices", "data"):
        assert_equal(getattr(results[0], key), array(case["expect"]["final"][key]))


def npz_bytes(members: dict[str, Any], as_bytes: bool) -> bytes:
    values = {k: array(v) for k, v in members.items() if k != "format"}
    if "format" in members:
        values["format"] = members["format"].encode() if as_bytes else members["format"]
    buffer = io.BytesIO()
    np.savez(buffer, **values)
    return buffer.getvalue()


def files_of(inputs: dict[str, Any]) -> list[tuple[str, bytes]]:
    """The file of a part; an .npz twice, as its layout may be written as text or as bytes."""
    name, text, members, encoded = take(inputs, "file", "text", "members", "npz_base64")
    if text is not None:
        return [(name, text.encode())]
    if encoded is not None:
        return [("a.npz", base64.b64decode(encoded))]
    return [("a.npz", npz_bytes(members, as_bytes)) for as_bytes in (False, True)]


@pytest.mark.parametrize("name", case_ids("load"))
def test_a_file_is_read_right_or_refused_with_its_place(name: str, tmp_path: pathlib.Path) -> None:
    for inputs, expect in parts_of(CASES[name]):
        value, nnz, error, names, peak = take(
            expect, "value", "nnz", "error", "names", "peak_extra_bytes_max"
        )
        for file, content in files_of(inputs):
            path = tmp_path / file
            path.write_bytes(content)
            tracemalloc.start()
            try:
                if error is not None:
                    assert_refused(lambda path=path: st.load_matrix(path), names, error)
                else:
                    loaded = st.load_matrix(path)
                    assert_equal(loaded.toarray().astype(array(value).dtype), array(value))
                    assert nnz in (None, loaded.nnz)
                assert tracemalloc.get_traced_memory()[1] < (peak or np.inf)
            finally:
                tracemalloc.stop()
        assert_all_used(inputs, expect)


def test_the_numbers_of_a_case_are_those_of_a_dense_product() -> None:
    """The harness itself: literal arrays, formulas and views mean what they say."""
    formula = {"dtype": "float32", "shape": [4, 5], "view": "base[::-1, :, 0]"}
    view, base = view_and_base({**formula, "base": {"dtype": "float32", "shape": [4, 5, 2], "expr": "i - k"}})
    assert view.tolist() == [[3.0] * 5, [2.0] * 5, [1.0] * 5, [0.0] * 5]
    assert base.shape == (4, 5, 2)
    assert array({"dtype": "int64", "data": [2**53 + 1]})[0] == 2**53 + 1
    assert np.signbit(array({"dtype": "float32", "data": ["-0.0"]})[0])
    assert sp.issparse(sparse(CASES["spmm-unsorted-columns"]["inputs"]["a"]))
