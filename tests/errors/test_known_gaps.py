"""What this version gets wrong: each test says what is right, and fails (strictly) once it is."""

from __future__ import annotations

import pytest
from test_law_errors import vector

import sparse_tir as st
from sparse_tir import errors


@pytest.mark.xfail(strict=True, reason="T.reads inside an iteration is accepted, and means nothing")
def test_reads_that_tvm_declares_are_refused() -> None:
    with pytest.raises(errors.SparseTIRError):
        st.from_source(vector("T.reads(W[0])", "Y[i] = W[i]"))
