"""Timing in turns."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_tir as st
from sparse_tir import errors
from sparse_tir.tuning import compare


def matrix():
    return st.asarray(sp.random_array((60, 50), density=0.1, format="csr", dtype="float32", rng=0))


def test_scipy_and_kernels_are_timed_on_the_same_terms():
    found = compare.compare_spmm(matrix(), 4, {"default": None, "again": None}, samples=3)
    assert list(found) == ["scipy", "default", "again"]
    assert all(m.n == 3 and 0 < m.p20 <= m.median <= m.p80 for m in found.values())


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_other_dtypes_are_compared_as_well(dtype):
    A = st.asarray(matrix().to_scipy().astype(dtype))
    assert set(compare.compare_spmm(A, 3, {"default": None}, samples=1)) == {"scipy", "default"}


def test_a_wrong_result_is_found_before_the_clock_starts(monkeypatch):
    right = compare.product
    monkeypatch.setattr(compare, "product", lambda *arguments: right(*arguments) + np.float32(1))
    monkeypatch.setattr(compare, "time_in_turns", lambda *arguments: pytest.fail("timed"))
    with pytest.raises(errors.InternalError, match="ST900"):
        compare.compare_spmm(matrix(), 4, {"default": None})


def test_calls_take_turns_and_quick_ones_run_several_times_per_sample():
    order = []

    def slow():
        order.append("slow")
        time.sleep(0.005)

    found = compare.time_in_turns({"slow": slow, "quick": lambda: order.append("quick")}, 4)
    assert order.count("quick") > 100
    samples = [name for name, before in zip(order[3:], ["", *order[3:]], strict=False) if name != before]
    assert samples[:3] == [
        "quick",
        "slow",
        "quick",
    ]  # the probes, then rounds that start with another one each
    assert samples.count("slow") >= 3
    assert found["slow"].median >= 0.005 > found["quick"].median
