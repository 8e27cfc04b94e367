"""From an outcome back into the model: values, duals, reduced costs and slacks."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pyomo.common.collections import ComponentMap
from pyomo.core.base.enums import TraversalStrategy
from pyomo.core.base.suffix import Suffix
from pyomo.core.staleflag import StaleFlagManager

from gpu_bridge.adapters.pyomo.convert import ConvertedModel, row_slack
from gpu_bridge.adapters.pyomo.interface import (
    NoDualsError,
    NoReducedCostsError,
    NoSolutionError,
    SolutionLoader,
)
from gpu_bridge.outcome import Outcome, PoolSolution
from gpu_bridge.solution_pool import pool_solutions, unverified_point
from solvers.core.problem import FloatArray

logger = logging.getLogger(__name__)


class GpuHeurSolutionLoader(SolutionLoader):  # type: ignore[misc]
    """Gives the solutions of one solve; it owns its arrays, so later solves do not spoil it.

    Attributes ``outcome`` and ``converted`` hold everything the bridge knows of the solve.
    With more than one solution the identifiers are 0 (the best), 1, ...; the others come without
    duals. ``pool`` has the solutions in that order, with objective, time and source of each; an
    approximate point is the only one, and the results' status is then ``infeasible``.
    ``failure`` is what a callback raised during the solve.
    """

    def __init__(
        self,
        model: Any,
        converted: ConvertedModel | None,
        outcome: Outcome,
        load_approximate: bool = False,
    ) -> None:
        self._pyomo_model = model
        self.converted = converted
        self.outcome = outcome
        self.failure: BaseException | None = None
        self.pool: tuple[PoolSolution, ...] = pool_solutions(outcome) or _approximate(outcome)
        self._load_approximate = load_approximate
        self._selected: int | None = None

    def get_number_of_solutions(self) -> int:
        """Return how many distinct points there are."""
        return len(self.pool)

    @property
    def may_be_loaded(self) -> bool:
        """Whether a solve puts its point into the model: a verified one, or as the caller wants."""
        return bool(self.pool) and (
            self.outcome.solution_status.has_point or self._load_approximate
        )

    def get_solution_ids(self) -> list[Any]:
        """Return the identifiers for ``solution(id)``; the best point is the first."""
        return list(range(len(self.pool))) if len(self.pool) != 1 else [None]

    def _set_solution_id(self, solution_id: Any) -> Any:
        if solution_id not in (None, *range(len(self.pool))):
            raise ValueError(
                f"There is no solution {solution_id!r}; known are {self.get_solution_ids()}."
            )
        before, self._selected = self._selected, solution_id
        return before

    def get_vars(self, vars_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return a ComponentMap from variables to values at the selected solution."""
        return self._of_variables(self._values(), vars_to_load)

    def get_candidate(self) -> ComponentMap:
        """Return a ComponentMap from variables to values at the point that is nearest.

        That is the approximate or least violated one, where no verified one is as near.

        Raises
        ------
        NoSolutionError
            No such point is known.
        """
        point = unverified_point(self.outcome)
        if point is None:
            raise NoSolutionError()
        return self._of_variables(point, None)

    def load_vars(self, vars_to_load: Sequence[Any] | None = None) -> None:
        """Set the values of the model's variables; those not in the problem stay as they are."""
        if vars_to_load is None:
            for variable, value in zip(self._columns, self._values().tolist(), strict=False):
                variable.set_value(value, True)
        else:
            for variable, value in self.get_vars(vars_to_load).items():
                variable.set_value(value, True)
        StaleFlagManager.mark_all_as_stale(delayed=True)

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> dict[Any, float]:
        """Return d(objective)/d(side) of each constraint, in the model's own sense."""
        if self._selected or self.outcome.row_dual is None or self.converted is None:
            raise NoDualsError()
        constant = dict.fromkeys(self.converted.constant_rows, 0.0)
        return self._of_constraints(self.outcome.row_dual, constant, cons_to_load)

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return d(objective)/d(bound) of each variable, in the model's own sense."""
        if self._selected or self.outcome.reduced_cost is None:
            raise NoReducedCostsError()
        return self._of_variables(self.outcome.reduced_cost, vars_to_load)

    def get_slacks(self, cons_to_load: Sequence[Any] | None = None) -> dict[Any, float]:
        """Return side - body of each constraint; of two sides the farther one counts."""
        x = self._values()
        assert self.converted is not None  # a point comes from a problem
        problem = self.converted.problem
        slack = row_slack(problem.row_lower, problem.row_upper, problem.entries.times(x))
        return self._of_constraints(slack, self.converted.constant_rows, cons_to_load)

    def load_import_suffixes(self) -> None:
        """Clear the import suffixes of the model and fill ``dual``, ``rc`` and ``slack``.

        What does not exist, such as the duals of a mixed-integer model, stays empty.
        """
        suffixes = self._cleared_import_suffixes()
        for name, values in self.suffixes(suffixes) if suffixes else ():
            suffixes[name].update(values)

    def suffixes(self, wanted: Container[str]) -> Iterator[tuple[str, Mapping[Any, float]]]:
        """Give what suffixes hold, of ``dual``, ``rc`` and ``slack`` those that are wanted.

        The log says why one of them stays empty.
        """
        readers = {"dual": self.get_duals, "rc": self.get_reduced_costs, "slack": self.get_slacks}
        for name, read in readers.items():
            if name in wanted:
                try:
                    yield name, read()
                except (NoDualsError, NoReducedCostsError):
                    logger.warning("Suffix '%s' stays empty: %s", name, self._why_no_duals())

    def _why_no_duals(self) -> str:
        problem = None if self.converted is None else self.converted.problem
        if problem is not None and problem.is_mip:
            return (
                "a mixed-integer model has no duals; fix its integer variables and solve again, "
                "or solve the relaxation with the option relax=True."
            )
        return "the engine ended without duals."

    def _cleared_import_suffixes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for suffix in self._pyomo_model.component_objects(
            Suffix,
            active=True,
            descend_into=True,
            descent_order=TraversalStrategy.BreadthFirstSearch,
        ):
            if suffix.import_enabled():
                suffix.clear()
                found.setdefault(suffix.local_name, suffix)
        return found

    @property
    def _columns(self) -> list[Any]:
        return [] if self.converted is None else self.converted.columns

    def _values(self) -> FloatArray:
        if not self.pool:
            raise NoSolutionError()
        return self.pool[self._selected or 0].x

    def _of_variables(self, values: FloatArray, wanted: Sequence[Any] | None) -> ComponentMap:
        everything = ComponentMap(zip(self._columns, values.tolist(), strict=False))
        if wanted is None:
            return everything
        return ComponentMap((variable, _look_up(everything, variable)) for variable in wanted)

    def _of_constraints(
        self, values: FloatArray, constant: dict[Any, float], wanted: Sequence[Any] | None
    ) -> dict[Any, float]:
        assert self.converted is not None
        everything = dict(zip(self.converted.rows, values.tolist(), strict=False))
        everything.update(constant)
        if wanted is None:
            return everything
        return {constraint: _look_up(everything, constraint) for constraint in wanted}


def _approximate(outcome: Outcome) -> tuple[PoolSolution, ...]:
    """Return an approximate point in the form of a pool, empty where there is none."""
    if outcome.x is None or not outcome.solution_status.has_values:
        return ()
    return (PoolSolution(outcome.x, outcome.objective, outcome.seconds, outcome.engine),)


def _look_up(known: Any, component: Any) -> float:
    if component not in known:
        raise KeyError(
            f"'{component.name}' took no part in the solve, so there is no value for it: it is "
            "fixed, inactive, unbounded on both sides or has no nonzero coefficient."
        )
    return float(known[component])


class Columns:
    """The variables of a model by column number and the other way round, worked out once."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self.keys = variables

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return dict(zip(map(id, self.keys), range(len(self.keys)), strict=True))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {variable.name: number for number, variable in enumerate(self.keys)}

    def number(self, key: Any) -> int | None:
        """Return the column of a variable or of a name; None without one."""
        return self._by_name.get(key) if isinstance(key, str) else self._numbers.get(id(key))

    def absent(self, key: Any) -> str:
        """Return why there is no value for a variable."""
        if not (isinstance(key, str) or hasattr(key, "value")):
            return f"'{key}' is no single variable, nor the name of one."
        return (
            f"'{getattr(key, 'name', key)}' took no part in the solve, so there is no value for "
            "it: it is fixed, inactive or in no objective or constraint."
        )
