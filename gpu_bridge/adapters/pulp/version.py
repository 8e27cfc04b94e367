"""The two versions of PuLP: version 3, all in Python, and version 4, with compiled models."""

from __future__ import annotations

from typing import Any

import pulp


def has_rust_core(lp: Any) -> bool:
    """Whether ``lp`` is a model of PuLP 4, and its solvers return statistics."""
    return hasattr(lp, "toRustModel")


def clocks() -> Any:
    """Return the time in the form in which PuLP 4 wants to know when a solve began."""
    read = getattr(pulp.apis.core, "clocks", None)
    return None if read is None else read()
