"""``sparse-tir env``: what is installed and what this machine is, for bug reports."""

from __future__ import annotations

from typing import Any

import click

from . import options

_PACKAGES = {
    "sparse_tir": "sparse-tir",
    "tvm": "apache-tvm",
    "tvm_ffi": "apache-tvm-ffi",
    "numpy": "numpy",
    "scipy": "scipy",
    "xgboost": "xgboost-cpu",
}
#: What generated code makes use of, in LLVM's words.
_VECTOR_FEATURES = ("avx2", "fma", "avx512f", "avx512bf16", "avx512fp16", "neon", "sve", "sve2", "v")


@click.command("env")
@options.as_json
def env(as_json: bool) -> None:
    """Print versions, processor, compiler and settings.

    \b
    Example:
      sparse-tir env --json
    """
    result: dict[str, Any] = {"versions": _versions(), "cpu": _cpu()}
    result |= {"compiler": _compiler(), "settings": _settings()}
    problem = _problem()
    if problem is not None:
        result["problem"] = problem
    if as_json:
        options.print_json(result)
        return
    for title, entries in result.items():
        click.echo(title)
        for name, value in entries.items() if isinstance(entries, dict) else [("", entries)]:
            click.echo(f"  {name:12s} {_text(value)}".rstrip())


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']}  (${value['variable']}: {value['meaning']})"
    if isinstance(value, list):
        return " ".join(value) or "none"
    return "not found" if value is None else str(value)


def _versions() -> dict[str, str | None]:
    import importlib.metadata
    import platform

    from .. import __version__

    found: dict[str, str | None] = {"sparse_tir": __version__, "python": platform.python_version()}
    for name, package in _PACKAGES.items():
        if name not in found:
            try:
                found[name] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                found[name] = None
    return found


def _problem() -> str | None:
    """Why kernels cannot be compiled here, or None."""
    try:
        from .. import _base  # noqa: F401
    except (ImportError, OSError) as reason:
        return str(reason)
    return None


def _cpu() -> dict[str, Any]:
    import os
    import platform

    from ..tuning.machine import processor_name

    result: dict[str, Any] = {
        "machine": platform.machine(),
        "model": processor_name(),
        "logical": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    if _problem() is not None:
        return result
    import tvm

    from ..runtime.target import host_cpu, host_target
    from ..tuning.launch import available_cores

    features = set(tvm.get_global_func("target.llvm_get_cpu_features")(host_target()))
    result["llvm_name"] = host_cpu()
    result["cores"] = available_cores()
    result["vectors"] = [feature for feature in _VECTOR_FEATURES if feature in features]
    return result


def _compiler() -> dict[str, str | None]:
    """What links saved kernels."""
    import os
    import shutil

    names = [os.environ.get("CXX"), os.environ.get("CC"), "g++", "gcc", "clang++", "clang", "c++", "cc"]
    return {"found": next((path for name in names if name and (path := shutil.which(name))), None)}


def _settings() -> dict[str, Any]:
    try:
        from .. import config
    except ImportError:  # TVM's own packages are missing: `_problem` says so
        return {}
    return {
        setting.name: {
            "variable": setting.variable,
            "value": None if (value := setting.value()) is None else str(value),
            "meaning": setting.meaning,
        }
        for setting in config.SETTINGS
    }
