"""`tune`: from an operator and a matrix to a tuned kernel that is saved."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from sparse_tir import errors
from sparse_tir.runtime import SparseMatrix, asarray, resolve_target

from .best import best_candidate
from .job import OnEvent, OnStart, tune_problem
from .matrices import describe_matrix
from .operators import TunableOperator, find_operator
from .problem import TuningProblem, TuningResult
from .records import kernel_path

_WIDEST = 1 << 20


def tune(
    op: str,
    A: Any,
    *,
    feat: int,
    target: Any = None,
    work_dir: str | os.PathLike[str],
    max_trials_global: int = 64,
    num_trials_per_iter: int | None = None,
    seed: int = 0,
    timeout_sec: float = 30.0,
    threads: int | None = None,
    on_start: OnStart | None = None,
    on_event: OnEvent | None = None,
    notes: Mapping[str, Any] | None = None,
) -> TuningResult:
    """Find a fast kernel of an operator for a matrix, on this machine, and save it.

    The default schedule and a few known ones are measured first, then MetaSchedule's evolutionary search with
    an XGBoost cost model proposes more; each is compared with SciPy before it is timed, in a process of its
    own. At the end the best ones and the default are timed in turns, so the winner is never slower than the
    default.

    ``work_dir/kernel.so`` is the winner: ``sparse_tir.load`` opens it in any process, and the operator
    takes it as ``kernel=``. An interrupted job (Ctrl-C) saves the best kernel so far and can be resumed.

    Parameters
    ----------
    op : {"spmm"}
        The operator.
    A : (m, n) sparse
        As `asarray` takes it. The kernel is right for any matrix of its dtype and index width; it is fast for
        ones like this.
    feat : int
        Columns of the dense operand.
    target : None, str or Target
        A CPU target; this machine's CPU by default.
    work_dir : path
        Records, result and kernel; created if need be. The same job goes on where the last one stopped.
    max_trials_global : int
        Candidates in all, recorded ones included.
    num_trials_per_iter : int, optional
        Candidates between two updates of the cost model; 8 by default.
    seed : int
        Equal seeds and equal times give equal candidates. The known schedules and the first 12 that are drawn
        depend on no times: up to these, an interrupted job measures the same ones.
    timeout_sec : float
        For one candidate.
    threads : int, optional
        Threads of the kernels; by default what TVM_NUM_THREADS says, else the physical cores of this process.
    on_start : callable, optional
        Called once before anything is measured, with the trials that are recorded already.
    on_event : callable, optional
        Called with every new `Trial`. What it raises ends the job; records are kept.
    notes : mapping, optional
        More for the report: ``graph``, the name of the matrix; ``dtype``, how to read it.

    Returns
    -------
    TuningResult
        ``best``, ``default`` and ``trials`` with decisions and times, ``speedup``, ``kernel_path``.

    Raises
    ------
    DataError
        ST101 to ST107 for A, ST156 for its dtype.
    BuildError
        ST503 for the target, ST505 if the kernel cannot be saved.
    TuningError
        ST601 unknown operator or nothing to time, ST602 no candidate ran right, ST604 an argument is out of
        range, ST605 the measuring process does not start.

    Examples
    --------
    >>> import scipy.sparse as sp, sparse_tir as st, tempfile
    >>> A = sp.random_array((300, 300), density=0.05, format="csr", dtype="float32", rng=0)
    >>> with tempfile.TemporaryDirectory() as work_dir:
    ...     result = st.tune("spmm", A, feat=8, work_dir=work_dir, max_trials_global=1)
    ...     kernel = st.load(result.kernel_path)
    >>> kernel.metadata["tuning"]["decisions"]["tile"]
    [1, 1, 8]
    """
    operator = find_operator(op)
    if not isinstance(feat, Integral) or isinstance(feat, bool) or not 1 <= feat <= _WIDEST:
        raise errors.error("ST604", "st.tune.feat", repr(feat), f"an integer from 1 to {_WIDEST}")
    if not isinstance(work_dir, str | os.PathLike) or not os.fspath(work_dir):
        raise errors.error("ST604", "st.tune.work_dir", repr(work_dir), "the path of a directory")
    if on_event is not None and not callable(on_event):
        raise errors.error("ST604", "st.tune.on_event", repr(on_event), "None, or a function of a Trial")
    matrix = asarray(A, where="st.tune(A)")
    problem = operator.make_problem(matrix, int(feat), resolve_target(target))
    try:
        result = tune_problem(
            problem,
            work_dir=work_dir,
            max_trials_global=max_trials_global,
            num_trials_per_iter=num_trials_per_iter,
            seed=seed,
            timeout_sec=timeout_sec,
            threads=threads,
            on_start=on_start,
            on_event=on_event,
            notes={**(notes or {}), "matrix": describe_matrix(matrix)},
        )
    except KeyboardInterrupt:
        with contextlib.suppress(errors.TuningError):  # nothing was right so far: nothing to save
            scheduled, decisions = best_candidate(problem, work_dir, threads=threads)
            described = {"decisions": decisions, "interrupted": True, **_described(matrix)}
            _save(operator, problem, scheduled, Path(work_dir), described)
        raise
    described = {**_outcome(result), **_described(matrix)}
    path = _save(operator, problem, result.best_schedule_module, result.work_dir, described)
    return replace(result, kernel_path=path)


def _save(
    operator: TunableOperator, problem: TuningProblem, scheduled: Any, work_dir: Path, tuning: dict[str, Any]
) -> Path:
    tuning = {**problem.signature, **tuning}
    return operator.build(problem, scheduled, {"tuning": tuning}).save(kernel_path(work_dir))


def _outcome(result: TuningResult) -> dict[str, Any]:
    """What the metadata of the kernel say of the job."""
    best, default = result.best.seconds, result.default.seconds
    return {
        "decisions": dict(result.best.decisions),
        "seconds": None if best is None else asdict(best),
        "default_seconds": None if default is None else asdict(default),
        "trials": len(result.trials),
        "failures": dict(result.failures_by_reason),
    }


def _described(matrix: SparseMatrix) -> dict[str, Any]:
    """What the metadata say of the matrix: similar ones can be recognised by their statistics."""
    return {
        "pattern": {
            "fingerprint": matrix.pattern.fingerprint,
            "shape": list(matrix.shape),
            "nnz": matrix.nnz,
            "rows": asdict(matrix.pattern.rows),
        }
    }
