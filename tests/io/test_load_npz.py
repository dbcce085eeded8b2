"""``.npz`` files: five layouts in one container."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from npz_files import LAYOUTS, bsr_members, coo_members, csr_members, dia_members, f32, i32, write

from sparse_tir.io import load_matrix


@pytest.mark.parametrize(
    ("members", "dense"),
    [
        (coo_members(), [[2, 0, 0], [0, 0, 4]]),
        (csr_members(), [[2, 0, 0], [0, 5, 4]]),
        (
            {**csr_members(), "format": "csc", "indptr": i32(0, 1, 1, 3), "indices": i32(1, 1, 0)},
            [[0, 0, 5], [2, 0, 4]],
        ),
        (bsr_members(), [[0, 0, 0, 1, 2, 3], [0, 0, 0, 4, 5, 6], [7, 8, 9, 0, 0, 0], [0, 1, 2, 0, 0, 0]]),
        (dia_members(), [[1, 0, 11, 0], [5, 2, 0, 12], [0, 6, 3, 0]]),
    ],
    ids=["coo", "csr", "csc", "bsr", "dia"],
)
@pytest.mark.parametrize("kind", [str, str.encode])
def test_each_layout_is_read_by_its_own_rule(tmp_path, members, dense, kind):
    layout = members["format"]
    matrix = load_matrix(write(tmp_path / "a.npz", {**members, "format": kind(layout)}))
    assert matrix.format == layout
    assert isinstance(matrix, sp.sparray)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix.toarray(), dense)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("shape", [(4, 6), (0, 6), (4, 0), (0, 0)])
def test_what_scipy_saves_is_loaded(tmp_path, layout, compressed, kind, shape):
    dense = np.random.default_rng(0).integers(-1, 2, shape).astype(np.float64)
    matrix = kind(dense)
    matrix = (
        matrix.tobsr((2, 3) if 0 not in shape else (1, 1)) if layout == "bsr" else matrix.asformat(layout)
    )
    sp.save_npz(tmp_path / "a.npz", matrix, compressed=compressed)
    loaded = load_matrix(tmp_path / "a.npz")
    assert loaded.format == layout
    assert isinstance(loaded, sp.sparray)
    assert loaded.shape == shape
    np.testing.assert_array_equal(loaded.toarray(), dense)


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "g", "i1", "u1", "i8", "u8", "?", "c8", "c16", ">f4", ">i8"]
)
def test_values_keep_their_dtype_in_the_byte_order_of_the_machine(tmp_path, dtype):
    values = np.array([1, 0, 1], dtype)
    matrix = load_matrix(write(tmp_path / "a.npz", {**csr_members(), "data": values}))
    assert matrix.dtype == np.dtype(dtype).newbyteorder("=")
    assert matrix.data.tolist() == values.tolist()
    assert matrix.data.flags.writeable


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8"])
def test_structure_arrays_may_have_any_integer_dtype(tmp_path, dtype):
    for members in (csr_members(), coo_members(), bsr_members()):
        for name in members.keys() & {"indptr", "indices", "row", "col"}:
            members[name] = np.asarray(members[name]).astype(dtype)
        expected = {"csr": 11, "coo": 6, "bsr": 48}[members["format"]]
        matrix = load_matrix(write(tmp_path / "a.npz", members))
        assert matrix.toarray().sum() == expected
        assert matrix.tocsr().indices.dtype in (np.int32, np.int64)


def test_repeats_unsorted_indices_and_explicit_zeros_are_kept(tmp_path):
    members = {
        **csr_members(),
        "indptr": i32(0, 0, 4),
        "indices": i32(2, 0, 2, 1),
        "data": f32(1, 0, 3, -0.0),
    }
    matrix = load_matrix(write(tmp_path / "a.npz", members))
    assert matrix.indices.tolist() == [2, 0, 2, 1]
    assert matrix.data.tolist() == [1, 0, 3, 0]
    assert np.signbit(matrix.data[3])


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_what_stands_before_the_first_segment_is_left_out(tmp_path, layout):
    data = f32(7, 7, 5, 6).reshape(4, 1, 1) if layout == "bsr" else f32(7, 7, 5, 6)
    structure = {"shape": (2, 2), "indptr": i32(2, 3, 4), "indices": i32(0, 1, 1, 0)}
    matrix = load_matrix(write(tmp_path / "a.npz", {"format": layout, "data": data, **structure}))
    assert matrix.indptr.tolist() == [0, 1, 2]
    expected = np.array([[0, 5], [6, 0]])
    np.testing.assert_array_equal(matrix.toarray(), expected.T if layout == "csc" else expected)
    np.testing.assert_array_equal(matrix.tocoo().toarray(), matrix.toarray())


def test_coordinates_in_one_member_are_read(tmp_path):
    members = coo_members()
    members["coords"] = np.stack([members.pop("row"), members.pop("col")])
    matrix = load_matrix(write(tmp_path / "a.npz", members))
    np.testing.assert_array_equal(matrix.toarray(), [[2, 0, 0], [0, 0, 4]])


@pytest.mark.parametrize("offset", [4, -3, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)])
def test_diagonals_outside_of_the_matrix_hold_nothing(tmp_path, offset):
    members = {**dia_members(), "offsets": np.array([0, -1, offset])}
    matrix = load_matrix(write(tmp_path / "a.npz", members))
    expected = [[1, 0, 0, 0], [5, 2, 0, 0], [0, 6, 3, 0]]
    np.testing.assert_array_equal(matrix.toarray(), expected)
    np.testing.assert_array_equal(matrix @ np.ones(4), np.sum(expected, axis=1))


def test_a_block_array_in_column_order_is_read_in_its_order(tmp_path):
    members = {**bsr_members(), "data": np.asfortranarray(bsr_members()["data"])}
    np.testing.assert_array_equal(
        load_matrix(write(tmp_path / "a.npz", members)).toarray()[0], [0, 0, 0, 1, 2, 3]
    )


def test_other_members_do_not_matter(tmp_path):
    members = {**csr_members(), "labels": np.array(["a", "b"]), "n": np.datetime64("2020-01-01")}
    assert load_matrix(write(tmp_path / "a.npz", members)).nnz == 3


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    shape=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    layout=st.sampled_from(["csr", "csc", "coo", "dia"]),
    density=st.floats(0, 1),
    dtype=st.sampled_from(["f4", "f8", "i8", "c16", "?"]),
)
def test_any_matrix_comes_back(tmp_path_factory, shape, layout, density, dtype):
    rng = np.random.default_rng(7)
    dense = (rng.random(shape) < density) * rng.integers(1, 5, shape)
    matrix = sp.coo_array(dense.astype(dtype)).asformat(layout)
    path = tmp_path_factory.getbasetemp() / "any.npz"
    sp.save_npz(path, matrix)
    loaded = load_matrix(path)
    assert (loaded.format, loaded.shape, loaded.dtype) == (layout, shape, matrix.dtype)
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())
