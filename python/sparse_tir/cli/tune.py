"""``sparse-tir tune``: search schedules for a matrix file, and save the best kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from ..tuning import Measurement, TuningResult


@click.command("tune")
@options.operator
@options.graph
@options.feat
@click.option(
    "--trials", type=click.IntRange(min=1), default=64, show_default=True, help="Candidates to measure."
)
@click.option(
    "--work-dir", metavar="DIR", help="Records and kernel. [default: SPARSE_TIR_WORK_DIR, else work-dir]"
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Equal seeds, equal candidates."
)
@options.threads
@options.dtype
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds for one candidate.",
)
@click.option(
    "--target", type=click.Choice(("llvm",)), default="llvm", show_default=True, help="This machine's CPU."
)
@click.option("--json-events", is_flag=True, help="One JSON line on stderr for each candidate.")
@options.as_json
def tune(
    op: str,
    graph: str,
    feat: int,
    trials: int,
    work_dir: str | None,
    seed: int,
    threads: int | None,
    dtype: str,
    timeout: float,
    target: str,
    json_events: bool,
    as_json: bool,
) -> None:
    """Find and save a fast kernel for a matrix file.

    GRAPH is a .npz, .mtx or .mtx.gz file; the only OPERATOR so far is spmm. Schedules are searched on this
    machine.

    The best kernel is saved in the work directory, for `sparse-tir run --from` and `sparse_tir.load`.
    Ctrl-C keeps what was found; the same command goes on from there.

    \b
    Example:
      sparse-tir tune spmm graph.mtx.gz --feat 64 --trials 32 --work-dir W
    """
    used_threads = options.use_threads(threads)
    from .. import config
    from ..runtime import load
    from ..tuning import kernel_path
    from ..tuning import tune as search
    from ..tuning.compare import compare_spmm
    from .progress import Progress

    directory = work_dir or str(config.WORK_DIR.value())
    matrix = options.read_graph(graph, dtype)
    with Progress(trials, to_stderr=as_json, json_events=json_events) as progress:
        result = search(
            op,
            matrix,
            feat=feat,
            target=target,
            work_dir=directory,
            max_trials_global=trials,
            seed=seed,
            timeout_sec=timeout,
            threads=used_threads,
            on_event=progress.show,
        )
    comparison = compare_spmm(matrix, feat, {"default": None, "tuned": load(kernel_path(directory))})
    job = {"op": op, **options.describe_matrix(graph, matrix), "feat": feat, "threads": used_threads}
    described = {**job, "seed": seed, **_outcome(result), **_times(comparison)}
    if as_json:
        options.print_json(described)
    else:
        progress.summary(described)


def _outcome(result: TuningResult) -> dict[str, Any]:
    n_failed = sum(result.failures_by_reason.values())
    return {
        "trials": {"ok": len(result.trials) - n_failed, "failed": n_failed},
        "failures": dict(result.failures_by_reason),
        "skipped_lines": result.skipped_lines,
        "decisions": dict(result.best.decisions),
        "default_decisions": dict(result.default.decisions),
        "work_dir": str(result.work_dir),
        "kernel": str(result.kernel_path),
    }


def _times(comparison: dict[str, Measurement]) -> dict[str, Any]:
    times = {
        name: {"ms": 1e3 * time.median, "p20": 1e3 * time.p20, "p80": 1e3 * time.p80, "n": time.n}
        for name, time in comparison.items()
    }
    speedup = {name: times[name]["ms"] / times["tuned"]["ms"] for name in ("scipy", "default")}
    return {"comparison": times, "speedup": speedup}
