"""Linear dives as the schedule sees them, while there is no point."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.mip.heuristics.diving.linear.dive import LinearDives
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

MOST_ENTRIES = 2_000_000
"""Entries of a model up to which its relaxation is left to simplex, as in the pumps."""

FIRST, FIRST_OF_INTEGERS = 3.0, 1.5
"""Factors of the share of the first few dives: on models with continuous columns, and on others."""

INTEGER_PART = 0.9
"""Part of integer columns from which the first few are due less: a turn of lazy clause search is
half as long as one of dives, and on such models it more often finds the first point. Before the
dives, it finds one of neos-905856 after 93 and 154 million entries in place of 375 (seeds 0, 1) and
of bnatt400 after 192 in place of 441."""

FIRST_DIVES = 4
"""Dives that count as the first: of 59 models eight found one of 48, most of them at once."""


@dataclass(eq=False)
class Dives:
    """What is known of the dives in one solve.

    Parameters
    ----------
    context : HeuristicContext
    most : int
        The most dives that any search has begun.
    turns : int
        Turns so far.
    """

    context: HeuristicContext
    most: int = 0
    turns: int = 0


_State = tuple[Dives, LinearDives]


class LinearDive(Heuristic[Dives, _State]):
    """One search for each turn that runs at a time, until there is a point.

    The relaxation's basis, once there is one, is where LPs with the model's costs begin.
    """

    name = "linear dive"
    needs = Needs(integers=True, most_entries=MOST_ENTRIES, incumbent=False)

    def prepare(self, context: HeuristicContext) -> Dives:
        """Count the dives."""
        return Dives(context)

    def share(self, prepared: Dives, usual: float) -> float:
        """Return more for the first dives."""
        if prepared.most > FIRST_DIVES:
            return usual
        model = prepared.context.model
        is_integer = model.integers.size >= INTEGER_PART * model.num_columns
        return usual * (FIRST_OF_INTEGERS if is_integer else FIRST)

    def begin(self, prepared: Dives, number: int) -> _State:
        """Begin a search by a rule of its own."""
        context = prepared.context
        return prepared, LinearDives(
            context.model,
            context.domain,
            context.submit_feasible,
            context.acceptance.infeasible_points,
            context.seed_of(self.name, number),
            basis=lambda: None if context.root is None else context.root.basis,
            first=number,
        )

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Dive until there is a point."""
        prepared, dives = state
        context = prepared.context
        try:
            dives.run(budget, lambda: context.has_point)
        finally:
            prepared.most = max(prepared.most, dives.dives)
        return Report(is_over=context.has_point or dives.is_over)
