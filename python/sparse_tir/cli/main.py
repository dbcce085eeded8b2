"""``sparse-tir``: the group of all commands, and what becomes of errors."""

from __future__ import annotations

import sys
from typing import Any

import click

from .. import __version__
from .env import env
from .lower import lower
from .make_graph import make_graph
from .report import report
from .run import run
from .tune import INTERRUPTED, tune


class _Group(click.Group):
    """Errors of users are messages on stderr and exit code 1 (2 for wrong usage), never tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except MemoryError as failure:
            click.echo(f"not enough memory: {failure}", err=True)
            ctx.exit(1)
        except Exception as failure:
            if not _is_for_users(failure):
                raise
            click.echo(str(failure), err=True)
            ctx.exit(1)


def _is_for_users(failure: Exception) -> bool:
    if isinstance(failure, ImportError):  # a missing or wrong TVM: our message with its code
        return str(failure).startswith("[ST")
    errors = sys.modules.get("sparse_tir.errors")  # not imported: not one of ours
    return errors is not None and isinstance(failure, errors.SparseTIRError)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sparse-tir")
def main() -> None:
    """Sparse kernels for Apache TVM: lower, run and tune them.

    Every command has an example in its --help, and --json for scripts.
    """


for _command in (env, lower, run, tune, report, make_graph):
    main.add_command(_command)
