"""Dives as the schedule sees them.

All strategies come one after the other, then all again with other seeds. Some models fall to a
single order only (Salvagnin, Roberti, Fischetti 2025, section 6), so no strategy is dropped,
whatever it has found so far. For the schedule each turn begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.fix_and_propagate.dive import Diver
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_FREE, LP_GUIDED, Strategy
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.relaxation import analytic_centre
from solvers.mip.model import MipModel, Submit
from solvers.mip.portfolio.credit import Kind, Source
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import is_nearly_feasible

Closest = tuple[FloatArray, int]
"""A point (n,) with whole integers, and how many rows it breaks."""


def run_portfolio(
    model: MipModel,
    submit: Submit,
    budget: Budget,
    seed: int,
    strategies: Sequence[Strategy] = LP_FREE,
    reference: FloatArray | None = None,
    domain: Domain | None = None,
) -> Closest | None:
    """Dive with each strategy in turn, round after round, and submit what comes out.

    Submitted is every new point whose integers were fixed without a contradiction and, at the end
    of each round, the closest of the other points if it is new and breaks few rows.

    Parameters
    ----------
    reference : (n,) float64, optional
        Point for the guided strategies.
    domain : Domain, optional
        Propagated box to dive from, so that it need not be made; it is not changed.

    Returns
    -------
    tuple or None
        The point with the fewest broken rows among the inconsistent ones: a start for others.
    """
    if domain is None:
        domain = Domain.of(model)
        domain.propagate()
        budget.charge(domain.work)
    if domain.is_infeasible:
        domain = Domain.of(model)  # a contradiction within tolerances must not stop the dives
    diver = Diver(model, domain, reference)
    closest: Closest | None = None
    known: set[bytes] = set()
    rounds = 0
    while not budget.spent():
        for place, strategy in enumerate(strategies):
            if budget.spent():
                break
            number = 0 if rounds == 0 and seed == 0 else 1 + seed + 1009 * rounds + 9176 * place
            found = diver.dive(strategy, number, budget)
            if found.integers_feasible:
                if _is_new(model, found.x, known):
                    submit(found.x, Source(f"dive {strategy}", Kind.DIVES))
            elif found.is_complete and (closest is None or found.violated_rows < closest[1]):
                closest = found.x, found.violated_rows
        is_near = closest is not None and is_nearly_feasible(closest[1], model.num_rows)
        if closest is not None and is_near and _is_new(model, closest[0], known):
            submit(closest[0], Source("dive, with broken rows", Kind.DIVES))
        rounds += 1
    return closest


def _is_new(model: MipModel, x: FloatArray, known: set[bytes]) -> bool:
    """Whether no point with these integer values has been submitted before; note it."""
    from hashlib import blake2b

    key = blake2b(x[model.integers].tobytes(), digest_size=16).digest()
    is_new = key not in known
    known.add(key)
    return is_new


class Dive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that need no relaxation, beginning with another one in each turn."""

    name = "dive"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        _dive(state, LP_FREE, budget, seed)
        return UNFINISHED


TURNS_AT_CENTRE = 3
"""One turn in so many follows the analytic centre while there is no point. Of 163 models of MIPLIB
with 800 to 20,000 entries three rounds of dives along the vertex gave 129 a point, two along it and
one along the centre these and 5 more, for 0.06 s each of finding the centre. Among points the
vertex's are better (on 96 models, and on 27 the centre's)."""


class GuidedDive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that follow the relaxation's point, or its analytic centre."""

    name = "guided dive"
    needs = Needs(relaxation=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        reference = state.reference()
        if not state.has_point and seed // len(LP_GUIDED) % TURNS_AT_CENTRE == 0:
            centre = state.once(analytic_centre, lambda: analytic_centre(state.model, budget))
            reference = reference if centre is None else centre
        _dive(state, LP_GUIDED, budget, seed, reference)
        return UNFINISHED


def _dive(
    context: HeuristicContext,
    every: Sequence[Strategy],
    budget: Budget,
    seed: int,
    reference: FloatArray | None = None,
) -> None:
    begin = seed % len(every)
    closest = run_portfolio(
        context.model,
        context.submit,
        budget,
        seed,
        (*every[begin:], *every[:begin]),
        reference=reference,
        domain=context.domain,
    )
    if closest is not None:
        context.acceptance.infeasible_points.add(*closest)
