"""Dives with costs once there is a point, where the relaxation says that it is a poor one."""

from __future__ import annotations

from solvers.mip.heuristics.diving.linear.dive import LinearDives
from solvers.mip.heuristics.diving.linear.heuristic import MOST_ENTRIES, Dives
from solvers.mip.heuristics.diving.linear.rules import RULES
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

AT_ONCE, LATER = 24.0, 0.3
"""Shares of the very first dive, and of those after the first by each rule. The first alone comes
within 3 percent of trento1's optimum in 3 s of one core and within 7 of sp97ar's in 0.6 s, where
walks and neighbourhoods were far off after 20 s."""

TURNS_AT_ONCE = 6
"""Turns that the very first dive may have before others are due more."""

SMALL_GAP = 2e-3
"""Relative distance of the best point from the relaxation below which others do better."""

_State = tuple[Dives, LinearDives]


class ImprovingDive(Heuristic[Dives, _State]):
    """Dives from the relaxation's solution, one search for each turn that runs at a time."""

    name = "improving dive"
    needs = Needs(integers=True, most_entries=MOST_ENTRIES, incumbent=True, relaxation=True)

    def prepare(self, context: HeuristicContext) -> Dives:
        """Count the dives."""
        return Dives(context)

    def share(self, prepared: Dives, usual: float) -> float:
        """Return what the dives are due: nothing without a basis, or where the gap is small."""
        root = prepared.context.root
        if root is None or root.basis is None:
            return 0.0
        best, least = prepared.context.acceptance.pool.objective, root.relaxation.objective
        if best - least <= SMALL_GAP * max(abs(best), abs(least)):
            return 0.0
        if prepared.most <= 1 and prepared.turns < TURNS_AT_ONCE:
            return AT_ONCE
        return usual if prepared.most <= len(RULES) else LATER

    def begin(self, prepared: Dives, number: int) -> _State:
        """Begin a search by a rule of its own."""
        context = prepared.context
        return prepared, LinearDives(
            context.model,
            context.domain,
            context.submit,
            context.acceptance.infeasible_points,
            context.seed_of(self.name, number),
            basis=lambda: None if context.root is None else context.root.basis,
            first=number,
            cutoff=lambda: context.acceptance.pool.objective,
        )

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Let one of the dives go on."""
        prepared, dives = state
        prepared.turns += 1
        is_first = prepared.most <= 1  # others have their turns before there is a second one
        try:
            dives.run(budget, lambda: is_first and dives.dives > 1)
        finally:
            prepared.most = max(prepared.most, dives.dives)
        return Report(is_over=dives.is_over)
