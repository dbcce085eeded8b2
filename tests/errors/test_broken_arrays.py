"""Raw structure arrays under the default policy: a coded error or the right result, never the end of the process."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from broken_arrays import Csr, arrays, expected
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st_
from refusals import program

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.ops import spmm

SETTINGS = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
FEAT = 3
#: An axis that promises order and uniqueness, searched for a column.
SEARCH = {
    idtype: program(
        'with S.iter([I], "S", "first") as [i]:\n    Y[i] = A[i, 1]\n',
        head=f"""
I = S.dense_fixed(m)
J = S.sparse_variable(I, (n, nnz), (indptr, indices), "{idtype}")
A = S.match_sparse_buffer(a, (I, J), "float32")
X = S.match_sparse_buffer(x, (I,), "float32")
W = S.match_sparse_buffer(w, (I,), "float32")
Y = S.match_sparse_buffer(y, (I,), "float32")
Z = S.match_sparse_buffer(z, (I,), "float32")
""",
    )
    for idtype in ("int32", "int64")
}


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or its coded error of the range ST1xx; anything else fails the test."""
    try:
        return call()
    except errors.DataError as refused:
        error = refused
    assert error.code.startswith("ST1")
    assert "\n  found:    " in str(error)
    assert "\n  expected: " in str(error)
    return error


def both_occur(strategy: st_.SearchStrategy[Csr], check: Callable[[Csr], bool]) -> None:
    """Runs a check on drawn arrays; it says whether they were accepted."""
    seen = set()

    @SETTINGS
    @given(strategy)
    def run(csr: Csr) -> None:
        seen.add(check(csr))

    run()
    assert seen == {True, False}


@pytest.mark.parametrize("policy", ["validate", "canonicalize"])
@pytest.mark.parametrize("idtype", ["int32", "int64"])
def test_a_tuple_of_arrays_is_right_or_refused(idtype: str, policy: str) -> None:
    def check(csr: Csr) -> bool:
        given = (csr.data, csr.indices, csr.indptr)
        found = outcome(lambda: st.asarray(given, shape=csr.shape, policy=policy))
        if isinstance(found, errors.DataError):
            return False
        if max(found.shape) < 100:
            if found.dtype == "float16":  # SciPy makes no dense matrix of it
                found = found.with_data(found.data.astype("float64"))
            dense = found.to_scipy().toarray()
            np.testing.assert_array_equal(dense, expected(csr, found.shape))
        return True

    both_occur(arrays(idtype, "float64"), check)


@pytest.mark.parametrize("idtype", ["int32", "int64"])
def test_attributes_of_a_scipy_array_are_right_or_refused(idtype: str) -> None:
    """Users assign to them, and SciPy checks nothing then."""

    def check(csr: Csr) -> bool:
        m, n = csr.shape
        A = sp.csr_array((m, n), dtype="float32")
        A.indptr, A.indices, A.data = csr.indptr, csr.indices, csr.data
        X = np.arange(n * FEAT, dtype="float32").reshape(n, FEAT)
        found = outcome(lambda: st.spmm(A, X))
        if isinstance(found, errors.DataError):
            return False
        np.testing.assert_allclose(found, sp.csr_array(expected(csr, (m, n))) @ X, rtol=1e-6)
        return True

    both_occur(arrays(idtype, "float32", shapes=False), check)


@pytest.mark.parametrize("idtype", ["int32", "int64"])
def test_a_compiled_kernel_is_right_or_refuses(idtype: str) -> None:
    kernel = st.compile(spmm.program(FEAT, "float32", idtype))

    def check(csr: Csr) -> bool:
        m, n = csr.shape
        B = np.arange(n * FEAT, dtype="float32").reshape(n, FEAT)
        C = np.full((m, FEAT), -1, "float32")
        call = {"A": csr.data, "B": B, "C": C, "indptr": csr.indptr, "indices": csr.indices}
        before = copy.copy(C)
        found = outcome(lambda: kernel(**call))
        if isinstance(found, errors.DataError):
            np.testing.assert_array_equal(C, before)
            return False
        np.testing.assert_allclose(C, sp.csr_array(expected(csr, (m, n))) @ B, rtol=1e-6)
        return True

    both_occur(arrays(idtype, "float32", shapes=False), check)


@pytest.mark.parametrize("idtype", ["int32", "int64"])
def test_a_compiled_search_is_right_or_refuses(idtype: str) -> None:
    kernel = st.compile(st.from_source(SEARCH[idtype]))

    def check(csr: Csr) -> bool:
        m, n = csr.shape
        Y = np.full(m, -1, "float32")
        call = {"A": csr.data, "indptr": csr.indptr, "indices": csr.indices, "n": n, "r": 0}
        call |= dict.fromkeys("XWZ", Y.copy())
        found = outcome(lambda: kernel(**call, Y=Y))
        if isinstance(found, errors.DataError):
            return False
        dense = expected(csr, (m, n))
        np.testing.assert_array_equal(Y, dense[:, 1] if n > 1 else np.zeros(m))
        return True

    both_occur(arrays(idtype, "float32", shapes=False), check)
