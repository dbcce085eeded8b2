"""``.npz`` files whose archive or headers cannot be believed."""

from __future__ import annotations

import io
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from npz_files import bsr_members, coo_members, csr_members, dia_members, f32, npy, refused, write, write_raw

from sparse_tir import errors
from sparse_tir.io import load_matrix


def test_a_rewritten_member_is_read(tmp_path):
    good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", f32(1, 2, 3).tobytes())
    assert load_matrix(write_raw(tmp_path / "a.npz", "data", good)).data.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text",
        b"\x93NUMPY",
        npy(""),
        npy("{"),
        npy("(" * 5000),
        npy("[]"),
        npy("{'descr': '<f4'}"),
        npy("{'descr': 'zzz', 'fortran_order': False, 'shape': (3,), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': 3, }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -3), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", bytes(12)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775808), }"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", bytes(12), b"\x09\x00"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" + " " * 20_000, bytes(12)),
    ],
)
@pytest.mark.parametrize("name", ["data", "indices", "indptr", "shape", "format"])
def test_a_member_with_a_broken_header_is_refused_by_name(tmp_path, content, name):
    refused(write_raw(tmp_path / "a.npz", name, content), "ST132", f"member {name}")


def peak_of_refusal(path: Path, code: str, *words: str) -> int:
    tracemalloc.start()
    try:
        refused(path, code, *words)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_lengths_are_compared_before_a_large_member_is_read(tmp_path):
    bomb = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (25000000,), }", bytes(100_000_000))
    path = write_raw(tmp_path / "a.npz", "data", bomb, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    assert peak_of_refusal(path, "ST132", "member indices", "25000000") < 5_000_000


def test_a_header_that_claims_to_be_long_is_not_read(tmp_path):
    bomb = b"\x93NUMPY\x02\x00" + (60_000_000).to_bytes(4, "little") + b" " * 60_000_000
    path = write_raw(tmp_path / "a.npz", "data", bomb, zipfile.ZIP_DEFLATED)
    assert peak_of_refusal(path, "ST132", "member data") < 5_000_000


def test_a_member_that_claims_more_than_the_file_can_hold_is_refused(tmp_path):
    claimed = 4_000_000_000
    header = npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({claimed},), }}")
    path = write_raw(tmp_path / "a.npz", "data", header + bytes(16))
    content = path.read_bytes()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        true_size = (len(header) + 16).to_bytes(4, "little")
        false_size = (len(header) + claimed).to_bytes(4, "little")
        entry = content.rindex(b"PK\x01\x02")
        lie = bytearray(content)
        assert lie[entry + 24 : entry + 28] == true_size
        lie[entry + 10] = method
        lie[entry + 24 : entry + 28] = false_size
        path.write_bytes(lie)
        assert peak_of_refusal(path, "ST130", "member data") < 5_000_000


def test_damaged_and_cut_archives_are_refused(tmp_path):
    whole = write(tmp_path / "a.npz", csr_members()).read_bytes()
    for n_bytes in range(0, len(whole), 61):
        (tmp_path / "a.npz").write_bytes(whole[:n_bytes])
        refused(tmp_path / "a.npz", "ST130")
    place = whole.index(f32(2, 4, 5).tobytes())
    (tmp_path / "a.npz").write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
    refused(tmp_path / "a.npz", "ST130", "member data", "CRC")


def test_an_encrypted_or_unusually_compressed_member_is_refused(tmp_path):
    content = bytearray(write(tmp_path / "a.npz", csr_members()).read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.npz").write_bytes(content)
    refused(tmp_path / "a.npz", "ST130", "encrypted")
    write_raw(tmp_path / "a.npz", "data", b"x" * 99, zipfile.ZIP_BZIP2)
    refused(tmp_path / "a.npz", "ST130", "member data", "compression method 12")


def test_text_an_empty_file_and_a_single_array_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    path.write_text("%%MatrixMarket matrix coordinate real general\n")
    refused(path, "ST130", "not a zip archive")
    path.write_bytes(b"")
    refused(path, "ST130", "not a zip archive")
    with path.open("wb") as stream:
        np.save(stream, f32(1, 2))
    refused(path, "ST132", "single array")


def test_memory_that_is_not_there_is_an_error_of_the_file(tmp_path, monkeypatch):
    def read(*args: object, **options: object) -> None:
        raise MemoryError("Unable to allocate")

    path = write(tmp_path / "a.npz", csr_members())
    monkeypatch.setattr(np.lib.format, "read_array", read)
    refused(path, "ST130", "memory")


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    layout=st.sampled_from([csr_members, coo_members, bsr_members, dia_members]),
    data=st.data(),
)
def test_no_changed_byte_gives_anything_but_a_matrix_or_a_data_error(tmp_path_factory, layout, data):
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.asarray(value) for name, value in layout().items()})
    with zipfile.ZipFile(buffer) as archive:
        members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    for _ in range(data.draw(st.integers(1, 3))):
        content = members[data.draw(st.sampled_from(sorted(members)))]
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.sampled_from([0, 1, 7, 0x28, 0x2C, 0x39, 0x7F, 0x80, 0xFF]))
    path = tmp_path_factory.getbasetemp() / "changed.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, bytes(content))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns about headers of old versions
            matrix = load_matrix(path)
    except errors.DataError:
        return
    if max(matrix.shape) < 1000:  # then SciPy's kernels can run over it, and must not read outside
        assert matrix.tocsr().shape == matrix.shape
        assert (matrix @ np.ones(matrix.shape[1])).shape == matrix.shape[:1]
