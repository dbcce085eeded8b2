"""Targets: what a kernel is compiled for."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tvm
from tvm.target import Target

from .. import errors

#: What ``"cuda"`` alone means.
DEFAULT_ARCH = "sm_90"
_ARCH = re.compile(r"sm_\d{2,3}[a-z]?")
#: Kinds of targets that `compile` builds for.
TARGET_KINDS = ("llvm", "cuda")


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
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, size = ((folder / name).read_text().strip() for name in ("level", "size"))
        except OSError:  # another system than Linux, or one that hides it
            continue
        if level == "2" and size.endswith("K") and size[:-1].isdecimal():
            return int(size[:-1]) << 10
    return 1 << 20


@functools.cache
def host_target() -> Target:
    """LLVM for this machine's CPU: without its name kernels are three to four times slower."""
    return Target({"kind": "llvm", "mcpu": host_cpu(), "num-cores": available_cores()})


def resolve_target(target: Any = None, kinds: Sequence[str] = ("llvm",)) -> Target:
    """The target that a call means.

    Parameters
    ----------
    target : None, str, dict or Target
        None and ``"llvm"`` mean this machine's CPU; ``"cuda"`` a GPU of compute capability 9.0. A
        `tvm.target.Target`, or what one is made from, is taken as it is.
    kinds
        What the call supports.

    Raises
    ------
    BuildError
        ST503 for a target that kernels cannot be built for.
    """
    if target is None or (isinstance(target, str) and target in ("llvm", "cpu")):
        return host_target()
    if isinstance(target, str) and target == "cuda" and "cuda" in kinds:
        return cuda_target()
    try:
        made = target if isinstance(target, Target) else Target(target)
    except (ValueError, TypeError, RuntimeError) as reason:
        raise errors.error(
            "ST503", "target", f"{target!r} ({_last_line(reason)})", " or ".join(kinds)
        ) from reason
    if str(made.kind.name) not in kinds:
        raise errors.error(
            "ST503",
            "target",
            f"kind {made.kind.name!r}",
            " or ".join(kinds),
            "other kinds are not available yet",
        )
    return _completed(made) if is_cuda(made) else made


def _completed(target: Target) -> Target:
    """A target for a GPU, with a host (ST503 for an architecture that cannot be)."""
    arch = str(target.attrs.get("arch", ""))
    if _ARCH.fullmatch(arch) is None:
        raise errors.error("ST503", "target", f"arch {arch!r}", "an architecture such as 'sm_90'")
    return target if target.host is not None else target.with_host(Target("llvm"))


def cuda_target(arch: str = DEFAULT_ARCH) -> Target:
    """A GPU of an architecture such as ``"sm_80"``; the host part of its kernels runs on any CPU."""
    return Target({"kind": "cuda", "arch": arch}, host="llvm")


def is_cuda(target: Target) -> bool:
    """Whether kernels of the target run on a GPU of NVIDIA."""
    return str(target.kind.name) == "cuda"


def mcpu_of(target: Target) -> str:
    """The CPU that a target names; ``""`` means any of its architecture."""
    return str(target.attrs.get("mcpu", "") or "")


def _last_line(reason: Exception) -> str:
    lines = [line for line in str(reason).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(reason).__name__
