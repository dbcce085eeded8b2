"""``sparse-tir lower``: the script of a program at a stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import options

_STAGES = ("coordinate", "position", "loop")
_NAMED = ("spmm", "spmv")


@click.command("lower")
@click.argument("program", metavar="FILE.py[:FUNCTION]|OPERATOR")
@click.option(
    "--stage", type=click.Choice(_STAGES), default="loop", show_default=True, help="How far to lower."
)
@click.option(
    "--feat", type=click.IntRange(min=1), default=64, show_default=True, help="Features of an operator."
)
@options.dtype
@click.option(
    "--idtype", type=click.Choice(("int32", "int64")), default="int32", show_default=True, help="Indices."
)
@click.option("--scheduled", is_flag=True, help="Apply the default schedule of an operator.")
@options.as_json
def lower(
    program: str, stage: str, feat: int, dtype: str, idtype: str, scheduled: bool, as_json: bool
) -> None:
    """Print a program at a stage of lowering.

    The program is an operator (spmm, spmv), or an @S.prim_func of a Python file.

    \b
    Stages:
      coordinate  as it was written: axes, sparse buffers, iterations
      position    TVM blocks over positions; schedules apply here
      loop        plain loops, which TVM compiles

    \b
    Example:
      sparse-tir lower spmm --feat 64 --stage position
    """
    if program in _NAMED:
        if scheduled and stage == "coordinate":
            raise click.UsageError("a schedule applies from the position stage on")
        func, name = _operator(program, feat, dtype, idtype), program
    else:
        if scheduled:
            raise click.UsageError("--scheduled is for operators, which have a default schedule")
        func, name = _of_file(program)
    text = _at_stage(func, stage, name, feat, dtype) if scheduled else _at_stage(func, stage)
    if as_json:
        options.print_json({"program": name, "stage": stage, "scheduled": scheduled, "script": text})
    else:
        click.echo(text)


def _operator(name: str, feat: int, dtype: str, idtype: str) -> Any:
    from ..ops import spmm, spmv

    return spmm.program(feat, dtype, idtype) if name == "spmm" else spmv.program(dtype, idtype)


def _at_stage(func: Any, stage: str, operator: str | None = None, feat: int = 0, dtype: str = "") -> str:
    """The text at a stage; with an operator, its default schedule is applied on the way."""
    from tvm.s_tir import Schedule

    from .. import transform
    from ..ops import spmm_schedule, spmv
    from ..script.printer import script

    if stage == "coordinate":
        return script(func)
    module = transform.lower(func, "position" if operator or stage == "position" else "loop")
    if operator is not None:
        sch = Schedule(module, debug_mask="all")
        if operator == "spmm":
            spmm_schedule.schedule(sch, spmm_schedule.default_decisions(feat, dtype))
        else:
            spmv.schedule(sch)
        module = sch.mod if stage == "position" else transform.lower(sch.mod)
    return script(module)


def _of_file(program: str) -> tuple[Any, str]:
    """The function, and its name."""
    path, colon, wanted = program.partition(".py:")
    path = f"{path}.py" if colon else program
    if not path.endswith(".py"):
        raise click.BadParameter(f"{program!r} is neither an operator ({', '.join(_NAMED)}) nor a file *.py")
    found = _functions(path)
    if colon:
        if wanted not in found:
            raise click.BadParameter(f"{path} has no function {wanted!r}, but {', '.join(found) or 'none'}")
        return found[wanted], wanted
    if len(found) != 1:
        raise click.BadParameter(
            f"{path} has {len(found)} functions; name one: {path}:{next(iter(found), 'NAME')}"
        )
    return next((func, name) for name, func in found.items())


def _functions(path: str) -> dict[str, Any]:
    """The TVM functions of a Python file, which is executed."""
    import importlib.util
    import sys

    from tvm.tirx import PrimFunc

    from .. import errors

    if not Path(path).is_file():
        raise errors.error("ST130", path, "no such file", "a Python file with an @S.prim_func")
    spec = importlib.util.spec_from_file_location(f"sparse_tir_program_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise errors.error("ST130", path, "something that Python cannot import", "a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # the script parser looks there for the source
    try:
        spec.loader.exec_module(module)
    except errors.SparseTIRError:
        raise
    except Exception as reason:  # whatever the file raises
        raise errors.error(
            "ST201", path, f"{type(reason).__name__}: {reason}", "a file that runs"
        ) from reason
    return {name: value for name, value in vars(module).items() if isinstance(value, PrimFunc)}
