"""Rows of unusual shape, one by one, through Pyomo's own walks over expressions.

Its ``LinearStandardFormCompiler`` compiles whole models. The two visitors that it is made of since
Pyomo 6.10 work row by row, so that a model with a few nested expressions pays their price for those
rows only.
"""

from __future__ import annotations

import math
from typing import Any

from pyomo.core.base import SortComponents
from pyomo.core.expr.visitor import identify_variables
from pyomo.repn import generate_standard_repn

from gpu_bridge.adapters.pyomo.collect import (
    CompiledRow,
    describe,
    is_template,
    refuse_nonlinear,
    sides_and_body,
)
from gpu_bridge.adapters.pyomo.interface import HAS_NEW_INTERFACE, IncompatiblePyomoModelError
from solvers.core.errors import ProblemError

if HAS_NEW_INTERFACE:
    from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError
    from pyomo.repn.linear import LinearRepnVisitor
    from pyomo.repn.linear_template import LinearTemplateRepnVisitor
    from pyomo.repn.util import InvalidNumber, TemplateVarRecorder


class _Recorder:
    """Remembers the variables that the visitor meets, by their id."""

    def __init__(self) -> None:
        self.var_map: dict[int, Any] = {}

    def add(self, variable: Any) -> None:
        self.var_map[id(variable)] = variable


class _NewRowCompiler:
    """Compiles single constraints and objectives; keeps shared expressions between calls."""

    def __init__(self) -> None:
        self._recorder = _Recorder()
        self._visitor = LinearRepnVisitor({}, var_recorder=self._recorder)
        self._template_recorder = TemplateVarRecorder({}, SortComponents.ORDERED_INDICES)
        self._template_visitor = LinearTemplateRepnVisitor({}, var_recorder=self._template_recorder)

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
            if is_template(row):
                return self._compile_template(row)
            return self._compile_expression(row)
        except (InvalidConstraintError, InvalidExpressionError) as error:
            raise IncompatiblePyomoModelError(f"{describe(row)} is not linear: {error}") from error
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, ProblemError):
                raise
            raise ProblemError(f"{describe(row)} cannot be evaluated: {error}") from error

    def _compile_expression(self, row: Any) -> CompiledRow:
        lower, body, upper = sides_and_body(row)
        form = self._visitor.walk_expression(body)
        if form.nonlinear is not None:
            refuse_nonlinear(row, form.nonlinear)
        coefficients = list(form.linear.values())
        for number in (form.constant, *coefficients):
            if number.__class__ is InvalidNumber:
                raise ProblemError(
                    f"{describe(row)} has a term without a usable value: {'; '.join(number.causes)}"
                )
        variables = [self._recorder.var_map[key] for key in form.linear]
        return CompiledRow(lower, upper, form.constant, variables, coefficients)

    def _compile_template(self, row: Any) -> CompiledRow:
        constant, columns, coefficients, lower, upper = self._template_visitor.expand_expression(
            row, row.template_expr()
        )
        known = self._template_recorder.var_list
        variables = [known[column] for column in columns]
        return CompiledRow(lower, upper, constant, variables, list(coefficients))


class _OldRowCompiler:
    """The same by the walk that all solvers used before Pyomo 6.10."""

    def compile(self, row: Any) -> CompiledRow:
        """Return the linear form of a row; raises as :class:`_NewRowCompiler` does."""
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
        if any(map(math.isnan, (form.constant, *coefficients))):
            raise ProblemError(f"{describe(row)} has a term without a usable value.")
        return CompiledRow(lower, upper, form.constant, list(form.linear_vars), coefficients)


def _missing_value(body: Any) -> str:
    """Name the fixed variables that have no value."""
    names = [v.name for v in identify_variables(body) if v.fixed and v.value is None]
    return f"variable '{names[0]}' is fixed but has no value." if names else ""


RowCompiler = _NewRowCompiler if HAS_NEW_INTERFACE else _OldRowCompiler
