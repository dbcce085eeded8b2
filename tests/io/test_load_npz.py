"""``.npz`` files: five layouts in one container, and members that cannot be believed."""

from __future__ import annotations

import io
import pickle
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_tir import errors
from sparse_tir.io import load_matrix

LAYOUTS = ("csr", "csc", "coo", "bsr", "dia")


def i32(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def f32(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def coo_members() -> dict[str, object]:
    return {"format": "coo", "shape": (2, 3), "row": i32(1, 0, 1), "col": i32(2, 0, 2), "data": f32(1, 2, 3)}


def csr_members() -> dict[str, object]:
    return {
        "format": "csr",
        "shape": (2, 3),
        "indptr": i32(0, 1, 3),
        "indices": i32(0, 2, 1),
        "data": f32(2, 4, 5),
    }


def bsr_members() -> dict[str, object]:
    blocks = f32(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2).reshape(2, 2, 3)
    return {"format": "bsr", "shape": (4, 6), "indptr": i32(0, 1, 2), "indices": i32(1, 0), "data": blocks}


def dia_members() -> dict[str, object]:
    diagonals = f32(*range(1, 13)).reshape(3, 4)
    return {"format": "dia", "shape": (3, 4), "offsets": i32(0, -1, 2), "data": diagonals}


def write(path: Path, members: dict[str, object]) -> Path:
    np.savez(path, **{name: np.asarray(value) for name, value in members.items()})
    return path


def refused(path: Path, code: str, *words: str) -> str:
    with pytest.raises(errors.DataError) as caught:
        load_matrix(path)
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


# ---- good files


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


# ---- pickles


class Trap:
    """Unpickling it is seen: it runs `set_off`."""

    def __reduce__(self):
        return set_off, ()


def set_off() -> None:
    raise AssertionError("unpickled")


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "shape", "format", "remark"])
def test_pickled_objects_are_refused_by_member_and_not_loaded(tmp_path, name):
    trap = np.empty(1, object)
    trap[0] = Trap()
    refused(
        write(tmp_path / "a.npz", {**csr_members(), name: trap}), "ST133", f"member {name}", "pickled objects"
    )


def test_an_object_inside_of_a_record_is_refused(tmp_path):
    records = np.zeros(3, [("value", "f4"), ("extra", object)])
    refused(write(tmp_path / "a.npz", {**csr_members(), "data": records}), "ST133", "member data")


def test_a_bare_pickle_is_refused_as_member_and_as_file(tmp_path):
    path = write(tmp_path / "a.npz", csr_members())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("state", pickle.dumps(Trap()))
    refused(path, "ST133", "member state")
    path.write_bytes(pickle.dumps(Trap()))
    refused(path, "ST133", "pickle")


# ---- members that are not what the layout needs


def without(members: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in members.items() if key != name}


@pytest.mark.parametrize(
    ("members", "name"),
    [(csr_members(), name) for name in ("format", "shape", "data", "indices", "indptr")]
    + [(coo_members(), name) for name in ("row", "col")]
    + [(dia_members(), "offsets")],
)
def test_a_missing_member_is_named(tmp_path, members, name):
    refused(write(tmp_path / "a.npz", without(members, name)), "ST132", f"member {name} is missing")


def test_an_archive_without_format_is_refused_by_that_name(tmp_path):
    refused(write(tmp_path / "a.npz", {"shape": (2, 3), "data": f32(1)}), "ST132", "member format is missing")


@pytest.mark.parametrize("value", ["lil", "dok", "CSR", "", "cs\xb5", b"cs\xb5", "x" * 100, 3, ["csr"], None])
def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path, value):
    code = "ST133" if value is None else "ST132"
    words = ("format",) if value is None else ("format", *LAYOUTS)
    refused(write(tmp_path / "a.npz", {**csr_members(), "format": value}), code, *words)


WRONG = {
    "shape of three": (csr_members(), {"shape": (2, 3, 1)}, "member shape"),
    "shape of one": (csr_members(), {"shape": (2,)}, "member shape"),
    "negative shape": (csr_members(), {"shape": (2, -3)}, "member shape is (2, -3)"),
    "shape beyond 64 bits": (csr_members(), {"shape": np.array([2, 2**63], np.uint64)}, "member shape"),
    "shape of floats": (csr_members(), {"shape": (2.0, 3.0)}, "member shape: float64"),
    "shape too large": (csr_members(), {"shape": (2**62, 3)}, "member indptr"),
    "largest shape": (csr_members(), {"shape": (2**63 - 1, 3)}, "member indptr"),
    "indptr too short": (csr_members(), {"indptr": i32(0, 3)}, "member indptr: int32 of shape (2,)"),
    "indptr too long": (csr_members(), {"indptr": i32(0, 1, 3, 3)}, "member indptr: int32 of shape (4,)"),
    "indptr empty": (csr_members(), {"indptr": i32()}, "member indptr"),
    "indptr of floats": (csr_members(), {"indptr": np.array([0.0, 1, 3])}, "member indptr: float64"),
    "indptr of booleans": (csr_members(), {"indptr": np.array([False, True, True])}, "member indptr: bool"),
    "indptr with two axes": (csr_members(), {"indptr": i32(0, 1, 3)[None]}, "member indptr"),
    "indptr ends early": (csr_members(), {"indptr": i32(0, 1, 2)}, "member indptr ends at 2"),
    "indptr ends late": (csr_members(), {"indptr": i32(0, 1, 4)}, "member indptr ends at 4"),
    "indptr falls": (csr_members(), {"indptr": i32(0, 4, 3)}, "member indptr holds [4, 3] at 1"),
    "indptr falls, unsigned": (
        csr_members(),
        {"indptr": np.array([0, 2**64 - 1, 3], np.uint64)},
        "member indptr holds [18446744073709551615, 3] at 1",
    ),
    "indptr negative": (csr_members(), {"indptr": i32(-1, 1, 3)}, "member indptr holds [-1, 1] at 0"),
    "fewer indices": (csr_members(), {"indices": i32(0, 2)}, "member indices: int32 of shape (2,)"),
    "more indices": (csr_members(), {"indices": i32(0, 2, 1, 1)}, "member indices: int32 of shape (4,)"),
    "indices of text": (csr_members(), {"indices": np.array(["0", "2", "1"])}, "member indices"),
    "index too large": (csr_members(), {"indices": i32(0, 3, 1)}, "member indices holds 3 at 1"),
    "index negative": (csr_members(), {"indices": i32(0, 2, -1)}, "member indices holds -1 at 2"),
    "index huge": (
        csr_members(),
        {"indices": np.array([0, 2**64 - 1, 1], np.uint64)},
        "member indices holds 18446744073709551615 at 1",
    ),
    "no columns": (csr_members(), {"shape": (2, 0)}, "member indices holds 0 at 0"),
    "index too large for csc": (
        {**csr_members(), "format": "csc"},
        {"indptr": i32(0, 1, 1, 3), "indices": i32(1, 2, 0)},
        "member indices holds 2 at 1",
    ),
    "csr read as csc": (csr_members(), {"format": "csc"}, "member indptr"),
    "values with two axes": (csr_members(), {"data": np.ones((3, 1))}, "member data"),
    "one value": (csr_members(), {"data": np.float32(1)}, "member data"),
    "values of text": (csr_members(), {"data": np.array(["a", "b", "c"])}, "member data: <U1"),
    "values of dates": (csr_members(), {"data": np.zeros(3, "M8[s]")}, "member data: datetime64"),
    "values of bytes": (csr_members(), {"data": np.zeros(3, "V4")}, "member data: |V4"),
    "fewer rows": (coo_members(), {"row": i32(1, 0)}, "member row"),
    "more columns": (coo_members(), {"col": i32(1, 0, 0, 0)}, "member col"),
    "row too large": (coo_members(), {"row": i32(1, 2, 0)}, "member row holds 2 at 1"),
    "column negative": (coo_members(), {"col": i32(1, 0, -7)}, "member col holds -7 at 2"),
    "rows of floats": (coo_members(), {"row": np.zeros(3)}, "member row: float64"),
    "three coordinates": (coo_members(), {"coords": np.zeros((3, 3), int)}, "member coords"),
    "coordinates too few": (coo_members(), {"coords": np.zeros((2, 2), int)}, "member coords"),
    "coordinate too large": (
        coo_members(),
        {"coords": i32(0, 1, 1, 0, 3, 0).reshape(2, 3)},
        "coords[1] holds 3",
    ),
    "tensor of three axes": (
        coo_members(),
        {"shape": (2, 3, 4), "coords": np.zeros((3, 3), int)},
        "member shape",
    ),
    "blocks that do not divide": (
        bsr_members(),
        {"shape": (5, 6)},
        "member data: float32 of shape (2, 2, 3)",
    ),
    "blocks without rows": (bsr_members(), {"data": np.zeros((2, 0, 3))}, "member data"),
    "blocks with two axes": (bsr_members(), {"data": np.zeros((2, 6))}, "member data"),
    "block column too large": (bsr_members(), {"indices": i32(1, 2)}, "member indices holds 2 at 1"),
    "fewer block rows": (bsr_members(), {"indptr": i32(0, 2)}, "member indptr"),
    "fewer offsets": (dia_members(), {"offsets": i32(0, 1)}, "member offsets"),
    "repeated offsets": (dia_members(), {"offsets": i32(0, 1, 0)}, "member offsets"),
    "offsets of floats": (dia_members(), {"offsets": np.zeros(3)}, "member offsets: float64"),
    "diagonals with one axis": (dia_members(), {"data": f32(1, 2, 3)}, "member data"),
}


@pytest.mark.parametrize("name", WRONG)
def test_members_that_contradict_each_other_are_refused_by_name(tmp_path, name):
    members, changes, expected = WRONG[name]
    refused(write(tmp_path / "a.npz", {**members, **changes}), "ST132", expected, "expected:")


# ---- archives that cannot be believed


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + body


def write_raw(path: Path, name: str, content: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    """A good csr archive but for the bytes of one member."""
    buffer = io.BytesIO()
    np.savez(buffer, **{key: np.asarray(value) for key, value in csr_members().items() if key != name})
    with zipfile.ZipFile(buffer, "a", method) as archive:
        archive.writestr(name + ".npy", content)
    path.write_bytes(buffer.getvalue())
    return path


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
