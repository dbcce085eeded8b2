"""SpMM on a CPU: ours (default and tuned) and its peers, in turns in one process, each checked first.

    python benchmarks/spmm.py                       # everything, about 25 minutes, most of it tuning
    python benchmarks/spmm.py --no-tuned --threads 1 --graph cora --feat 64

All contenders read the same arrays (int32 CSR, float32) and write the same output; handles and outputs are prepared,
and what is timed is the product. Peers that are not installed are named and left out.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from harness import graphs
from harness.contender import Absent, Contender, check
from harness.results import Cell, print_tables, write_json, write_svg
from harness.threads import lines_of
from harness.turns import Times, time_in_turns
from numpy.typing import NDArray
from rich.console import Console
from spmm_peers import PEERS, plain_c

import sparse_tir as st
from sparse_tir.tuning.machine import processor_name, versions

_FEATURES = (16, 32, 64, 128, 256)
_BOUND = "plain C"
_SLACK = 8


def ours(
    A: sp.csr_array, X: NDArray[Any], out: NDArray[Any], threads: int, tuned: Path | None, trials: int
) -> list[Contender]:
    """`st.spmm` with its default kernel, and with one that was tuned for this matrix."""
    matrix, version = st.asarray(A), st.__version__
    contenders = [Contender("default", version, lambda: st.spmm(matrix, X, out=out), lambda: out)]
    if tuned is not None:
        found = st.tune(
            "spmm", matrix, feat=X.shape[1], work_dir=tuned, max_trials_global=trials, threads=threads
        )
        kernel = st.load(found.kernel_path)
        call = lambda: st.spmm(matrix, X, out=out, kernel=kernel)  # noqa: E731
        contenders.append(Contender("tuned", version, call, lambda: out))
    return contenders


def measure(
    name: str, feat: int, threads: int, rounds: int, work_dir: Path | None, trials: int
) -> tuple[Cell, dict[str, str], list[str]]:
    """One cell; versions of the contenders; peers that are absent, with the reason."""
    A = graphs.load(name)
    X = st.aligned_empty((A.shape[1], feat), "float32")
    np.random.default_rng(0).random(X.shape, dtype=np.float32, out=X)
    out = st.aligned_empty((A.shape[0], feat), "float32")
    tuned = None if work_dir is None else work_dir / f"{Path(name).stem}-{feat}-{threads}"
    mine = ours(A, X, out, threads, tuned, trials)
    found = [make(A, X, out, threads) for make in (*PEERS, plain_c)]
    contenders = [*mine, *(other for other in found if isinstance(other, Contender))]
    expected = A.astype(np.float64) @ X
    longest = int(np.diff(A.indptr).max(initial=1))
    for contender in contenders:
        check(contender, expected, rtol=_SLACK * np.finfo(np.float32).eps * longest**0.5, atol=0)
    times = time_in_turns(contenders, rounds)
    absent = [f"{other.name}: {other.reason}" for other in found if isinstance(other, Absent)]
    names = tuple(contender.name for contender in mine)
    return Cell(name, feat, threads, times, names, _BOUND), {c.name: c.version for c in contenders}, absent


def cell_from(found: dict[str, Any]) -> Cell:
    """The cell that another process printed."""
    times = {name: Times(**seconds) for name, seconds in found["times"].items()}
    return Cell(**{**found, "times": times, "ours": tuple(found["ours"])})


@click.command(help=__doc__)
@click.option(
    "--graph", "names", multiple=True, default=graphs.NAMES, help="A name, or a .npz file; repeatable."
)
@click.option(
    "--feat", "features", multiple=True, type=click.IntRange(1), default=_FEATURES, help="Repeatable."
)
@click.option(
    "--threads", "counts", multiple=True, type=click.IntRange(1), default=(1, 2), help="Repeatable."
)
@click.option(
    "--rounds", type=click.IntRange(3), default=25, show_default=True, help="Samples of each contender."
)
@click.option("--tuned/--no-tuned", default=True, help="Whether to tune for each cell.")
@click.option(
    "--trials", type=click.IntRange(1), default=24, show_default=True, help="Candidates of a tuning job."
)
@click.option("--work-dir", type=Path, default=Path("build/bench/tuned"), help="Records of tuning; resumed.")
@click.option("--json", "json_path", type=Path, help="Where to write all numbers.")
@click.option("--svg", "svg_path", type=Path, help="Where to write the chart.")
@click.option("--in-this-process", is_flag=True, hidden=True)
def main(
    names: Sequence[str],
    features: Sequence[int],
    counts: Sequence[int],
    rounds: int,
    tuned: bool,
    trials: int,
    work_dir: Path,
    json_path: Path | None,
    svg_path: Path | None,
    in_this_process: bool,
) -> None:
    if in_this_process:
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        for name in names:
            for feat in features:
                place = work_dir if tuned else None
                cell, found, absent = measure(name, feat, counts[0], rounds, place, trials)
                print(json.dumps({"cell": asdict(cell), "versions": found, "absent": absent}), flush=True)
        return
    settings = ["--rounds", str(rounds), "--trials", str(trials), "--work-dir", str(work_dir)]
    settings += ["--tuned" if tuned else "--no-tuned"]
    settings += [word for name in names for word in ("--graph", name)]
    settings += [word for feat in features for word in ("--feat", str(feat))]
    console = Console(width=None if Console().is_terminal else 200)
    cells, about = collect(settings, counts, console)
    print_tables(cells, console)
    for reason in about["absent"]:
        console.print(f"not measured: {reason}")
    if json_path is not None:
        write_json(cells, {**about, "rounds": rounds}, json_path)
    if svg_path is not None:
        write_svg(
            cells, f"SpMM, float32: how many times as long the best peer takes ({about['cpu']})", svg_path
        )


def collect(
    settings: Sequence[str], counts: Sequence[int], console: Console
) -> tuple[list[Cell], dict[str, Any]]:
    """All cells, one process for each number of threads; what they were measured on."""
    cells, found, absent = [], dict[str, str](), set[str]()
    for threads in counts:
        for line in lines_of(["--in-this-process", "--threads", str(threads), *settings], threads):
            report = json.loads(line)
            cells.append(cell_from(report["cell"]))
            found |= report["versions"]
            absent |= set(report["absent"])
            console.print(_line(cells[-1]), soft_wrap=True)
    about = {"benchmark": "spmm", "cpu": processor_name(), "system": platform.platform()}
    return cells, {**about, "versions": {**versions(), **found}, "absent": sorted(absent)}


def _line(cell: Cell) -> str:
    ratios = ", ".join(f"{name} {cell.ratio(name, cell.best_peer):.2f}" for name in cell.ours)
    return f"{cell.graph}, {cell.feat} features, {cell.threads} threads: best peer {cell.best_peer}, {ratios}"


if __name__ == "__main__":
    main()
