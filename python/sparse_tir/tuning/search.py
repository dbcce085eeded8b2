"""MetaSchedule's evolutionary search and XGBoost cost model, set up for sparse kernels.

The parts are MetaSchedule's own; only its task scheduler is not used, because measuring is ours (`runner`)
and it would configure logging and write log files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm.ir.utils import derived_object
from tvm.s_tir import Schedule
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.meta_schedule.cost_model.xgb_model import XGBConfig
from tvm.s_tir.meta_schedule.utils import shash2hex
from tvm.s_tir.schedule import Trace

from sparse_tir import errors
from sparse_tir._interrupts import interrupts_wait

from .mutator import mutators_for
from .problem import TuningProblem
from .traces import TraceJSON, decisions_of

WARM_UP_SAMPLES = 12
_POPULATION = 32
_GENERATIONS = 2
_UNLIMITED = 1 << 30
_DECISION_COLUMNS = 16


@dataclass(frozen=True)
class Candidate:
    """A schedule to measure.

    `key` is the structural hash of the scheduled module: equal modules are one candidate.
    """

    key: str
    trace: TraceJSON
    measure: ms.MeasureCandidate

    @property
    def decisions(self) -> dict[str, Any]:
        """The decisions by name."""
        return decisions_of(self.trace)


def plain(value: Any) -> Any:
    """TVM containers and immediates as Python's own."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, tvm.ir.Array)):
        return [plain(item) for item in value]
    if isinstance(value, (tvm.tirx.IntImm, tvm.tirx.FloatImm)):
        return value.value
    return str(value) if isinstance(value, str) else value


def candidate_of(sch: Schedule) -> Candidate:
    """A scheduled workload as a candidate."""
    # There are no array arguments to describe: `problem.workload` explains the entry function.
    return Candidate(shash2hex(sch.mod), plain(sch.trace.as_json(True)), ms.MeasureCandidate(sch, []))


def replay(workload: tvm.IRModule, trace: TraceJSON) -> Candidate:
    """The candidate of a recorded trace; raises what TVM raises if the trace does not apply."""
    sch = Schedule(workload)
    Trace.apply_json_to_schedule(trace, sch)
    return candidate_of(sch)


def draw(
    problem: TuningProblem, workload: tvm.IRModule, apply: Callable[[Schedule], None], seed: int
) -> Candidate:
    """One schedule drawn from the space, or a seed."""
    sch = Schedule(workload, seed=seed)
    sch.work_on("main")
    try:
        apply(sch)
    except Exception as failure:
        where = f"st.tune({problem.name}).{getattr(apply, '__name__', apply)}"
        raise errors.error("ST601", where, failure, "a schedule that applies") from failure
    # Without decisions that only chose between schedules: in the trace, changing them would change nothing.
    drawn = Schedule(workload)
    sch.trace.simplified(True).apply_to_schedule(drawn, True)
    return candidate_of(drawn)


@derived_object
class _Features(ms.feature_extractor.PyFeatureExtractor):  # type: ignore[misc]
    """TVM's per-store features of the kernel with its real sizes, and its decisions, each candidate once.

    The decisions are there because TVM's features do not see all that they change, such as prefetches.

    Sizes that are run-time arguments are put in first: TVM counts every extent that is not constant as 1, and
    constants make extraction (10 ms) 1.6 times faster. It is spread over all cores, unlike evolution itself,
    whose random states belong to threads: with several of them, equal seeds would give different candidates.
    """

    def __init__(self, sizes: Mapping[int, int], context: ms.TuneContext) -> None:
        super().__init__()
        self._per_store = ms.feature_extractor.PerStoreFeature()
        self._sizes, self._context = sizes, context
        self._known: dict[str, Any] = {}

    def extract_from(self, context: ms.TuneContext, candidates: list[ms.MeasureCandidate]) -> list[Any]:
        """One matrix (stores, features) per candidate."""
        keys = [shash2hex(candidate.sch.mod) for candidate in candidates]
        new = {key: c for key, c in zip(keys, candidates, strict=True) if key not in self._known}
        sized = [ms.MeasureCandidate(Schedule(self._with_sizes(c.sch.mod)), []) for c in new.values()]
        if sized:
            stores = self._per_store.extract_from(self._context, sized)
            for (key, candidate), features in zip(new.items(), stores, strict=True):
                self._known[key] = _with_decisions(features.numpy(), candidate.sch.trace)
        return [self._known[key] for key in keys]

    def _with_sizes(self, module: tvm.IRModule) -> tvm.IRModule:
        main = module["main"]
        values = {
            main.params[index]: tvm.tirx.const(size, str(main.params[index].ty))
            for index, size in self._sizes.items()
        }
        return tvm.IRModule({"main": main.specialize(values) if values else main})


def _with_decisions(features: np.ndarray, trace: Trace) -> Any:
    """The features with more columns for the decisions, in the order of their names, on a log scale."""
    numbers: list[float] = []
    for _, value in sorted(decisions_of(plain(trace.as_json(True))).items()):
        parts = value if isinstance(value, list) else [value]
        numbers += [float(part) for part in parts if isinstance(part, (int, float))]
    columns = np.zeros((len(features), _DECISION_COLUMNS))
    columns[:, : len(numbers)] = np.log2(1 + np.abs(numbers[:_DECISION_COLUMNS]))
    return tvm.runtime.tensor(np.hstack([features, columns]))


@derived_object
class _CostModel(ms.cost_model.PyCostModel):  # type: ignore[misc]
    """XGBModel whose random scores before the warm-up come from the job's seed, not NumPy's global state."""

    def __init__(self, extractor: Any, seed: int) -> None:
        super().__init__()
        self.model = ms.cost_model.XGBModel(
            extractor=extractor,
            config=XGBConfig(seed=seed, nthread=1),
            num_warmup_samples=WARM_UP_SAMPLES,
            verbose_eval=0,
        )
        self._random = np.random.default_rng(seed)
        self._samples = 0

    def load(self, path: str) -> None:
        """Reads the model."""
        self.model.load(path)

    def save(self, path: str) -> None:
        """Writes the model."""
        self.model.save(path)

    def update(self, context: ms.TuneContext, candidates: list[Any], results: list[Any]) -> None:
        """Learns from measured candidates."""
        self._samples += len(candidates)
        self.model.update(context, candidates, results)

    def predict(self, context: ms.TuneContext, candidates: list[Any]) -> np.ndarray:
        """A score for each candidate; higher is faster."""
        if self._samples < WARM_UP_SAMPLES:
            return self._random.random(len(candidates))
        return np.asarray(self.model.predict(context, candidates), "float64")


def _context(
    workload: tvm.IRModule, target: tvm.target.Target, space: Any, strategy: Any, threads: int, seed: int
) -> ms.TuneContext:
    # The constructor in Python imports every tensor intrinsic of every target (15 to 25 s) only so that
    # schedules may name them; the object itself is made by this function, which does not. Nothing here
    # tensorizes, and an operator that does imports the intrinsics of its target itself.
    make = tvm.get_global_func("s_tir.meta_schedule.TuneContext")
    context = make(workload, target, space, strategy, "main", threads, seed, _discard)
    tvm.get_global_func("s_tir.meta_schedule.TuneContextInitialize")(context)
    return context


def _discard(*message: Any) -> None:
    """MetaSchedule's progress messages. The job reports its own (`on_event`)."""


class Search:
    """Proposes candidates in batches and learns from their times.

    The first batches are drawn from the space at random: before the cost model is warm, evolution would take
    a second per batch to do no better. Equal arguments and equal times give equal candidates, in any process.
    """

    def __init__(
        self,
        problem: TuningProblem,
        workload: tvm.IRModule,
        sizes: Mapping[int, int],
        *,
        batch: int,
        seed: int,
        threads: int,
    ) -> None:
        self._target, self._batch = problem.target, batch
        # Neighbouring seeds of TVM's generator draw nearly the same, and 0 is none.
        seed, *states = (
            int(x) for x in np.random.default_rng(seed).integers(1, 2**31 - 1, 1 + WARM_UP_SAMPLES)
        )
        drawn = [draw(problem, workload, problem.space, state) for state in states]
        self._drawn = {candidate.key: candidate for candidate in drawn}
        # A trace is a straight line: different schedules are design spaces of their own (`choose_variant`).
        spaces = list({json.dumps(c.trace[0]): c.measure.sch for c in drawn}.values())
        generator = ms.space_generator.ScheduleFn(
            _discard, sch_rules=[], postprocs=[], mutator_probs=mutators_for([sch.trace for sch in spaces])
        )
        strategy = ms.search_strategy.EvolutionarySearch(
            population_size=_POPULATION, init_min_unmeasured=1, genetic_num_iters=_GENERATIONS
        )
        self._context = _context(workload, self._target, generator, strategy, 1, seed)
        wide = _context(workload, self._target, None, None, threads, seed)
        self._model = _CostModel(_Features(sizes, wide), seed)
        self._database = ms.database.MemoryDatabase()
        self._entry = self._database.commit_workload(workload)
        self._context.pre_tuning(_UNLIMITED, batch, spaces, self._database, self._model)

    def propose(self, known: Container[str]) -> list[Candidate] | None:
        """The next batch without known candidates (their keys); None if the search finds nothing any more.

        MetaSchedule proposes nothing twice, but it does not know of seeds, drawn candidates and earlier jobs:
        if a batch holds these only, an empty list is returned, and the next batch is another.
        """
        new = [candidate for key, candidate in self._drawn.items() if key not in known]
        self._drawn = {candidate.key: candidate for candidate in new[self._batch :]}
        if new:
            return new[: self._batch]
        with interrupts_wait():
            found = list(self._context.generate_measure_candidates() or [])
        if not found:
            return None
        # Only counted there: it learns from the database and the cost model.
        self._context.notify_runner_results(found, [ms.runner.RunnerResult(None, "")] * len(found))
        candidates = {candidate.key: candidate for candidate in (candidate_of(c.sch) for c in found)}
        return [candidate for key, candidate in candidates.items() if key not in known]

    def learn(self, candidates: Sequence[Candidate], times: Sequence[Sequence[float] | None]) -> None:
        """Measured candidates with their samples, None for a failed one."""
        if not candidates:
            return
        measured = [candidate.measure for candidate in candidates]
        results = [
            ms.runner.RunnerResult(list(samples), None) if samples else ms.runner.RunnerResult(None, "failed")
            for samples in times
        ]
        with interrupts_wait():
            self._model.update(self._context, measured, results)
        for candidate, samples in zip(measured, times, strict=True):
            if samples:
                record = ms.database.TuningRecord(
                    candidate.sch.trace, self._entry, list(samples), self._target, []
                )
                self._database.commit_tuning_record(record)
