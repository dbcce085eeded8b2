"""``sparse-tir run``: an operator on a matrix file, timed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from ..runtime import Kernel


@click.command("run")
@options.operator
@options.graph
@options.feat
@click.option("--from", "work_dir", metavar="DIR", help="Use the kernel that `sparse-tir tune` saved there.")
@options.dtype
@click.option(
    "--repeat", type=click.IntRange(min=1), default=20, show_default=True, help="Samples of the time."
)
@options.threads
@options.as_json
def run(
    op: str,
    graph: str,
    feat: int,
    work_dir: str | None,
    dtype: str,
    repeat: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Run an operator on a matrix file.

    GRAPH is a .npz, .mtx or .mtx.gz file; the only OPERATOR so far is spmm.

    The dense operand is always the same, so checksums can be compared: for floats
    numpy.random.default_rng(0).random((n, feat), dtype), for integers
    numpy.random.default_rng(0).integers(-8, 8, (n, feat), dtype).

    \b
    Example:
      sparse-tir run spmm graph.mtx.gz --feat 64 --json
    """
    used_threads = options.use_threads(threads)
    import numpy as np

    from ..ops.spmm import spmm
    from ..runtime import aligned_empty
    from ..tuning.compare import time_in_turns
    from ..tuning.operators.reference import dense_operand

    kernel = None if work_dir is None else _saved_kernel(work_dir)
    matrix = options.read_graph(graph, dtype)
    operand = dense_operand((matrix.shape[1], feat), dtype)
    out = aligned_empty((matrix.shape[0], feat), dtype)
    spmm(matrix, operand, out=out, kernel=kernel)
    checksum = float(out.sum(dtype=np.float64))
    time = time_in_turns({op: lambda: spmm(matrix, operand, out=out, kernel=kernel)}, repeat)[op]
    result = {
        "op": op,
        **options.describe_matrix(graph, matrix),
        "feat": feat,
        "threads": used_threads,
        "checksum": checksum,
        "ms": 1e3 * time.median,
        "p20": 1e3 * time.p20,
        "p80": 1e3 * time.p80,
        "n": time.n,
        "kernel": "default" if kernel is None or work_dir is None else _describe(kernel, work_dir),
    }
    if as_json:
        options.print_json(result)
        return
    used = "the default kernel" if kernel is None else f"the tuned kernel of {work_dir}"
    click.echo(
        f"{op} {graph}: {matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz} entries, {feat} features, {dtype}"
    )
    click.echo(
        f"{result['ms']:.3f} ms ({result['p20']:.3f} to {result['p80']:.3f}, {used_threads} threads), {used}"
    )
    click.echo(f"checksum {checksum!r}")


def _saved_kernel(work_dir: str) -> Kernel:
    from .. import errors, load
    from ..tuning import kernel_path

    path = kernel_path(work_dir)
    if not path.exists():
        hint = f"sparse-tir tune spmm GRAPH --feat F --work-dir {work_dir}"
        raise errors.error(
            "ST603", f"--from {work_dir}", f"no file {str(path)!r}", "the kernel of a tuning job", hint
        )
    return load(path)


def _describe(kernel: Kernel, work_dir: str) -> dict[str, Any]:
    from ..tuning import kernel_path

    tuning = kernel.metadata.get("tuning")
    decisions = tuning.get("decisions") if isinstance(tuning, dict) else None
    return {"path": str(Path(kernel_path(work_dir))), "decisions": decisions}
