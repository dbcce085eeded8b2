"""``sparse-tir make-graph``: a power-law graph as an .npz file."""

from __future__ import annotations

import click

from . import options


@click.command("make-graph")
@click.argument("out", metavar="OUT.npz", type=click.Path(dir_okay=False, writable=True))
@click.option("--nodes", type=click.IntRange(min=1), required=True, help="Rows and columns.")
@click.option(
    "--edges",
    type=click.IntRange(min=0),
    required=True,
    help="Stored entries, all distinct: at most a quarter of all pairs of nodes.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Equal seeds, equal graphs."
)
@options.as_json
def make_graph(out: str, nodes: int, edges: int, seed: int, as_json: bool) -> None:
    """Write a random power-law graph (R-MAT) to a file.

    EDGES may be at most NODES * NODES / 4: denser graphs are not sparse, and have no such degrees.

    \b
    Example:
      sparse-tir make-graph graph.npz --nodes 10000 --edges 60000
    """
    from scipy.sparse import save_npz

    from .. import errors
    from ..io.generate import power_law_graph

    if not out.endswith(".npz"):
        raise click.BadParameter("the name must end in .npz", param_hint="OUT.npz")
    graph = power_law_graph(nodes, edges, seed)
    try:
        save_npz(out, graph, compressed=False)
    except OSError as problem:
        raise errors.error("ST135", f"make-graph {out}", problem, "a file that can be written") from problem
    degrees = graph.indptr[1:] - graph.indptr[:-1]
    result = {
        "path": out,
        "shape": list(graph.shape),
        "nnz": int(graph.nnz),
        "longest_row": int(degrees.max()),
        "empty_rows": int((degrees == 0).sum()),
        "seed": seed,
    }
    if as_json:
        options.print_json(result)
    else:
        click.echo(
            f"{out}: {nodes} nodes, {graph.nnz} edges, longest row {result['longest_row']}, "
            f"{result['empty_rows']} empty rows"
        )
