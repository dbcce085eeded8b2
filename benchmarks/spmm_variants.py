"""What each decision of the SpMM schedule gives: variants of one schedule in turns, on one thread, each checked first.

    python benchmarks/spmm_variants.py --graph pubmed --feat 64

Each line is a variant; a number is how many times as fast as the schedule without prefetches, streaming and masks.
The kernels are called with prepared arguments. Two kernels in C stand beside them: plain, and with pairs of rows.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import click
import numpy as np
import spmm_peers
from harness import graphs
from harness.contender import Contender, check
from harness.results import geometric_mean
from harness.threads import lines_of
from harness.turns import time_in_turns
from rich.console import Console
from rich.table import Table
from tvm.s_tir import Schedule

import sparse_tir as st
from sparse_tir.ops import spmm
from sparse_tir.ops.spmm_schedule import Decisions, default_decisions, schedule

_BASE = "base"
_PAIRS = spmm_peers.PLAIN_C.with_name("spmm_row_pairs.c")


def variants(feat: int) -> dict[str, Decisions]:
    """The variants of a width: one change at a time, and those that go together."""
    base = replace(default_decisions(feat), prefetch=0, streaming=0, unroll=1)
    found = {_BASE: base}
    found |= {f"prefetch {ahead}": replace(base, prefetch=ahead) for ahead in (8, 16, 32, 64)}
    found |= {f"prefetch 16, {lines} lines": replace(base, prefetch=16, lines=lines) for lines in (1, 8)}
    found |= {f"mask {count} entries": replace(base, unroll=count) for count in (2, 4)}
    found["streaming"] = replace(base, streaming=1)
    found["streaming, prefetch 16"] = replace(base, streaming=1, prefetch=16)
    found |= {f"{rows} rows at a time": replace(base, rows=rows) for rows in (16, 1024)}
    passes, vectors, lanes = base.tile
    if vectors % 2 == 0:
        found["half the sums"] = replace(base, tile=(passes * 2, vectors // 2, lanes))
    if passes % 2 == 0:
        found["twice the sums"] = replace(base, tile=(passes // 2, vectors * 2, lanes))
    return found


def measure(name: str, feat: int, rounds: int) -> dict[str, float]:
    """Times as fast as the base, for each variant."""
    A = graphs.load(name)
    X = st.aligned_empty((A.shape[1], feat), "float32")
    np.random.default_rng(0).random(X.shape, dtype=np.float32, out=X)
    out = st.aligned_empty((A.shape[0], feat), "float32")
    module = st.lower(spmm.program(feat), "position")
    contenders = [spmm_peers.plain_c(A, X, out, 1), spmm_peers.plain_c(A, X, out, 1, _PAIRS)]
    for label, decisions in variants(feat).items():
        sch = Schedule(module, debug_mask="all")
        schedule(sch, decisions)
        kernel = st.compile(st.lower(sch.mod), signature=spmm.signature(feat))
        call = functools.partial(kernel.entry, A.data, X, out, A.indptr, A.indices, *A.shape, A.nnz)
        contenders.append(Contender(label, st.__version__, call, lambda: out))
    present = [contender for contender in contenders if isinstance(contender, Contender)]
    expected = A.astype(np.float64) @ X
    for contender in present:
        check(contender, expected, rtol=1e-4, atol=0)
    times = time_in_turns(present, rounds)
    return {label: times[_BASE].median / time.median for label, time in times.items()}


@click.command(help=__doc__)
@click.option(
    "--graph", "names", multiple=True, default=graphs.NAMES, help="A name, or a .npz file; repeatable."
)
@click.option(
    "--feat", "features", multiple=True, type=click.IntRange(16), default=(16, 64, 256), help="Repeatable."
)
@click.option(
    "--rounds", type=click.IntRange(3), default=11, show_default=True, help="Samples of each variant."
)
@click.option("--in-this-process", is_flag=True, hidden=True)
def main(names: Sequence[str], features: Sequence[int], rounds: int, in_this_process: bool) -> None:
    if not in_this_process:
        words = [word for name in names for word in ("--graph", name)]
        words += [word for feat in features for word in ("--feat", str(feat))]
        for line in lines_of(["--in-this-process", "--rounds", str(rounds), *words], threads=1):
            print(line, end="")
        return
    columns = {(name, feat): measure(name, feat, rounds) for name in names for feat in features}
    table = Table(title="times as fast as the base")
    for column in ("variant", *(f"{name} {feat}" for name, feat in columns), "geometric mean"):
        table.add_column(column, justify="left" if column == "variant" else "right")
    for label in dict.fromkeys(label for found in columns.values() for label in found):
        ratios = [found.get(label) for found in columns.values()]
        there = [ratio for ratio in ratios if ratio is not None]
        words = ("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
        mean = geometric_mean(there) if len(there) == len(ratios) else None
        table.add_row(label, *words, "" if mean is None else f"{mean:.2f}")
    Console(width=60 + 16 * len(columns)).print(table)


if __name__ == "__main__":
    main()
