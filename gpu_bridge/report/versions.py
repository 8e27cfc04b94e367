"""Versions that a report about a solve should name."""

from __future__ import annotations

import platform
from functools import cache

import gpu_bridge


@cache
def versions() -> dict[str, str]:
    """Return versions by name, without importing any engine."""
    from importlib.metadata import version  # takes longer than a small solve

    return {
        "gpu-bridge": gpu_bridge.__version__,
        "HiGHS": version("highspy"),
        "Python": platform.python_version(),
    }


def version_line() -> str:
    """Return the versions on one line."""
    return ", ".join(f"{name} {text}" for name, text in versions().items())
