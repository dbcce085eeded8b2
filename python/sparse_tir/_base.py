"""Opens the compiled library, after making sure that the TVM beside it is the one it was built for.

A failed look-up inside C++ static initialisation would end the process, so every version, type and field that
src/tvm_view/nodes.h names is checked here first, through TVM's own reflection data.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import pathlib

#: The versions of the wheels, both exact: others have other node names, or crash (tvm-ffi 0.1.15 in JSON and pickle).
WHEELS = {"apache-tvm": "0.27.0.post1", "apache-tvm-ffi": "0.1.14.post1"}

#: Type key -> fields that C++ reads (src/tvm_view/nodes.h).
FIELDS: dict[str, frozenset[str]] = {
    key: frozenset(fields.split())
    for key, fields in {
        "ir.Type": "",
        "ir.PrimType": "dtype",
        "ir.SourceName": "name",
        "ir.Span": "source_name line column end_column",
        "ir.Expr": "ty span",
        "tirx.BufferType": "dtype shape storage_scope",
        "ir.Var": "name",
        "ir.IntImm": "value",
        "ir.FloatImm": "value",
        "ir.TensorLoad": "source indices",
        "prim.Cast": "value",
        "prim.Add": "a b",
        "prim.Sub": "a b",
        "prim.Mul": "a b",
        "prim.Div": "a b",
        "prim.Mod": "a b",
        "prim.FloorDiv": "a b",
        "prim.FloorMod": "a b",
        "prim.Min": "a b",
        "prim.Max": "a b",
        "prim.EQ": "a b",
        "prim.NE": "a b",
        "prim.LT": "a b",
        "prim.LE": "a b",
        "prim.GT": "a b",
        "prim.GE": "a b",
        "prim.And": "a b",
        "prim.Or": "a b",
        "prim.Not": "a",
        "prim.Select": "condition true_value false_value",
        "ir.Op": "name",
        "ir.Call": "op",
        "ir.TensorRegion": "source",
        "ir.Range": "min extent",
        "sym.ConstIntBound": "min_value max_value",
        "ir.PrimExprConvertible": "",
        "tirx.IterVar": "dom var iter_type",
        "tirx.Stmt": "span",
        "tirx.BufferStore": "buffer value indices",
        "tirx.SeqStmt": "seq",
        "tirx.IfThenElse": "condition then_case else_case",
        "tirx.For": "loop_var min extent kind body thread_binding annotations step",
        "s_tir.SBlock": "iter_vars reads writes name_hint alloc_buffers match_buffers annotations init body",
        "s_tir.SBlockRealize": "iter_values predicate block",
        "ir.BaseFunc": "attrs",
        "tirx.PrimFunc": "params ret_type body",
    }.items()
}


def _wrong_tvm(found: str) -> ImportError:
    wanted = " ".join(f"{name}=={version}" for name, version in WHEELS.items())
    return ImportError(
        f"[ST501] sparse_tir needs {wanted}, but {found}. Install them with: pip install {wanted}. "
        "See docs/errors/ST501.md."
    )


def check_versions() -> None:
    """Raises ImportError with one plain sentence unless the two wheels are there in the pinned versions."""
    for name, wanted in WHEELS.items():
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise _wrong_tvm(f"{name} is not installed") from None
        if version != wanted:
            raise _wrong_tvm(f"{name} {version} is installed")


def check_types() -> None:
    """Raises ImportError unless this TVM has every type and field that the library reads."""
    from tvm_ffi.core import _lookup_or_register_type_info_from_type_key as type_info
    from tvm_ffi.core import _object_type_key_to_index as type_index

    for key, fields in FIELDS.items():
        if type_index(key) is None:
            raise _wrong_tvm(f"this TVM has no type {key}")
        missing = fields - {field.name for field in type_info(key).fields}
        if missing:
            raise _wrong_tvm(f"{key} has no field {', '.join(sorted(missing))}")


def library_path() -> pathlib.Path:
    """The compiled library: beside this file when installed, in ``build/`` of a source tree."""
    here = pathlib.Path(__file__).resolve().parent
    places = [here / "libsparse_tir.so", here.parents[1] / "build" / "libsparse_tir.so"]
    for place in places:
        if place.is_file():
            return place
    raise ImportError(
        f"[ST502] the compiled library libsparse_tir.so is missing (looked at {', '.join(map(str, places))}). "
        "Install the package again: pip install . See docs/errors/ST502.md."
    )


def load_library() -> ctypes.CDLL:
    """Checks TVM, then opens the library; its passes and types are registered from then on."""
    check_versions()
    import tvm  # noqa: F401  registers the types that our library looks up

    check_types()
    return ctypes.CDLL(str(library_path()))


LIBRARY = load_library()
