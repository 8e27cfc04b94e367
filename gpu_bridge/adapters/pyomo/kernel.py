"""Models of ``pyomo.kernel``, read into one of ``pyomo.environ`` with the same rows.

The kernel has classes of its own for variables and constraints. Pyomo's compiler of linear
expressions knows both kinds, so what it finds in the one makes the rows of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyomo.kernel as pmo
from pyomo.core.base import (
    ConcreteModel,
    Constraint,
    Integers,
    Objective,
    Reals,
    SOSConstraint,
    Suffix,
    SymbolMap,
    Var,
)
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.kernel.suffix import import_suffix_generator
from pyomo.opt.results.results_ import SolverResults
from pyomo.repn.standard_repn import generate_standard_repn

from gpu_bridge.adapters.pyomo.interface import IncompatiblePyomoModelError


class KernelTwin:
    """A model with the variables, rows and objective of a kernel's, named as they are.

    Parameters
    ----------
    block : pyomo.kernel.block

    Attributes
    ----------
    model : ConcreteModel

    Raises
    ------
    IncompatiblePyomoModelError
        A row is not linear, or there are several objectives.
    """

    def __init__(self, block: Any) -> None:
        self._block = block
        self._own: dict[int, Any] = {}
        self.model = ConcreteModel(name=block.name or "kernel")
        rows, goals, sets = map(self._active, (pmo.constraint, pmo.objective, pmo.sos))
        if len(goals) > 1:
            raise IncompatiblePyomoModelError(
                f"The model has {len(goals)} active objectives ('{goals[0].name}', "
                f"'{goals[1].name}', ...); deactivate all but one of them."
            )
        repns = [_linear(row, row.body) for row in rows] + [_linear(row, row.expr) for row in goals]
        self._add_variables(repns, sets)
        expressions = list(map(self._expression, repns))
        self._add_rows(rows, expressions)
        for goal in goals:
            self.model.objective = Objective(expr=expressions[-1], sense=goal.sense)
            self._own[id(self.model.objective)] = goal
        for k, ordered in enumerate(sets):
            members = [self._variable[id(variable)] for variable in ordered.variables]
            listed = (members, list(ordered.weights))
            added = SOSConstraint(rule=lambda _, listed=listed: listed, sos=ordered.level)
            self.model.add_component(f"sos{k}", added)
        for suffix in import_suffix_generator(block):
            self.model.add_component(suffix.storage_key, Suffix(direction=Suffix.IMPORT))

    def give_back(self, results: SolverResults, load: bool) -> None:
        """Let the solution in ``results`` speak of the kernel's objects, and load it."""
        for solution in results.solution:
            theirs, own = solution.symbol_map, SymbolMap()
            for symbol, twin in theirs.bySymbol.items():
                own.addSymbol(self._own[id(twin)], symbol)
            solution.symbol_map = own
            if load:
                self._block.load_solution(solution)

    def own_variables(self, variables: Iterable[Any]) -> list[Any]:
        """Return the kernel's variables for those of ``model``."""
        return [self._own[id(variable)] for variable in variables]

    def _active(self, kind: Any) -> list[Any]:
        return list(self._block.components(ctype=kind._ctype, active=True))

    def _add_variables(self, repns: Iterable[Any], sets: Iterable[Any]) -> None:
        found = {id(item): item for repn in repns for item in repn.linear_vars}
        found |= {id(item): item for ordered in sets for item in ordered.variables}
        names = list(_names(found.values()))
        self.model.variable = variables = Var(names)
        self._variable = dict(zip(found, (variables[name] for name in names), strict=True))
        for key, item in found.items():
            twin = self._variable[key]
            twin.domain = Integers if item.is_integer() or item.is_binary() else Reals
            twin.setlb(item.lb)
            twin.setub(item.ub)
            twin.set_value(item.value, skip_validation=True)
            twin.fixed = item.fixed
            self._own[id(twin)] = item

    def _expression(self, repn: Any) -> Any:
        twins = [self._variable[id(item)] for item in repn.linear_vars]
        return LinearExpression(
            constant=repn.constant, linear_coefs=list(repn.linear_coefs), linear_vars=twins
        )

    def _add_rows(self, rows: Sequence[Any], expressions: Iterable[Any]) -> None:
        names = list(_names(rows))
        self.model.constraint = constraints = Constraint(names)
        for name, row, expression in zip(names, rows, expressions, strict=False):
            sides = _finite(row.lb, -math.inf), _finite(row.ub, math.inf)
            if sides != (None, None):  # others demand nothing
                constraints.add(name, (sides[0], expression, sides[1]))
                self._own[id(constraints[name])] = row


def _finite(side: Any, absent: float) -> Any:
    """Return a side, None for the infinity that stands for none."""
    return None if side == absent else side


def _names(items: Iterable[Any]) -> Iterator[str]:
    """Yield the items' names, and numbers for those that have none of their own."""
    seen: set[str] = set()
    for k, item in enumerate(items):
        name = item.name
        name = f"#{k}" if name is None or name in seen else name
        seen.add(name)
        yield name


def _linear(row: Any, expression: Any) -> Any:
    """Return the linear terms of a row or objective.

    Raises
    ------
    IncompatiblePyomoModelError
        It has others.
    """
    repn = generate_standard_repn(expression, quadratic=False)
    if repn.nonlinear_expr is not None:
        raise IncompatiblePyomoModelError(
            f"'{row.name}' has nonlinear terms ({repn.nonlinear_expr}); gpuheur solves linear and "
            "mixed-integer linear models only, so reformulate it or deactivate it."
        )
    return repn
