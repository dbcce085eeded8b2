"""Saved kernels: one shared library, and beside it a JSON file that says what it is."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tvm

from .. import errors
from .._base import WHEELS
from .cuda_kernel import CudaKernel
from .kernel import Kernel
from .signature import Signature
from .target import host_cpu

SCHEMA_VERSION = 1


def metadata_path(path: Path) -> Path:
    """Where the metadata of a library stands: ``kernel.so.json`` for ``kernel.so``."""
    return path.with_name(path.name + ".json")


def save_kernel(kernel: Kernel, path: str | os.PathLike[str]) -> Path:
    """Write a kernel; see `Kernel.save`."""
    return write_artifact(path, kernel.metadata, lambda file: kernel.library.export_library(str(file)))


def write_artifact(
    path: str | os.PathLike[str], metadata: Mapping[str, Any], write: Callable[[Path], Any]
) -> Path:
    """A library, which ``write`` makes, and its metadata beside it (ST159, ST516)."""
    path = _file(path, "Kernel.save(path)", "ST516")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        described = {**metadata, "sha256": _digest(path)}
        text = json.dumps(described, indent=1) + "\n"
        metadata_path(path).write_text(text, encoding="utf-8")
    except (OSError, RuntimeError, TypeError, ValueError) as reason:  # the last two: metadata that is no JSON
        found = f"{type(reason).__name__}: {reason}"
        expected = "a writable place and a C++ compiler"
        raise errors.error("ST516", f"Kernel.save({str(path)!r})", found, expected) from reason
    return path


def _file(path: object, where: str, code: str) -> Path:
    """The path of a file: ST159 if it is no path, ``code`` if it has no name."""
    if not isinstance(path, str | os.PathLike):
        raise errors.error("ST159", where, f"a {type(path).__name__}", "a path: str or os.PathLike")
    file = Path(os.fsdecode(path))
    if not file.name or "\0" in str(file):
        raise errors.error(
            code, where, f"no file name in {os.fsdecode(path)!r}", "the path of a library, such as k.so"
        )
    return file


def load(path: str | os.PathLike[str]) -> Kernel:
    """Load a kernel that `Kernel.save` wrote, in this or another process.

    Raises
    ------
    BuildError
        ST504 if it was built for another CPU, ST505 if the files are not a saved kernel, ST506 if another version
        wrote them.
    DataError
        ST159 if it is no path.

    Examples
    --------
    >>> import sparse_tir as st, tempfile
    >>> from sparse_tir.ops import spmm
    >>> kernel = st.compile(spmm.program(8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = st.load(kernel.save(folder + "/spmm.so"))
    >>> again.signature == kernel.signature
    True
    """
    path = _file(path, "st.load(path)", "ST505")
    where = f"st.load({str(path)!r})"
    metadata = _read_metadata(path, where)
    _check_versions(metadata, where)
    target, signature = _contents(metadata, where)
    cpu = target["mcpu"]
    if cpu and cpu != host_cpu():
        hint = "compile or tune it again on this machine"
        raise errors.error("ST504", where, f"a kernel for {cpu}", f"one for {host_cpu()}", hint)
    if _digest(path) != metadata["sha256"]:
        raise errors.error(
            "ST505", where, "a library that its metadata does not describe", "the pair that save wrote"
        )
    if target["kind"] == "cuda":
        return CudaKernel(metadata["name"], signature, path.read_bytes(), metadata)
    library = tvm.runtime.load_module(str(path))
    return Kernel(metadata["name"], signature, library["main"], library, metadata)


def make_metadata(
    name: str, signature: Signature, target: dict[str, Any], extra: dict[str, Any]
) -> dict[str, Any]:
    """What a saved kernel says of itself."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": name,
        "versions": dict(WHEELS),
        "target": target,
        "signature": json.loads(json.dumps(signature.to_json())),
        **extra,
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_metadata(path: Path, where: str) -> dict[str, Any]:
    beside = metadata_path(path)
    for file in (path, beside):
        if not file.is_file():
            raise errors.error(
                "ST505", where, f"no file {str(file)!r}", "a library and its metadata beside it"
            )
    try:
        metadata = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise errors.error("ST505", where, f"{beside.name}: {reason}", "metadata that save wrote") from reason
    if not isinstance(metadata, dict) or not isinstance(metadata.get("schema_version"), int):
        raise errors.error(
            "ST505", where, f"{beside.name} without schema_version", "metadata that save wrote"
        )
    return metadata


def _contents(metadata: dict[str, Any], where: str) -> tuple[dict[str, str], Signature]:
    """The target and the signature (ST505)."""
    try:
        target = {key: metadata["target"][key] for key in ("kind", "mcpu")}
        return target, Signature.from_json(metadata["signature"])
    except (AttributeError, KeyError, TypeError) as reason:
        found = f"a target or signature of another form ({type(reason).__name__}: {reason})"
        raise errors.error("ST505", where, found, "metadata that save wrote") from reason


def _check_versions(metadata: dict[str, Any], where: str) -> None:
    schema = metadata["schema_version"]
    if schema != SCHEMA_VERSION:
        raise errors.error("ST506", where, f"schema {schema}", f"schema {SCHEMA_VERSION}", "compile it again")
    if metadata.get("versions") != WHEELS:
        raise errors.error(
            "ST506", where, f"versions {metadata.get('versions')}", str(WHEELS), "compile it again"
        )
    missing = {"name", "target", "signature", "sha256"} - metadata.keys()
    if missing:
        raise errors.error(
            "ST505", where, f"metadata without {', '.join(sorted(missing))}", "metadata that save wrote"
        )
