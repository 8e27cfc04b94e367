"""The relaxation, and dives from nothing and from it, as the schedule sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.mip.budget import Budget
from solvers.mip.heuristics.diving.linear import LinearDives
from solvers.mip.heuristics.diving.rules import RULES
from solvers.mip.inference.relaxation import FIRST_ORDER_ON_CPU_FROM, root_relaxation
from solvers.mip.portfolio.heuristic import (
    OVER,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)


class SolveRelaxation(Heuristic[HeuristicContext, HeuristicContext]):
    """The relaxation, which is solved once, as far as its time allows."""

    name = "root"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Solve the relaxation."""
        state.relaxation = root_relaxation(
            state.model, budget, device=state.device, seed=seed, log=state.log
        )
        return OVER


FIRST, FIRST_OF_INTEGERS = 3.0, 1.5
"""Factors of the share of the first few dives: on models with continuous columns, and on others.

A turn of lazy clause search is half as long as one of dives, and on models of integers it more
often finds the first point. Before the dives, it finds one of neos-905856 after 93 and 154 million
entries in place of 375 (seeds 0, 1) and of bnatt400 after 192 in place of 441."""

FIRST_DIVES = 4
"""Dives that count as the first: of 59 models eight found one of 48, most of them at once."""


@dataclass(eq=False)
class Dives:
    """What is known of the dives in one solve."""

    context: HeuristicContext
    most: int = 0
    """The most dives that any search has begun."""
    turns: int = 0
    """Turns so far."""


_State = tuple[Dives, LinearDives]


class _LinearDiving(Heuristic[Dives, _State]):
    """Searches by dives, each by a rule of its own: for better points where it needs one."""

    def prepare(self, context: HeuristicContext) -> Dives:
        """Count the dives."""
        return Dives(context)

    def begin(self, prepared: Dives, number: int) -> _State:
        """Begin a search."""
        context, improves = prepared.context, self.needs.incumbent
        return prepared, LinearDives(
            context.model,
            context.domain,
            context.submit if improves else context.submit_feasible,
            context.acceptance.infeasible_points.add,
            context.seed_of(self.name, number),
            basis=context.basis,
            first=number,
            cutoff=(lambda: context.acceptance.pool.objective) if improves else None,
        )

    def _dive(self, state: _State, budget: Budget, is_enough: Callable[[], bool]) -> bool:
        """Dive until it is enough; return whether there is nothing more to try."""
        prepared, dives = state
        try:
            dives.run(budget, is_enough)
        finally:
            prepared.most = max(prepared.most, dives.dives)
        return dives.is_over


class LinearDive(_LinearDiving):
    """One search for each turn that runs at a time, until there is a point.

    The relaxation's basis, once there is one, is where LPs with the model's costs begin.
    """

    name = "linear dive"
    needs = Needs(integers=True, most_entries=FIRST_ORDER_ON_CPU_FROM, incumbent=False)

    def share(self, prepared: Dives, usual: float) -> float:
        """Return more for the first dives."""
        if prepared.most > FIRST_DIVES:
            return usual
        is_integer = prepared.context.model.is_mostly_integer
        return usual * (FIRST_OF_INTEGERS if is_integer else FIRST)

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Dive until there is a point."""
        context = state[0].context
        is_over = self._dive(state, budget, lambda: context.has_point)
        return Report(is_over=context.has_point or is_over)


AT_ONCE, LATER = 24.0, 0.3
"""Shares of the very first dive, and of those after the first by each rule. The first alone comes
within 3 percent of trento1's optimum in 3 s of one core and within 7 of sp97ar's in 0.6 s, where
walks and neighbourhoods were far off after 20 s."""

TURNS_AT_ONCE = 6
"""Turns that the very first dive may have before others are due more."""

SMALL_GAP = 2e-3
"""Relative distance of the best point from the relaxation below which others do better."""


class ImprovingDive(_LinearDiving):
    """Dives from the relaxation's solution, one search for each turn that runs at a time."""

    name = "improving dive"
    needs = Needs(
        integers=True, most_entries=FIRST_ORDER_ON_CPU_FROM, incumbent=True, relaxation=True
    )

    def share(self, prepared: Dives, usual: float) -> float:
        """Return what the dives are due: nothing without a basis, or where the gap is small."""
        relaxation = prepared.context.relaxation
        if relaxation is None or relaxation.basis is None:
            return 0.0
        best, least = prepared.context.acceptance.pool.objective, relaxation.objective
        if best - least <= SMALL_GAP * max(abs(best), abs(least)):
            return 0.0
        if prepared.most <= 1 and prepared.turns < TURNS_AT_ONCE:
            return AT_ONCE
        return usual if prepared.most <= len(RULES) else LATER

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Let one of the dives go on."""
        prepared, dives = state
        prepared.turns += 1
        is_first = prepared.most <= 1  # others have their turns before there is a second one
        return Report(is_over=self._dive(state, budget, lambda: is_first and dives.dives > 1))
