"""Targets: what a kernel is compiled for."""

from __future__ import annotations

import functools
import os
from typing import Any

import tvm
from tvm.target import Target

from .. import errors


@functools.cache
def host_cpu() -> str:
    """LLVM's name of this machine's CPU."""
    return str(tvm.get_global_func("target.llvm_get_system_cpu")())


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def private_cache_bytes() -> int:
    """The largest cache that a core has for itself, its second level; 1 MiB where the system does not say."""
    try:
        found = os.sysconf("SC_LEVEL2_CACHE_SIZE")
    except (ValueError, OSError):
        found = 0
    return found if found > 0 else 1 << 20


@functools.cache
def host_target() -> Target:
    """LLVM for this machine's CPU: without its name kernels are three to four times slower."""
    return Target({"kind": "llvm", "mcpu": host_cpu(), "num-cores": available_cores()})


def resolve_target(target: Any = None) -> Target:
    """The target that a call means.

    Parameters
    ----------
    target : None, str, dict or Target
        None and ``"llvm"`` mean this machine's CPU. A `tvm.target.Target`, or what one is made from, is taken as it is.

    Raises
    ------
    BuildError
        ST503 for a target that kernels cannot be built for.
    """
    if target is None or (isinstance(target, str) and target in ("llvm", "cpu")):
        return host_target()
    try:
        made = target if isinstance(target, Target) else Target(target)
    except (ValueError, TypeError, RuntimeError) as reason:
        raise errors.error("ST503", "target", f"{target!r} ({_last_line(reason)})", "llvm") from reason
    if str(made.kind.name) != "llvm":
        raise errors.error(
            "ST503", "target", f"kind {made.kind.name!r}", "llvm", "other kinds are not available yet"
        )
    return made


def mcpu_of(target: Target) -> str:
    """The CPU that a target names; ``""`` means any of its architecture."""
    return str(target.attrs.get("mcpu", "") or "")


def _last_line(reason: Exception) -> str:
    lines = [line for line in str(reason).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(reason).__name__
