"""Results in the form of Pyomo's old interface."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from typing import Any

from pyomo.contrib.solver.common.results import Results
from pyomo.contrib.solver.common.util import NoDualsError, NoReducedCostsError
from pyomo.core.base import SymbolMap, Var
from pyomo.core.base.label import NumericLabeler
from pyomo.core.base.PyomoModel import ModelSolution
from pyomo.core.base.suffix import Suffix
from pyomo.opt.results.results_ import SolverResults
from pyomo.opt.results.solution import Solution

from gpu_bridge.adapters.pyomo.results import explanation, why_not_loaded
from gpu_bridge.adapters.pyomo.statuses import old_statuses
from solvers.errors import OptionError

logger = logging.getLogger(__name__)


def wanted_suffixes(patterns: Sequence[str] | None, known: Sequence[str]) -> set[str]:
    """Return the known suffixes that match one of the names or regular expressions.

    Raises
    ------
    OptionError
        A pattern that matches none.
    """
    wanted: set[str] = set()
    for pattern in patterns or ():
        matching = {name for name in known if re.fullmatch(pattern, name)}
        if not matching:
            raise OptionError(
                f"There is no suffix '{pattern}' to read; gpuheur gives {', '.join(known)}."
            )
        wanted |= matching
    return wanted


def make_legacy_results(
    solver: Any, model: Any, results: Results, load: bool, suffixes: set[str]
) -> SolverResults:
    """Translate ``results``, and load the solution into the model or into the translation.

    The translation has the best point only, because of several ``model.solutions.load_from``
    would take the last; all of them are in its attribute ``solution_loader``, as in the new
    interface.
    Without a point to load the model is left alone and a warning says why.
    """
    legacy = SolverResults()
    solution = Solution()
    loader = results.solution_loader
    outcome = loader.outcome
    statuses = old_statuses(outcome.solution_status, outcome.stop_reason)
    legacy.solver.name = solver.name
    legacy.solver.status = statuses.solver
    legacy.solver.termination_condition = statuses.condition
    legacy.solver.message = " | ".join(map(str.strip, explanation(outcome).splitlines()))
    legacy.solver.termination_message = str(outcome.stop_reason)
    legacy.solver.wallclock_time = results.timing_info.wall_time
    _describe_problem(legacy.problem, model, results)
    solution.status = statuses.solution
    solution.gap = _absolute_gap(results)
    solution.symbol_map = SymbolMap()
    solution.symbol_map.default_labeler = NumericLabeler("x")
    legacy._smap_id = None
    if load and loader.may_be_loaded:
        loader.load_solution()
        _remember(model, solution)
    elif load:
        logger.warning(
            "No solution is available for model '%s', whose values stay as they were. %s",
            model.name,
            why_not_loaded(outcome),
        )
    elif loader.get_number_of_solutions():
        _fill_solution(solution, model, loader, suffixes)
        legacy.solution.insert(solution)
        legacy._smap_id = id(solution.symbol_map)
        legacy._smap = solution.symbol_map
    legacy.timing_info = results.timing_info.value()
    vars(legacy)["solution_loader"] = loader  # an attribute, not a part of the report
    return legacy


def _describe_problem(problem: Any, model: Any, results: Results) -> None:
    problem.name = model.name
    converted = results.solution_loader.converted
    if converted is None:
        return
    size = converted.problem
    problem.number_of_constraints = size.num_rows
    problem.number_of_variables = size.num_columns
    problem.number_of_nonzeros = size.num_nonzeros
    problem.number_of_integer_variables = int(size.integrality.sum())
    problem.number_of_continuous_variables = size.num_columns - int(size.integrality.sum())
    problem.number_of_objectives = 0 if converted.objective is None else 1
    if converted.objective is None:
        return
    problem.sense = converted.objective.sense
    bound, incumbent = results.objective_bound, results.incumbent_objective
    lower, upper = (incumbent, bound) if size.maximize else (bound, incumbent)
    if lower is not None:
        problem.lower_bound = lower
    if upper is not None:
        problem.upper_bound = upper


def _absolute_gap(results: Results) -> float | None:
    bound, incumbent = results.objective_bound, results.incumbent_objective
    if bound is None or incumbent is None or math.isinf(bound):
        return None
    return float(abs(incumbent - bound))


def _remember(model: Any, solution: Solution) -> None:
    """Leave a note of the solution in the model, from which ``pyomo solve`` writes its report.

    The report reads the values from the variables, and cannot do with one that has none.
    """
    if not hasattr(model, "solutions"):  # a block, not a model
        return
    model.solutions.clear(clear_symbol_maps=False)
    for variables in model.component_objects(Var, active=True):
        if any(variable.value is None for variable in variables.values()):
            return
    note = ModelSolution()
    note.status = solution.status
    note.gap = solution.gap
    model.solutions.solutions.append(note)
    model.solutions.index = 0


def _fill_solution(solution: Solution, model: Any, loader: Any, suffixes: set[str]) -> None:
    """Store values, and the suffixes that the model declares or the caller wants."""
    symbol = solution.symbol_map.getSymbol
    for variable, value in loader.get_vars().items():
        solution.variable[symbol(variable)] = {"Value": value}
    declared = {
        suffix.local_name
        for suffix in model.component_objects(Suffix, active=True, descend_into=True)
        if suffix.import_enabled()
    }
    wanted = declared | suffixes
    for name, key, entries, read in (
        ("rc", "Rc", solution.variable, loader.get_reduced_costs),
        ("dual", "Dual", solution.constraint, loader.get_duals),
        ("slack", "Slack", solution.constraint, loader.get_slacks),
    ):
        if name not in wanted:
            continue
        try:
            values = read()
        except (NoDualsError, NoReducedCostsError):
            loader.warn_without(name)
            continue
        for component, value in values.items():
            entries.setdefault(symbol(component), {})[key] = value
    if loader.converted.objective is not None:
        objective = loader.converted.objective
        solution.objective[symbol(objective)] = {"Value": loader.outcome.objective}
