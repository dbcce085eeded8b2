"""Draws random schedules: primitives of TVM on random blocks and loops, as many as it accepts."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import tvm
from tvm.error import InternalError
from tvm.s_tir import Schedule, ScheduleError
from tvm.s_tir.schedule import LoopRV, SBlockRV

#: How many primitives are tried for one that is wanted.
_ATTEMPTS = 6

#: What TVM raises where a primitive does not apply.
REFUSALS = (ScheduleError, InternalError, ValueError, TypeError, IndexError, KeyError, AssertionError)


def draw_schedule(
    module: tvm.IRModule, rng: random.Random, count: int, *, debug_mask: str = "all"
) -> tuple[tvm.IRModule, list[str]]:
    """A scheduled module, and the primitives that TVM accepted, as text.

    Parameters
    ----------
    module
        A module of the position stage; a schedule may alter it.
    count
        How many primitives are wanted.
    debug_mask
        TVM's checks: "all" or "none".
    """
    drawer = _Drawer(Schedule(module, debug_mask=debug_mask, error_render_level="fast"), rng)
    steps: list[str] = []
    for _ in range(count * _ATTEMPTS):
        if len(steps) == count:
            break
        step = drawer.step()
        if step is not None:
            steps.append(step)
    return drawer.schedule.mod, steps


class _Drawer:
    def __init__(self, schedule: Schedule, rng: random.Random) -> None:
        self.schedule, self.rng = schedule, rng

    def step(self) -> str | None:
        """Tries one primitive; its text if TVM accepts it. One that is refused may have changed the schedule."""
        primitive, before = self.rng.choice(_PRIMITIVES), self.schedule
        try:
            self.schedule = before.copy()
            blocks = self._blocks()
            return str(primitive(self, self.rng.choice(blocks), blocks))
        except REFUSALS:
            self.schedule = before
            return None

    def _blocks(self) -> list[SBlockRV]:
        found: list[SBlockRV] = []
        todo = [self.schedule.get_sblock("root")]
        while todo:
            children = self.schedule.get_child_blocks(todo.pop())
            found += children
            todo += children
        return found

    def _name(self, block: SBlockRV) -> str:
        return str(self.schedule.get(block).name_hint)

    def _loop(self, block: SBlockRV) -> tuple[LoopRV, str]:
        """A loop, by its place counted from the inside; inner ones more often."""
        loops = self.schedule.get_loops(block)
        place = min(self.rng.choice([1, 1, 1, 2, 2, 3, 4]), len(loops))
        return loops[-place], f"{self._name(block)} {place}"

    # ---- primitives
    def split(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loop, text = self._loop(block)
        factor = self.rng.choice([2, 3, 4])
        factors = [None, factor] if self.rng.random() < 0.8 else [factor, None]
        self.schedule.split(loop, factors)
        return f"split {text} {factors}"

    def reorder(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loops = self.schedule.get_loops(block)
        places = self.rng.sample(range(1, len(loops) + 1), min(len(loops), self.rng.choice([2, 2, 3])))
        self.schedule.reorder(*(loops[-place] for place in places))
        return f"reorder {self._name(block)} {places}"

    def fuse(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loops = self.schedule.get_loops(block)
        place = self.rng.randint(2, min(len(loops), 3))
        self.schedule.fuse(loops[-place], loops[-place + 1])
        return f"fuse {self._name(block)} {place} {place - 1}"

    def _mark(name: str) -> Callable[..., str]:  # type: ignore[misc]  # noqa: N805
        def primitive(self: _Drawer, block: SBlockRV, _: list[SBlockRV]) -> str:
            loop, text = self._loop(block)
            getattr(self.schedule, name)(loop)
            return f"{name} {text}"

        return primitive

    parallel, vectorize, unroll = _mark("parallel"), _mark("vectorize"), _mark("unroll")
    blockize, add_unit_loop = _mark("blockize"), _mark("add_unit_loop")

    def partition(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loop, text = self._loop(block)
        factor = self.rng.choice([1, 2, 3])
        self.schedule.loop_partition(loop, [factor, None])
        return f"loop_partition {text} [{factor}, None]"

    def rfactor(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loop, text = self._loop(block)
        self.schedule.rfactor(loop, 0)
        return f"rfactor {text}"

    def decompose(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loop, text = self._loop(block)
        self.schedule.decompose_reduction(block, loop)
        return f"decompose_reduction {text}"

    def cache_write(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loops, name = self.schedule.get_loops(block), self._name(block)
        copy = self.schedule.cache_write(block, 0, self.rng.choice(["local", "global"]))
        place = self.rng.randint(0, min(len(loops), 3))
        if place:
            try:
                self.schedule.reverse_compute_at(copy, loops[-place], preserve_unit_loops=True)
            except REFUSALS:
                place = 0
        return f"cache_write {name}" + f" at {place}" * bool(place)

    def cache_read(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        loops, name = self.schedule.get_loops(block), self._name(block)
        number = self.rng.randrange(3)
        copy = self.schedule.cache_read(block, number, "local")
        place = self.rng.randint(0, min(len(loops), 3))
        if place:
            try:
                self.schedule.compute_at(copy, loops[-place], preserve_unit_loops=True)
            except REFUSALS:
                place = 0
        return f"cache_read {name} {number}" + f" at {place}" * bool(place)

    def compute_at(self, block: SBlockRV, blocks: list[SBlockRV]) -> str:
        loop, text = self._loop(self.rng.choice(blocks))
        is_reverse = self.rng.random() < 0.5
        primitive = "reverse_compute_at" if is_reverse else "compute_at"
        getattr(self.schedule, primitive)(block, loop)
        return f"{primitive} {self._name(block)} {text}"

    def inline(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        name = self._name(block)
        primitive = self.rng.choice(["compute_inline", "reverse_compute_inline"])
        getattr(self.schedule, primitive)(block)
        return f"{primitive} {name}"

    def storage(self, block: SBlockRV, _: list[SBlockRV]) -> str:
        self.schedule.set_scope(block, 0, "local")
        return f"set_scope {self._name(block)} local"


_PRIMITIVES: list[Any] = [
    *[_Drawer.split] * 5,
    *[_Drawer.reorder] * 3,
    *[_Drawer.fuse] * 2,
    *[_Drawer.parallel] * 2,
    *[_Drawer.vectorize] * 2,
    _Drawer.unroll,
    *[_Drawer.blockize] * 2,
    _Drawer.add_unit_loop,
    *[_Drawer.rfactor] * 2,
    *[_Drawer.decompose] * 2,
    *[_Drawer.cache_write] * 3,
    *[_Drawer.cache_read] * 2,
    *[_Drawer.compute_at] * 2,
    _Drawer.inline,
    _Drawer.storage,
]
