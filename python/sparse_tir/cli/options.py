"""Options that several commands share, and how they are read."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..runtime import SparseMatrix

Command = TypeVar("Command", bound=Callable[..., Any])

DTYPES = ("float32", "float64", "int32", "int64")
OPERATORS = ("spmm",)

as_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout, and nothing else there."
)
operator = click.argument("op", metavar="OPERATOR", type=click.Choice(OPERATORS))
graph = click.argument("graph", metavar="GRAPH")
feat = click.option(
    "--feat", type=click.IntRange(1, 1 << 16), required=True, help="Columns of the dense operand."
)
dtype = click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default="float32",
    show_default=True,
    help="Values are converted to it; integers only from integers.",
)
threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of kernels. [default: TVM_NUM_THREADS, else the physical cores]",
)


def print_json(result: dict[str, Any]) -> None:
    """The one object of ``--json``. NaN and infinities become null: JSON has no such numbers."""
    click.echo(json.dumps(_finite(result), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    is_number = not isinstance(value, float) or abs(value) < float("inf")
    return value if is_number else None


def read_graph(path: str, dtype: str) -> SparseMatrix:
    """The matrix of a file, its values converted: to integers only if that changes none."""
    import numpy as np

    from .. import asarray, errors, load_matrix

    matrix = load_matrix(path)
    if matrix.dtype.kind == "c":
        hint = "store its real part, or its absolute values"
        raise errors.error("ST156", path, f"values of dtype {matrix.dtype}", "real values", hint)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = matrix.astype(dtype)
    if converted.dtype.kind == "i" and not np.array_equal(converted.data, matrix.data):
        position = int((converted.data != matrix.data).argmax())
        found = f"the value {matrix.data[position]} (entry at position {position})"
        hint = "choose --dtype float32, or round the values of the file"
        raise errors.error("ST158", f"{path}: --dtype {dtype}", found, f"values that {dtype} can hold", hint)
    return asarray(converted, where=path)


def import_tvm() -> None:
    """TVM as a command of ours needs it: quickly, and not torn by Ctrl-C."""
    from .._interrupts import interrupts_wait
    from .._without_torch import without_torch

    with interrupts_wait(), without_torch():
        from .. import _base  # noqa: F401


def probable_threads(threads: int | None) -> int:
    """What `use_threads` will say, most likely; for what starts before TVM is imported."""
    from ..tuning.launch import available_cores

    cores = available_cores()
    text = os.environ.get("TVM_NUM_THREADS", "")
    return min(threads or (int(text) if text.isdecimal() else 0) or cores, cores)


def use_threads(threads: int | None) -> int:
    """Let kernels of this process run on so many threads. To be called before the first kernel runs.

    The variable is the only way to tell TVM. By default it takes half of what the system counts as cores.
    """
    import_tvm()
    from .. import config, errors
    from ..tuning.launch import available_cores

    cores = available_cores()
    if threads is not None and threads > cores:
        raise errors.error(
            "ST604", "--threads", threads, f"1 to {cores}, the cores that this process may use"
        )
    count = threads or min(config.NUM_THREADS.value() or cores, cores)
    os.environ[config.NUM_THREADS.variable] = str(count)
    return count


def describe_matrix(path: str, matrix: SparseMatrix) -> dict[str, Any]:
    """Entries of every JSON object about a matrix."""
    return {"graph": path, "shape": list(matrix.shape), "nnz": matrix.nnz, "dtype": str(matrix.dtype)}


def command_line(context: click.Context, **given: Any) -> str:
    """The command that was called, with some options given in full; options left out stay so."""
    words = ["sparse-tir", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        value = given.get(name, context.params[name])
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif name in given or (value not in (None, False) and value != parameter.default):
            words += parameter.opts[:1] if value is True else [parameter.opts[0], str(value)]
    return shlex.join(words)
