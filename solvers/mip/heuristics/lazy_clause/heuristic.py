"""Lazy clause search as the schedule sees it."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lazy_clause.candidates import SOURCE
from solvers.mip.heuristics.lazy_clause.clause_search import ClauseSearch, Status
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Declined, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

MOST_ENTRIES, MOST_INTEGERS = 5_000_000, 500_000
"""Entries and integer columns of a model up to which it is searched: an entry takes up to 48 bytes,
a column 150, or 700 if it is no binary."""

_State = tuple[HeuristicContext, ClauseSearch]


class LazyClause(Heuristic[HeuristicContext, _State]):
    """One search for each turn that runs at a time, until one of them has excluded everything."""

    name = SOURCE
    needs = Needs(integers=True, most_entries=MOST_ENTRIES)

    def prepare(self, context: HeuristicContext) -> HeuristicContext:
        """Leave out models with too many integers."""
        if context.model.integers.size > MOST_INTEGERS:
            raise Declined(f"there are more than {MOST_INTEGERS:,} integer columns")
        return context

    def begin(self, prepared: HeuristicContext, number: int) -> _State:
        """Begin a search from what is known of the columns."""
        context = prepared

        def starts() -> list[FloatArray]:
            """Return points whose values are worth trying."""
            acceptance, reference = context.acceptance, context.reference()
            best = [point.x for point in acceptance.pool.points()[:1]]
            infeasible = [point.x for point in acceptance.infeasible_points.points()[:2]]
            return [*best, *infeasible, *([] if reference is None else [reference])]

        def believed() -> float:
            """Return the relaxation's objective where it is to be relied on."""
            relaxation = context.relaxation()
            is_exact = relaxation is not None and relaxation.is_exact
            return relaxation.objective if relaxation is not None and is_exact else -np.inf

        return context, ClauseSearch(
            context.model,
            context.domain,
            context.seed_of("clauses", number),
            context.submit,
            starts=starts,
            settle=context.acceptance.settle,
            believed=believed,
        )

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Go on, for points better than the best."""
        context, search = state
        best = context.acceptance.pool.best
        if best is not None:
            search.beat(best.objective, best.x)
        status = search.run(budget)
        return Report(is_over=status is Status.EXHAUSTED, proven=search.proven)
