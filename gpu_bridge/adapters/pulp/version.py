"""Where PuLP's versions differ: 2.7 to 3, all in Python, and 4, with compiled models."""

from __future__ import annotations

from typing import Any

import pulp


def has_rust_core(lp: Any) -> bool:
    """Whether ``lp`` is a model of PuLP 4, and its solvers return statistics."""
    return hasattr(lp, "toRustModel")


def constraints_of(lp: Any) -> dict[str, Any]:
    """Return the constraints of a model of PuLP 2 or 3 by name.

    From PuLP 3.3.1 on ``lp.constraints`` makes a copy, with a warning.
    """
    held: dict[str, Any] = lp.constraints if "constraints" in vars(lp) else lp._constraints
    return held


def expressions_of(constraints: list[Any]) -> list[dict[Any, Any]]:
    """Return coefficients by variable for each constraint, which is such a mapping in PuLP 2."""
    if constraints and isinstance(constraints[0], dict):
        return constraints
    return [constraint.expr for constraint in constraints]


def clocks() -> Any:
    """Return the time in the form in which PuLP 4 wants to know when a solve began."""
    read = getattr(pulp.apis.core, "clocks", None)
    return None if read is None else read()
