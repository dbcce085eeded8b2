"""What all file kinds have in common: names, endings, and files that cannot be read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from sparse_tir import errors
from sparse_tir.io import load_matrix

MTX = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1.5\n2 3 -2\n"
DENSE = np.array([[1.5, 0, 0], [0, 0, -2]])


def refused(path: object, code: str, *words: str) -> str:
    with pytest.raises(errors.DataError) as caught:
        load_matrix(path)
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["a.mtx", "b.MTX", "c.mtx.gz", "d.Mtx.GZ", "e.npz", "f.NPZ", "with.dots.npz"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_the_ending_chooses_the_reader_whatever_its_case(tmp_path, name, kind):
    path = tmp_path / name
    if name.lower().endswith(".npz"):
        with path.open("wb") as stream:
            sp.save_npz(stream, sp.csr_array(DENSE))
    else:
        path.write_bytes(gzip.compress(MTX.encode()) if name.lower().endswith(".gz") else MTX.encode())
    matrix = load_matrix(kind(path))
    assert isinstance(matrix, sp.sparray)
    np.testing.assert_array_equal(matrix.toarray(), DENSE)


@pytest.mark.parametrize("name", ["a.txt", "a", "a.mtx.bz2", "a.npy", "a.gz", "mtx"])
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path, name):
    (tmp_path / name).write_text(MTX)
    refused(tmp_path / name, "ST131", ".npz", ".mtx", ".mtx.gz", name)


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz"])
def test_a_missing_file_is_refused_by_name(tmp_path, name):
    refused(tmp_path / name, "ST130", name, "no such file")


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz"])
def test_a_directory_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    refused(tmp_path / name, "ST130", "directory")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz"])
def test_a_file_without_permission_is_refused(tmp_path, name):
    (tmp_path / name).write_text(MTX)
    (tmp_path / name).chmod(0)
    refused(tmp_path / name, "ST130", "permission")


@pytest.mark.parametrize("path", [None, 3, 1.5, b"a.mtx", ["a.mtx"], DENSE])
def test_something_that_is_no_path_is_refused(path):
    refused(path, "ST159", type(path).__name__)


def test_a_zero_character_in_the_name_is_refused():
    refused("a\0.mtx", "ST130", "zero character")


def test_gzip_content_that_is_cut_short_is_refused_at_every_length(tmp_path):
    whole = gzip.compress(MTX.encode())
    path = tmp_path / "a.mtx.gz"
    for n_bytes in range(1, len(whole)):
        path.write_bytes(whole[:n_bytes])
        refused(path, "ST130")


def test_gzip_content_with_a_wrong_checksum_is_refused(tmp_path):
    whole = bytearray(gzip.compress(MTX.encode()))
    whole[-8] ^= 1
    (tmp_path / "a.mtx.gz").write_bytes(whole)
    refused(tmp_path / "a.mtx.gz", "ST130")


def test_text_named_gz_and_gzip_content_named_mtx_are_refused(tmp_path):
    (tmp_path / "a.mtx.gz").write_text(MTX)
    refused(tmp_path / "a.mtx.gz", "ST130", "gzip")
    (tmp_path / "a.mtx").write_bytes(gzip.compress(MTX.encode()))
    refused(tmp_path / "a.mtx", "ST134", "line 1", ".mtx.gz")


def test_gzip_files_of_several_members_are_one_text(tmp_path):
    head, tail = MTX[:60].encode(), MTX[60:].encode()
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(head) + gzip.compress(tail))
    np.testing.assert_array_equal(load_matrix(tmp_path / "a.mtx.gz").toarray(), DENSE)


def test_both_kinds_of_file_agree_on_a_random_matrix(tmp_path):
    rng = np.random.default_rng(0)
    matrix = sp.coo_array(rng.standard_normal((40, 30)) * (rng.random((40, 30)) < 0.2))
    mmwrite(tmp_path / "a.mtx", matrix)
    sp.save_npz(tmp_path / "a.npz", matrix)
    from_text, from_arrays = load_matrix(tmp_path / "a.mtx"), load_matrix(tmp_path / "a.npz")
    np.testing.assert_array_equal(from_text.toarray(), from_arrays.toarray())
    np.testing.assert_array_equal(from_text.row, from_arrays.row)
