"""Rows of unusual shape, through the expression walkers of Pyomo's standard-form compiler.

``LinearStandardFormCompiler`` compiles whole models. The two visitors it is made of work row by
row, so that a model with a few nested expressions pays their price for those rows only.
"""

from __future__ import annotations

from typing import Any

from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError
from pyomo.core.base import SortComponents
from pyomo.repn.linear import LinearRepnVisitor
from pyomo.repn.linear_template import LinearTemplateRepnVisitor
from pyomo.repn.util import InvalidNumber, TemplateVarRecorder

from gpu_bridge.adapters.pyomo.collect import (
    CompiledRow,
    describe,
    is_template,
    refuse_nonlinear,
    sides_and_body,
)
from gpu_bridge.adapters.pyomo.interface import IncompatiblePyomoModelError
from solvers.core.errors import ProblemError


class _Recorder:
    """Remembers the variables that the visitor meets, by their id."""

    def __init__(self) -> None:
        self.var_map: dict[int, Any] = {}

    def add(self, variable: Any) -> None:
        self.var_map[id(variable)] = variable


class RowCompiler:
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
