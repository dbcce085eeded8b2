"""Every public name called with something that it does not take: a coded error, or Python's own about a signature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_tir as st
from sparse_tir import errors
from sparse_tir import script as S
from sparse_tir.ops import spmm, spmv

A = sp.csr_array(np.eye(3, dtype="float32"))
X = np.ones((3, 2), "float32")
OPERANDS = {"A": A.data, "B": X, "indptr": A.indptr, "indices": A.indices}

#: What stands in the place of a right argument.
THINGS: dict[str, Any] = {
    "None": None,
    "zero": 0,
    "a negative number": -1,
    "a fraction": 2.5,
    "NaN": float("nan"),
    "a truth value": True,
    "an empty text": "",
    "a text": "x",
    "bytes": b"x",
    "a list": [],
    "a tuple": (),
    "a dict": {},
    "an object": object(),
    "an array": np.zeros(3),
    "an array of objects": np.zeros((2, 2), object),
    "a class": dict,
    "a function": len,
}
#: call -> (how, things that it takes)
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "aligned_empty(shape)": (
        lambda thing: st.aligned_empty(thing, "float32"),
        "an empty text, a list, a tuple, bytes",
    ),
    "aligned_empty(sizes)": (lambda thing: st.aligned_empty((thing, 3), "float32"), "zero, a truth value"),
    "aligned_empty(dtype)": (
        lambda thing: st.aligned_empty((3,), thing),
        "None, a list, a dict",
    ),
    "aligned_empty(alignment)": (lambda thing: st.aligned_empty((3,), "float32", thing), "a truth value"),
    "asarray(A)": (st.asarray, ""),
    "asarray(shape=)": (lambda thing: st.asarray(A, shape=thing), "None"),
    "asarray(policy=)": (lambda thing: st.asarray(A, policy=thing), ""),
    "asarray(data)": (lambda thing: st.asarray((thing, A.indices, A.indptr), shape=(3, 3)), "an array"),
    "asarray(indices)": (lambda thing: st.asarray((A.data, thing, A.indptr), shape=(3, 3)), ""),
    "asarray(indptr)": (lambda thing: st.asarray((A.data, A.indices, thing), shape=(3, 3)), ""),
    "SparseMatrix(pattern)": (lambda thing: st.SparseMatrix(thing, A.data), ""),
    "SparseMatrix(data)": (lambda thing: st.SparseMatrix(st.asarray(A).pattern, thing), "an array"),
    "SparseMatrix.with_data": (lambda thing: st.asarray(A).with_data(thing), "an array"),
    "compile(program)": (st.compile, ""),
    "compile(target)": (lambda thing: st.compile(spmm.program(2), thing), "None"),
    "compile(signature=)": (lambda thing: st.compile(spmm.program(2), signature=thing), "None"),
    "compile(extra=)": (lambda thing: st.compile(spmm.program(2), extra=thing), "None, a dict"),
    "Kernel(signature)": (lambda thing: st.Kernel("k", thing, len, None, {}), ""),
    "kernel(A)": (lambda thing: spmm.kernel(2)(**{**OPERANDS, "A": thing}, C=np.empty_like(X)), ""),
    "kernel(C)": (lambda thing: spmm.kernel(2)(**OPERANDS, C=thing), ""),
    "kernel(n)": (lambda thing: spmm.kernel(2)(**OPERANDS, C=np.empty_like(X), n=thing), "None"),
    "kernel(policy=)": (lambda thing: spmm.kernel(2)(**OPERANDS, C=np.empty_like(X), policy=thing), ""),
    "kernel.save": (lambda thing: spmm.kernel(2).save(thing), "a text"),
    "from_source": (st.from_source, ""),
    "prim_func": (st.prim_func, ""),
    "script": (S.script, ""),
    "verify": (st.verify, ""),
    "lower(program)": (st.lower, ""),
    "lower(stage)": (lambda thing: st.lower(spmm.program(2), thing), ""),
    "interpret(func)": (st.interpret, ""),
    "interpret(A)": (lambda thing: st.interpret(spmm.program(2), thing, *[X] * 4, 3, 3, 3), ""),
    "load": (st.load, ""),
    "load_matrix": (st.load_matrix, ""),
    "spmm(A)": (lambda thing: st.spmm(thing, X), ""),
    "spmm(X)": (lambda thing: st.spmm(A, thing), ""),
    "spmm(out=)": (lambda thing: st.spmm(A, X, out=thing), "None"),
    "spmm(kernel=)": (lambda thing: st.spmm(A, X, kernel=thing), "None"),
    "spmv(x)": (lambda thing: st.spmv(A, thing), ""),
    "spmm.program(feat_size)": (spmm.program, ""),
    "spmm.program(dtype)": (lambda thing: spmm.program(2, thing), ""),
    "spmm.kernel(idtype)": (lambda thing: spmm.kernel(2, "float32", thing), ""),
    "spmv.program(dtype)": (spmv.program, ""),
    "tune(op)": (lambda thing: st.tune(thing, A, feat=2, work_dir="w"), ""),
    "tune(A)": (lambda thing: st.tune("spmm", thing, feat=2, work_dir="w"), ""),
    "tune(feat)": (lambda thing: st.tune("spmm", A, feat=thing, work_dir="w"), ""),
    "tune(work_dir=)": (lambda thing: st.tune("spmm", A, feat=2, work_dir=thing), "a text"),
    "tune(on_event=)": (
        lambda thing: st.tune("spmm", A, feat=2, work_dir="w", on_event=thing),
        "None, a class, a function",
    ),
    "tune(trials)": (
        lambda thing: st.tune("spmm", A, feat=2, work_dir="w", max_trials_global=thing),
        "",
    ),
    "tune(seed=)": (lambda thing: st.tune("spmm", A, feat=2, work_dir="w", seed=thing), "zero"),
    "tune(threads=)": (lambda thing: st.tune("spmm", A, feat=2, work_dir="w", threads=thing), "None"),
    "tune(target=)": (lambda thing: st.tune("spmm", A, feat=2, work_dir="w", target=thing), "None"),
    "S.dense_fixed": (S.dense_fixed, ""),
    "S.iter": (lambda thing: S.iter(thing, "S"), ""),
}
#: Names that are no calls, or whose call is not for users.
NOT_CALLED = {"SparseTIRError", "__version__", "errors"}


def test_every_public_name_is_called() -> None:
    called = {name.partition("(")[0].partition(".")[0] for name in CALLS} | {"script"}
    assert set(st.__all__) - NOT_CALLED <= called


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_with_a_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, takes = CALLS[name]
    for what, thing in THINGS.items():
        if what in takes.split(", "):
            continue
        with pytest.raises(errors.SparseTIRError) as caught:
            print(f"{name} takes {what}: {call(thing)!r}")  # shown where nothing is raised
        assert caught.value.code != "ST900", f"{name} of {what}"
        assert "\n  found:    " in str(caught.value)
