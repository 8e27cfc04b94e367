"""Results in the form of Pyomo's old interface."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.core.base import SymbolMap, Var, maximize, minimize
from pyomo.core.base.label import NumericLabeler
from pyomo.core.base.PyomoModel import ModelSolution
from pyomo.core.base.suffix import Suffix
from pyomo.opt.results.container import ListContainer
from pyomo.opt.results.problem import ProblemInformation
from pyomo.opt.results.results_ import SolverResults
from pyomo.opt.results.solution import Solution
from pyomo.opt.results.solution import SolutionStatus as OldSolutionStatus
from pyomo.opt.results.solver import SolverInformation
from pyomo.opt.results.solver import SolverStatus as OldSolverStatus

from gpu_bridge.adapters.arrays import explanation, iterations, why_not_loaded
from gpu_bridge.adapters.pyomo.solve_model import bound_of, incumbent_of
from gpu_bridge.adapters.pyomo.statuses import old_statuses
from solvers.core.errors import OptionError

if TYPE_CHECKING:
    from gpu_bridge.adapters.pyomo.loader import GpuHeurSolutionLoader
    from gpu_bridge.adapters.pyomo.solve_model import Solved
    from gpu_bridge.outcome import Outcome

logger = logging.getLogger(__name__)


def wanted_suffixes(patterns: Sequence[str] | str | None, known: Sequence[str]) -> set[str]:
    """Return the known suffixes that match one of the names or regular expressions.

    Raises
    ------
    OptionError
        A pattern that matches none.
    """
    wanted: set[str] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns or ():
        matching = {name for name in known if re.fullmatch(pattern, name)}
        if not matching:
            raise OptionError(
                f"There is no suffix '{pattern}' to read; gpuheur gives {', '.join(known)}."
            )
        wanted |= matching
    return wanted


class _Section(ListContainer):  # type: ignore[misc]
    """A part of the results that is filled when somebody looks at it.

    Filling the parts takes Pyomo a while, and many loops read the model only.
    """

    def __init__(self, kind: type, fill: Callable[[Any], None]) -> None:
        super().__init__(kind)
        del self._list
        self._fill = fill

    def __getattr__(self, name: str) -> Any:
        fill = self.__dict__.get("_fill")
        if name != "_list" or fill is None:
            return super().__getattr__(name)
        about = self._cls()
        fill(about)
        self._list: list[Any] = [about]
        del self._fill
        return self._list

    def __len__(self) -> int:
        return len(self._list)

    def __eq__(self, other: object) -> Any:
        for part in (self, other):
            _ = isinstance(part, ListContainer) and len(part)  # which fills it
        return super().__eq__(other)  # in Pyomo's oldest versions NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        len(self)
        return self.__dict__


def make_legacy_results(
    solver: Any, model: Any, solved: Solved, load: bool, suffixes: set[str]
) -> SolverResults:
    """Say what came of a solve, and load the solution into the model or into the results.

    The results have the best point only, because of several ``model.solutions.load_from``
    would take the last; all of them are in its attribute ``solution_loader``, as in the new
    interface.
    Without a point to load the model is left alone and a warning says why.
    """
    legacy = SolverResults()
    loader = solved.loader
    outcome = loader.outcome
    statuses = old_statuses(outcome.solution_status, outcome.stop_reason)
    solver_name, model_name = solver.name, model.name
    legacy.solver = _Section(
        SolverInformation, lambda about: _describe_solver(about, solver_name, solved)
    )
    legacy.problem = _Section(
        ProblemInformation, lambda about: _describe_problem(about, model_name, loader)
    )
    legacy._smap_id = None
    if load and loader.may_be_loaded:
        loader.load_solution()
        _remember(model, statuses.solution, _absolute_gap(loader))
    elif load:
        logger.warning(
            "No solution is available for model '%s', whose values stay as they were. %s",
            model.name,
            why_not_loaded(outcome),
        )
    elif loader.get_number_of_solutions():
        solution = Solution()
        solution.status = statuses.solution
        solution.gap = _absolute_gap(loader)
        solution.symbol_map = SymbolMap()
        solution.symbol_map.default_labeler = NumericLabeler("x")
        _fill_solution(solution, model, loader, suffixes)
        legacy.solution.insert(solution)
        legacy._smap_id = id(solution.symbol_map)
        legacy._smap = solution.symbol_map
    legacy.timing_info = {
        "start_timestamp": solved.timestamp,
        "wall_time": solved.seconds,
        "timer": solved.timer,
    }
    vars(legacy)["solution_loader"] = loader  # an attribute, not a part of the report
    return legacy


def _describe_solver(about: Any, name: str, solved: Solved) -> None:
    outcome = solved.loader.outcome
    statuses = old_statuses(outcome.solution_status, outcome.stop_reason)
    about.name = name
    about.status = statuses.solver
    about.termination_condition = statuses.condition
    about.message = " | ".join(map(str.strip, explanation(outcome).splitlines()))
    about.termination_message = str(outcome.stop_reason)
    _fill_times(about, solved)
    about.return_code = about.error_rc = int(statuses.solver is OldSolverStatus.error)
    _fill_statistics(about.statistics, outcome)


def _fill_times(about: Any, solved: Solved) -> None:
    """Tell the times in all the places where Pyomo's solvers do."""
    about.time = about.wallclock_time = solved.seconds
    about.user_time, about.system_time = solved.processor_seconds


def _fill_statistics(statistics: Any, outcome: Outcome) -> None:
    """Put what the engines counted where Pyomo's solvers do, as far as it has a place there."""
    counts = outcome.statistics
    if outcome.problem is not None and outcome.problem.is_mip:
        tree, nodes = statistics.branch_and_bound, counts.get("nodes", 0)
        tree.number_of_bounded_subproblems = tree.number_of_created_subproblems = nodes
    crossed = int(counts.get("crossover_iterations", 0))
    statistics.black_box.number_of_iterations = iterations(outcome) + crossed


def _describe_problem(problem: Any, name: str, loader: GpuHeurSolutionLoader) -> None:
    problem.name = name
    converted = loader.converted
    if converted is None:
        return
    size = converted.problem
    integers = int(np.count_nonzero(size.integrality))
    is_binary = size.integrality & (size.lower == 0) & (size.upper == 1)
    problem.number_of_constraints = size.num_rows
    problem.number_of_variables = size.num_columns
    problem.number_of_nonzeros = size.num_nonzeros
    problem.number_of_binary_variables = int(np.count_nonzero(is_binary))
    problem.number_of_integer_variables = integers
    problem.number_of_continuous_variables = size.num_columns - integers
    problem.number_of_solutions = loader.get_number_of_solutions()
    problem.number_of_objectives = 0 if converted.objective is None else 1
    if converted.objective is None:
        return
    problem.sense = maximize if size.maximize else minimize
    bound, incumbent = bound_of(loader), incumbent_of(loader)
    lower, upper = (incumbent, bound) if size.maximize else (bound, incumbent)
    if lower is not None:
        problem.lower_bound = lower
    if upper is not None:
        problem.upper_bound = upper


def _absolute_gap(loader: GpuHeurSolutionLoader) -> float | None:
    bound, incumbent = bound_of(loader), incumbent_of(loader)
    if bound is None or incumbent is None or math.isinf(bound):
        return None
    return float(abs(incumbent - bound))


def _remember(model: Any, status: OldSolutionStatus, gap: float | None) -> None:
    """Leave a note of the solution in the model, from which ``pyomo solve`` writes its report.

    The report reads the values from the variables, and cannot do with one that has none.
    """
    if not hasattr(model, "solutions"):  # a block, not a model
        return
    model.solutions.clear(clear_symbol_maps=False)
    for variables in model.component_objects(Var, active=True):
        if None in map(attrgetter("value"), _members(variables)):
            return
    note = ModelSolution()
    note.status = status
    note.gap = gap
    model.solutions.solutions.append(note)
    model.solutions.index = 0


def _members(variables: Any) -> Iterable[Any]:
    # Pyomo's values() looks at each key of the index
    return variables.values() if variables.is_reference() else variables._data.values()  # type: ignore[no-any-return]


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
    for name, values in loader.suffixes(declared | suffixes):
        entries = solution.variable if name == "rc" else solution.constraint
        for component, value in values.items():
            entries.setdefault(symbol(component), {})[name.capitalize()] = value
    if loader.converted.objective is not None:
        objective = loader.converted.objective
        solution.objective[symbol(objective)] = {"Value": loader.outcome.objective}
