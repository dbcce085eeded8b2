"""``sparse-tir report``: one HTML page about a tuning job."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from ..report import Report


@click.command("report")
@click.argument("work_dir", metavar="WORK_DIR")
@click.option("-o", "--output", metavar="FILE", help="The page. [default: WORK_DIR/report.html]")
@options.as_json
def report(work_dir: str, output: str | None, as_json: bool) -> None:
    """Write a page about the tuning job of a work directory.

    One HTML file that needs nothing else: what was tuned, how it compares with SciPy, how the search went,
    why the winner won, and the commands to go on. A job that did not end is reported as far as it came.

    \b
    Example:
      sparse-tir report W -o report.html
    """
    options.import_tvm()
    from ..tuning.reading import read_report
    from ..tuning.records import report_path

    found = read_report(work_dir)
    path = report_path(work_dir) if output is None else Path(output)
    write_page(found, path)
    if as_json:
        options.print_json(
            {"report": str(path), "finished": found.is_finished, "candidates": len(found.candidates)}
        )
    else:
        click.echo(f"wrote {path}")


def write_page(found: Report, path: Path) -> None:
    """Renders a report into a file, which is replaced as a whole.

    Raises
    ------
    TuningError
        ST604 if it cannot be written.
    """
    from .. import errors
    from ..report import render

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks of its font cache
    page = render(found)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        temporary.write_text(page, "utf-8", "backslashreplace")  # names of files need not be text
        os.replace(temporary, path)
    except OSError as reason:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise errors.error("ST604", f"--output {path}", reason, "a file that can be written") from reason
