"""What a measurement was made on, in words."""

from __future__ import annotations

import importlib.metadata
import platform

import sparse_tir

_PACKAGES = {
    "tvm": "apache-tvm",
    "xgboost_cpu": "xgboost-cpu",
    "numpy": "numpy",
    "scipy": "scipy",
}


def processor_name() -> str | None:
    """The processor's name as Linux gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(
                (line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), None
            )
    except OSError:  # not Linux
        return None


def versions() -> dict[str, str]:
    """Of what takes part in a result."""
    found = {"sparse_tir": sparse_tir.__version__, "python": platform.python_version()}
    for name, package in _PACKAGES.items():
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
