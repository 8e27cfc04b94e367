"""Solve a Pyomo model for several objectives in order, each kept while the next is improved.

After each solve a constraint keeps its objective where it is, but for a tolerance, and the next one
starts from that point (Isermann, "Linear lexicographic optimization", 1982).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name

from gpu_bridge.adapters.pyomo.legacy_persistent import LegacyPersistentGpuHeur
from gpu_bridge.interrupt import solving
from gpu_bridge.options import make_options
from solvers.core.errors import OptionError, ProblemError


@solving()
def solve_lexicographic(
    model: Any,
    objectives: Sequence[Any],
    *,
    rel_tolerances: float | Sequence[float] = 0.0,
    abs_tolerances: float | Sequence[float] = 0.0,
    tee: Any = None,
    **options: Any,
) -> list[Any]:
    """Solve a Pyomo model for several objectives, the most important one first.

    Parameters
    ----------
    model : Block
        It has the values of the last solve that found a point afterwards. Which of its objectives
        are active is as before, and nothing is added to it.
    objectives : sequence of Objective
        Objectives of the model, active or not, each with its own sense.
    rel_tolerances, abs_tolerances : float or sequence of float
        How far an objective may get worse for those after it: the larger of its absolute tolerance
        and the relative one times its size. A single number holds for all of them.
    tee : bool or stream
        Where the logs go.
    **options
        Options by name; ``time_limit`` is that of the whole call.

    Returns
    -------
    list of SolverResults
        One for each objective that was reached, in the form of Pyomo's old interface. The answer is
        proven if all are there and each of them is optimal.

    Raises
    ------
    ProblemError
        An objective is none, is indexed, or belongs to another model; a tolerance is negative.
    """
    for objective in objectives:
        _check(model, objective)
    relative = _for_each(rel_tolerances, len(objectives), "rel_tolerances")
    absolute = _for_each(abs_tolerances, len(objectives), "abs_tolerances")
    limit = make_options(options).time_limit
    until = None if limit is None else time.monotonic() + limit
    solver, found = LegacyPersistentGpuHeur(), []
    with _room(model) as kept:
        for number, objective in enumerate(objectives):
            objective.activate()
            if number:
                solver.set_objective(objective)
            else:
                solver.set_instance(model)
            left = None if until is None else max(0.0, until - time.monotonic())
            results = solver.solve(tee=tee, **{**options, "time_limit": left})
            found.append(results)
            if not results.solution_loader.outcome.solution_status.has_point:
                break
            value = float(pyo.value(objective))
            room = max(absolute[number], relative[number] * abs(value))
            minimised = objective.sense == pyo.minimize
            bound = value + room if minimised else value - room
            expression = objective.expr
            objective.deactivate()
            if pyo.is_potentially_variable(expression):
                row = expression <= bound if minimised else expression >= bound
                solver.add_constraint(kept.add(row))
    return found


def _check(model: Any, objective: Any) -> None:
    if getattr(objective, "ctype", None) is not pyo.Objective or objective.is_indexed():
        raise ProblemError(
            f"'{getattr(objective, 'name', objective)}' is no single objective; give objectives "
            "of the model, an indexed one with its index."
        )
    if objective.model() is not model.model():
        raise ProblemError(f"The objective '{objective.name}' belongs to another model.")


def _for_each(given: float | Sequence[float], count: int, name: str) -> list[float]:
    values = [float(given)] * count if isinstance(given, (int, float)) else list(map(float, given))
    if len(values) != count:
        raise OptionError(f"{name} has {len(values)} numbers for {count} objectives.")
    if any(not value >= 0.0 for value in values):
        raise OptionError(f"{name} is {given}; a tolerance is at least 0.")
    return values


@contextmanager
def _room(model: Any) -> Iterator[Any]:
    """Give a list of constraints in the model without active objectives; all is undone at the end.

    The constraints live in a block of their own.
    """
    active = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    block = pyo.Block(concrete=True)
    name = unique_component_name(model, "lexicographic")
    for objective in active:
        objective.deactivate()
    model.add_component(name, block)
    try:
        block.kept = pyo.ConstraintList()
        yield block.kept
    finally:
        model.del_component(name)
        for objective in model.component_data_objects(pyo.Objective, descend_into=True):
            objective.deactivate()
        for objective in active:
            objective.activate()
