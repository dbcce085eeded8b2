"""``.npz`` files whose members are missing, pickled, or contradict each other."""

from __future__ import annotations

import pickle
import zipfile

import numpy as np
import pytest
from npz_files import LAYOUTS, bsr_members, coo_members, csr_members, dia_members, f32, i32, refused, write


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
