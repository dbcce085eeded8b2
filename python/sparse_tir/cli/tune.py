"""``sparse-tir tune``: search schedules for a matrix file, and save the best kernel."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from ..tuning import Measurement, TuningResult
    from .progress import Progress

#: As shells report a process that Ctrl-C ended.
INTERRUPTED = 130


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

    The best kernel is saved in the work directory, for `sparse-tir run --from` and `sparse_tir.load`, and a
    page about the job as report.html. Ctrl-C keeps what was found; the same command goes on from there.

    \b
    Example:
      sparse-tir tune spmm graph.mtx.gz --feat 64 --trials 32 --work-dir W
    """
    from .._interrupts import interrupts_wait, one_interrupt
    from ..tuning.launch import started_early

    with interrupts_wait():
        from .progress import Progress

    context = click.get_current_context()
    with one_interrupt():
        progress = Progress(trials, to_stderr=as_json, json_events=json_events)
        try:
            with started_early(options.probable_threads(threads)):
                found = _found(context, progress)
        except KeyboardInterrupt:
            click.echo(_interrupted(context, progress), err=True)
            context.exit(INTERRUPTED)
        if as_json:
            options.print_json(found)
        else:
            progress.summary(found)


def _found(context: click.Context, progress: Progress) -> dict[str, Any]:
    """Does the job, the comparison and the report; what ``--json`` prints."""
    given = context.params
    op, graph, feat = given["op"], given["graph"], given["feat"]
    threads = options.use_threads(given["threads"])
    from ..runtime import load
    from ..tuning import kernel_path
    from ..tuning import tune as search
    from ..tuning.compare import compare_spmm
    from ..tuning.reading import read_report
    from ..tuning.records import add_comparison, report_path
    from .report import write_page

    directory = _directory(context)
    matrix = options.read_graph(graph, given["dtype"])
    with progress:
        result = search(
            op,
            matrix,
            feat=feat,
            target=given["target"],
            work_dir=directory,
            max_trials_global=given["trials"],
            seed=given["seed"],
            timeout_sec=given["timeout"],
            threads=threads,
            on_start=progress.start,
            on_event=progress.show,
            notes={"graph": graph, "commands": _commands(context, directory, threads)},
        )
    comparison = compare_spmm(matrix, feat, {"default": None, "tuned": load(kernel_path(directory))})
    add_comparison(directory, comparison)
    write_page(read_report(directory), report_path(directory))
    return {
        "op": op,
        **options.describe_matrix(graph, matrix),
        "feat": feat,
        "threads": threads,
        "seed": given["seed"],
        **_outcome(result),
        **_times(comparison),
        "first_measurement_s": progress.first_measurement,
        "report": str(report_path(directory)),
    }


def _directory(context: click.Context) -> str:
    from .. import config

    return context.params["work_dir"] or str(config.WORK_DIR.value())


def _commands(context: click.Context, directory: str, threads: int) -> dict[str, str]:
    """Command lines for the report."""
    given = context.params
    tuned = options.command_line(
        context, work_dir=directory, threads=threads, trials=given["trials"], seed=given["seed"]
    )
    words = ["sparse-tir", "run", given["op"], given["graph"], "--feat", str(given["feat"])]
    words += ["--from", directory, "--dtype", given["dtype"], "--threads", str(threads)]
    report = ["sparse-tir", "report", directory]
    return {"tune": tuned, "run": shlex.join(words), "report": shlex.join(report)}


def _interrupted(context: click.Context, progress: Progress) -> str:
    """What is saved, and how to go on."""
    command = options.command_line(context)
    if progress.is_started:
        directory = _directory(context)
        wanted = context.params["trials"]
        found = f"{progress.n_known} of {wanted} candidates are recorded in {directory}"
        if progress.has_best:
            found += ", the best of them is saved as its kernel.so"
    else:
        found = "nothing was measured yet"
    return f"interrupted: {found}\ngo on with: {command}"


def _outcome(result: TuningResult) -> dict[str, Any]:
    n_failed = sum(result.failures_by_reason.values())
    return {
        "trials": {"ok": len(result.trials) - n_failed, "failed": n_failed},
        "failures": dict(result.failures_by_reason),
        "skipped_lines": result.skipped_lines,
        "skipped_places": list(result.skipped_places),
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
