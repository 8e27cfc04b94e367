"""Rows of unusual shape in Pyomo before 6.10, through the walk that all its solvers used then."""

from __future__ import annotations

import math
from typing import Any

from pyomo.core.expr.visitor import identify_variables
from pyomo.repn import generate_standard_repn

from gpu_bridge.adapters.pyomo.collect import (
    CompiledRow,
    describe,
    refuse_nonlinear,
    sides_and_body,
)
from gpu_bridge.adapters.pyomo.interface import IncompatiblePyomoModelError
from solvers.core.errors import ProblemError


class RowCompiler:
    """Compiles single constraints and objectives."""

    def compile(self, row: Any) -> CompiledRow:
        """Return the linear form of a constraint or objective.

        Raises
        ------
        IncompatiblePyomoModelError
            The row is not linear.
        ProblemError
            Some part of it has no value, such as a variable fixed at None.
        """
        try:
            lower, body, upper = sides_and_body(row)
        except ValueError as error:
            raise IncompatiblePyomoModelError(f"{describe(row)} is not linear: {error}") from error
        try:
            form = generate_standard_repn(body, compute_values=True, quadratic=False)
        except (ArithmeticError, ValueError, TypeError) as error:
            reason = _missing_value(body) or str(error)
            raise ProblemError(f"{describe(row)} cannot be evaluated: {reason}") from error
        if form.nonlinear_expr is not None:
            refuse_nonlinear(row, form.nonlinear_expr)
        coefficients = list(map(float, form.linear_coefs))
        if not all(map(math.isfinite, (form.constant, *coefficients))):
            raise ProblemError(f"{describe(row)} has a term without a usable value.")
        return CompiledRow(lower, upper, form.constant, list(form.linear_vars), coefficients)


def _missing_value(body: Any) -> str:
    """Name the fixed variables that have no value."""
    names = [v.name for v in identify_variables(body) if v.fixed and v.value is None]
    return f"variable '{names[0]}' is fixed but has no value." if names else ""
