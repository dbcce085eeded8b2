"""Tuning of SpMM: its schedule space, and the problem of a matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tvm
from numpy.typing import NDArray
from tvm.s_tir import Schedule
from tvm.target import Target

from sparse_tir import errors
from sparse_tir.ops import spmm, spmm_schedule
from sparse_tir.ops.csr import csr_arguments, value_dtype
from sparse_tir.ops.spmm_schedule import Decisions
from sparse_tir.runtime import Kernel, SparseMatrix, compile
from sparse_tir.runtime.signature import main_function, signature_of
from sparse_tir.runtime.target import private_cache_bytes
from sparse_tir.transform import lower

from ..problem import TuningProblem, choose, choose_tile
from .operator import TunableOperator
from .reference import dense_operand, product, tolerances, wrong_values

#: What each decision is chosen from; ``streaming`` only where vectors are of our own making.
CHOICES: dict[str, list[int]] = {
    "rows": [16, 32, 64, 128, 256, 512, 1024, 4096],
    "prefetch": [0, 4, 8, 16, 32, 64],
    "lines": [1, 2, 4, 8],
    "unroll": [1, 2, 4],
    "streaming": [0, 1],
}
_WHERE = "st.tune(spmm)"
_OUTPUT = 2


def space(sch: Schedule, parts: int, widest: int, known: Decisions | None = None) -> None:
    """The schedules that are searched, in the words of `sparse_tir.ops.spmm_schedule.Decisions`.

    Parameters
    ----------
    sch
        Of the program at the position stage.
    parts
        Length of ``tile``: 3 with vectors of our own, 2 with loops that LLVM vectorises.
    widest
        Largest innermost part of ``tile``.
    known
        Given decisions, for seeds.
    """
    _, feature = sch.get_loops(sch.get_sblock("spmm"))
    tile = choose_tile(sch, "tile", feature, parts, widest, value=None if known is None else known.tile)
    names = [name for name in CHOICES if parts == 3 or name != "streaming"]
    chosen = {
        name: choose(sch, name, CHOICES[name], value=None if known is None else getattr(known, name))
        for name in names
    }
    spmm_schedule.schedule(sch, Decisions(tuple(tile), **chosen))


def _space_and_seeds(
    feat: int, dtype: str, target: Target, is_resident: bool
) -> tuple[Callable[[Schedule], None], list[Callable[[Schedule], None]]]:
    """The space of a width, and known points of it: what the default kernel runs, then what suits other graphs."""
    large = spmm_schedule.default_decisions(feat, dtype, spmm_schedule.vector_bytes_of(target))
    small = spmm_schedule.resident_decisions(large)
    known = [
        *((small, large) if is_resident else (large, small)),
        replace(large, prefetch=0),
        replace(large, lines=1),
        replace(large, rows=512),
    ]
    if len(large.tile) == 3:
        passes, vectors, lanes = large.tile
        known += [replace(small, unroll=4), replace(small, streaming=1)]
        if vectors % 2 == 0:
            known.append(replace(large, tile=(passes * 2, vectors // 2, lanes)))
    widest = large.tile[-1] * 2 if len(large.tile) == 3 else feat
    drawn = functools.partial(space, parts=len(large.tile), widest=widest)
    return drawn, [functools.partial(drawn, known=decisions) for decisions in dict.fromkeys(known)]


def make_problem(matrix: SparseMatrix, feat: int, target: Target) -> TuningProblem:
    """SpMM of a matrix with any dense operand of ``feat`` columns (ST156 dtype, ST601 nothing to time)."""
    dtype = str(value_dtype(matrix.dtype, _WHERE))
    m, n = matrix.shape
    if m == 0 or matrix.nnz == 0:
        found = f"a matrix of shape {m, n} with {matrix.nnz} entries"
        raise errors.error("ST601", f"{_WHERE}.A", found, "some entries")
    prepared = csr_arguments(matrix)
    operand = dense_operand((n, feat), dtype)
    expected = product(matrix, operand)
    rtol, atol = tolerances(matrix, operand)
    is_resident = operand.nbytes + expected.nbytes <= private_cache_bytes()
    drawn, seeds = _space_and_seeds(feat, dtype, target, is_resident)

    def arguments() -> list[Any]:
        unwritten: NDArray[Any] = wrong_values(expected)
        return [prepared.data, operand, unwritten, prepared.indptr, prepared.indices, m, n, matrix.nnz]

    return TuningProblem(
        name="spmm",
        module=lower(spmm.program(feat, dtype, prepared.idtype), "position"),
        space=drawn,
        seeds=seeds,
        finish=lower,
        target=target,
        arguments=arguments,
        output=_OUTPUT,
        expected=expected,
        signature={"op": "spmm", "feat": feat, "dtype": dtype, "idtype": prepared.idtype},
        fingerprint=matrix.pattern.fingerprint,
        rtol=rtol,
        atol=atol,
    )


def build(problem: TuningProblem, scheduled: tvm.IRModule, extra: dict[str, Any]) -> Kernel:
    """The kernel of a schedule, with the signature that `sparse_tir.spmm` asks for."""
    feat, dtype, idtype = (problem.signature[key] for key in ("feat", "dtype", "idtype"))
    signature = signature_of(spmm.program(feat, dtype, idtype), main_function(problem.module))
    loops = tvm.IRModule({"main": problem.finish(scheduled)["main"]})
    return compile(loops, problem.target, signature=signature, extra=extra)


SPMM = TunableOperator("spmm", make_problem, build)
