"""What a compiler makes of one row, and what it says of rows that it cannot compile."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from pyomo.core.base import Objective

from gpu_bridge.adapters.pyomo.errors import IncompatiblePyomoModelError


class CompiledRow(NamedTuple):
    """A row's sides (None, numbers or parameter expressions), constant and linear terms."""

    lower: Any
    upper: Any
    constant: float
    variables: list[Any]
    coefficients: list[float]


def sides_and_body(row: Any) -> tuple[Any, Any, Any]:
    """Return (lower, body, upper) of a constraint; an objective has no sides."""
    if row.ctype is Objective:
        return None, row.expr, None
    bounded = getattr(row, "to_bounded_expression", None)  # since Pyomo 6.8
    if bounded is None or row._linear_canonical_form:  # rows of a MatrixConstraint have no relation
        return row.lower, row.body, row.upper
    lower, body, upper = bounded()
    return lower, body, upper


def refuse_nonlinear(row: Any, terms: Any) -> NoReturn:
    """Raise for a row with terms that are not linear.

    Raises
    ------
    IncompatiblePyomoModelError
        Always.
    """
    raise IncompatiblePyomoModelError(
        f"{describe(row)} has nonlinear terms ({terms}); gpuheur solves linear and mixed-integer "
        "linear models only, so reformulate it or deactivate it."
    )


def describe(row: Any) -> str:
    """Name a row for the beginning of a sentence."""
    kind = "Objective" if row.ctype is Objective else "Constraint"
    return f"{kind} '{row.name}'"
