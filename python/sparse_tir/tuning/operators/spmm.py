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
from sparse_tir.ops import spmm
from sparse_tir.ops.csr import csr_arguments, value_dtype
from sparse_tir.ops.spmm import Decisions
from sparse_tir.runtime import Kernel, SparseMatrix, compile
from sparse_tir.runtime.signature import main_function, signature_of
from sparse_tir.transform import lower

from ..problem import TuningProblem, choose, choose_tile
from .operator import TunableOperator
from .reference import dense_operand, product, tolerances, wrong_values

_ROWS = [16, 32, 64, 128, 256, 512, 1024, 4096]
_PREFETCH = [0, 4, 8, 16, 32, 64]
_WHERE = "st.tune(spmm)"
_OUTPUT = 2


def space(
    sch: Schedule,
    parts: int,
    widest: int,
    tile: tuple[int, ...] | None = None,
    rows: int | None = None,
    prefetch: int | None = None,
) -> None:
    """The schedules that are searched, in the words of `sparse_tir.ops.spmm.Decisions`.

    Parameters
    ----------
    sch
        Of the program at the position stage.
    parts
        Length of ``tile``: 3 with vectors of our own, 2 with loops that LLVM vectorises.
    widest
        Largest innermost part of ``tile``.
    tile, rows, prefetch
        Given decisions, for seeds.
    """
    _, feature = sch.get_loops(sch.get_sblock("spmm"))
    decisions = Decisions(
        tile=tuple(choose_tile(sch, "tile", feature, parts, widest, value=tile)),
        rows=choose(sch, "rows", _ROWS, value=rows),
        prefetch=choose(sch, "prefetch", _PREFETCH, value=prefetch),
    )
    spmm.apply_decisions(sch, decisions)


def _space_and_seeds(
    feat: int, dtype: str, target: Target
) -> tuple[Callable[[Schedule], None], list[Callable[[Schedule], None]]]:
    """The space of a width, and known points of it: the default first, then what suits other graphs."""
    default = spmm.default_decisions(feat, dtype, spmm.vector_bytes_of(target))
    known = [default, replace(default, prefetch=0, rows=256), replace(default, prefetch=32, rows=1024)]
    if len(default.tile) == 3 and default.tile[1] % 2 == 0:
        passes, vectors, lanes = default.tile
        known.append(replace(default, tile=(passes * 2, vectors // 2, lanes)))
    widest = default.tile[-1] * 2 if len(default.tile) == 3 else feat
    drawn = functools.partial(space, parts=len(default.tile), widest=widest)
    return drawn, [functools.partial(drawn, tile=d.tile, rows=d.rows, prefetch=d.prefetch) for d in known]


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
    drawn, seeds = _space_and_seeds(feat, dtype, target)

    def arguments() -> list[Any]:
        unwritten: NDArray[Any] = wrong_values(expected)
        return [prepared.data, operand, unwritten, prepared.indptr, prepared.indices, m, n, matrix.nnz]

    return TuningProblem(
        name="spmm",
        module=lower(spmm.program(feat, dtype, prepared.idtype), "position"),
        space=drawn,
        seeds=seeds,
        finish=spmm.finish,
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
