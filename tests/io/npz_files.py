"""`.npz` files for the tests: good members, to be changed, and raw ones."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

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
