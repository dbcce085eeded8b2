"""The arrays of an ``.npz`` file, with nothing believed before it is checked.

`numpy.load` reserves memory for what a member claims to hold. Here the claims of all members are compared
with the size of the file first, and a caller can compare them with each other too, before numbers are read.
"""

from __future__ import annotations

import io
import math
import os
import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import NoReturn

import numpy as np

from sparse_tir import errors

_HEADER_BYTES = 1 << 14
"""The header of a member ends within this many bytes (NumPy itself refuses more than 10000)."""
_DEFLATE_RATIO = 1032
"""Deflate makes nothing smaller than by this factor."""
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error)
"""What zipfile raises for a damaged, encrypted or unusual archive."""
_BAD_HEADER = (
    *(ValueError, KeyError, TypeError, OverflowError, struct.error),
    *(SyntaxError, tokenize.TokenError, RecursionError, MemoryError),
)
"""What NumPy raises for the header of a member: it is read as a Python literal."""


@dataclass(frozen=True)
class Member:
    """What the header of one array claims, consistent with the size of the member."""

    name: str
    info: zipfile.ZipInfo
    dtype: np.dtype
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"member {self.name}: {self.dtype} of shape {self.shape}"


class NpzArchive:
    """An open ``.npz`` file; a context manager.

    Opening it looks at the header of every member, and refuses the file if one of them holds pickled objects.
    """

    def __init__(self, path: str, where: str) -> None:
        self._where = where
        self._n_bytes = os.path.getsize(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError) as problem:
            self._refuse_other_file(path, problem)
        self._members: dict[str, Member] = {}
        self._others: dict[str, str] = {}
        try:
            for info in self._zip.infolist():
                self._look_at(info)
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> NpzArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members or name in self._others

    def fail(self, found: object, expected: object = None) -> NoReturn:
        """Refuse the file: it holds no sparse matrix."""
        raise errors.error("ST132", self._where, found, expected)

    def member(self, name: str, kinds: str, shape: tuple[int | None, ...], why: str) -> Member:
        """The claims of a member, compared with what they should be; no number of it is read.

        Parameters
        ----------
        name
            Without ``.npy``.
        kinds
            Letters of ``dtype.kind`` that are right.
        shape
            The right shape; None stands for any length.
        why
            What the member should be, in words.
        """
        if name in self._others:
            self.fail(f"member {name} {self._others[name]}", why)
        if name not in self._members:
            self.fail(f"member {name} is missing", why)
        member = self._members[name]
        fits = len(shape) == len(member.shape) and all(
            right in (None, length) for right, length in zip(shape, member.shape, strict=True)
        )
        if member.dtype.kind not in kinds or not fits:
            self.fail(member, why)
        return member

    def read(self, member: Member) -> np.ndarray:
        """The numbers of a member, in the byte order of this machine."""
        try:
            with self._zip.open(member.info) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                stream.read(1)  # at its end, zipfile compares the checksum
        except (*_DAMAGE, ValueError) as problem:
            self._damaged(member.name, problem)
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    # ---- opening

    def _look_at(self, info: zipfile.ZipInfo) -> None:
        name = info.filename.removesuffix(".npy")
        self._check_size(info, name)
        try:
            with self._zip.open(info) as stream:
                head = stream.read(_HEADER_BYTES)
        except _DAMAGE as problem:
            self._damaged(name, problem)
        if not head.startswith(np.lib.format.MAGIC_PREFIX):
            if _looks_pickled(head):
                self._refuse_pickle(f"member {name} holds pickled objects")
            self._others[name] = "is not an array"
            return
        try:
            stream = io.BytesIO(head)
            version = np.lib.format.read_magic(stream)
            shape, _, dtype = _HEADER_READERS[version](stream)
        except _BAD_HEADER as problem:
            self._others[name] = f"has a header that cannot be read ({_first_line(problem)})"
            return
        if dtype.hasobject:
            self._refuse_pickle(f"member {name} holds pickled objects")
        n_bytes = stream.tell() + math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or n_bytes != info.file_size:
            self._others[name] = f"claims shape {shape} of {dtype} in {info.file_size} bytes"
            return
        self._members[name] = Member(name, info, dtype, shape)

    def _check_size(self, info: zipfile.ZipInfo, name: str) -> None:
        """Refuse a member that claims more bytes than can come out of a file of this size."""
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self._damaged(name, f"compression method {info.compress_type}")
        ratio = 1 if info.compress_type == zipfile.ZIP_STORED else _DEFLATE_RATIO
        room = self._n_bytes - info.header_offset
        if info.compress_size > room or info.file_size > ratio * info.compress_size:
            self._damaged(name, f"{info.file_size} bytes cannot come out of {min(room, info.compress_size)}")

    def _refuse_other_file(self, path: str, problem: Exception) -> NoReturn:
        with open(path, "rb") as stream:
            head = stream.read(_HEADER_BYTES)
        if _looks_pickled(head):
            self._refuse_pickle("the file itself is a pickle of objects")
        if head.startswith(np.lib.format.MAGIC_PREFIX):
            self.fail("a single array (.npy)", "an archive that scipy.sparse.save_npz wrote")
        found, expected = f"not a zip archive, or one cut short ({_first_line(problem)})", "an .npz archive"
        raise errors.error("ST130", self._where, found, expected) from problem

    def _refuse_pickle(self, found: str) -> NoReturn:
        expected, hint = "arrays of numbers", "if you trust it, load it yourself and save numbers"
        raise errors.error("ST133", self._where, f"{found}, which are never loaded", expected, hint)

    def _damaged(self, name: str, problem: object) -> NoReturn:
        cause = problem if isinstance(problem, Exception) else None
        found = f"member {name} is damaged: {_first_line(problem)}"
        raise errors.error(
            "ST130", self._where, found, "a whole file", "fetch or save the file again"
        ) from cause


def _looks_pickled(head: bytes) -> bool:
    """Whether the bytes start like a pickle of protocol 2 or later."""
    return len(head) > 1 and head[0] == 0x80 and 2 <= head[1] <= 5


def _first_line(problem: object) -> str:
    lines = str(problem).splitlines()
    return lines[0] if lines else type(problem).__name__
