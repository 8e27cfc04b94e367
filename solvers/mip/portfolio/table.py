"""Which heuristics run, how much of the time each is due, and in what order they come first.

The shares are of two situations: while there is no point, whatever finds one; afterwards mostly
neighbourhoods and local search, with the rest kept up because some models fall to it alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.annealing.heuristic import ExchangeTurns
from solvers.mip.heuristics.annealing.with_costs.heuristic import CostExchangeTurns
from solvers.mip.heuristics.diving.linear import ImprovingDiveTurns, LinearDiveTurns
from solvers.mip.heuristics.fix_and_propagate import LP_FREE, LP_GUIDED, round_point, run_portfolio
from solvers.mip.heuristics.local_search.on_cpu import both_walks
from solvers.mip.heuristics.meet_in_the_middle import SumTurns
from solvers.mip.heuristics.trivial import submit_trivial
from solvers.mip.inference.probing import ProbingCache, build_cache
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.credit import DIVES, EXCHANGES, LOGIC, NEIGHBOURHOODS, WALKS
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.portfolio.resumable import (
    ClauseTurns,
    Improve,
    LatticeTurns,
    MendTurns,
    PumpTurns,
    RootTurn,
)
from solvers.mip.portfolio.scheduler import Activity, Work
from solvers.mip.solutions.completion import CompleteTurns

ROOT_SHARE = 0.25
"""Part of the time left that the relaxation may take."""

ROOT_COUNTS = 0.5
"""Seconds that it counts for before it is had, at least: clauses, which find a point of
neos-3216931-puriri in 41 million entries, do not wait for its relaxation of 1.8 billion."""

ENDS_SHARE = 0.05
"""Part of the time left for points at bounds: up to four LPs."""

WALK_ON, WALK_ON_SHARE = 1.0, 0.05
"""Seconds of a second turn of walks while there is no point, and part of the time left at most: of
mipcc26-18 and mipcc26-28 a walk finds a point after 40 to 200 million entries, for which the half
second of a first turn is short, and the one after that came when everybody had had one."""

PROBING_SHARE = 0.05
"""Part of the time left for probing."""

UNLIMITED = 3600.0
"""Seconds that count as the time left where there is no limit."""

MOSTLY_WHOLE = 0.9
"""Share of integer columns from which lazy clause search is due most while there is no point: of
what found one on such models it was the soonest."""

BULK_ROUNDINGS = 8
"""Roundings of the relaxation's point in one turn, each with other draws."""


def activities(context: HeuristicContext, seconds: float, workers: int) -> list[Activity]:
    """Return the heuristics of the CPU in the order of their first turns.

    Parameters
    ----------
    context : HeuristicContext
    seconds : float
        Time left, as far as limits derive from it.
    workers : int
        Turns that run side by side.
    """
    seconds = min(seconds, UNLIMITED)

    def share(without: float, with_point: float) -> Callable[[], float]:
        return lambda: with_point if context.has_point else without

    def guided(without: float, with_point: float) -> Callable[[], float]:
        plain = share(without, with_point)
        return lambda: 0.0 if context.root is None else plain()

    few, half = max(1, workers // 4), max(1, workers // 2)
    improving, pumps = Improve(context), PumpTurns(context, guided(3.0, 0.3))
    walks, on_aggregated = both_walks(context)
    root, completing = RootTurn(context), CompleteTurns(context)
    linear, improving_dives = LinearDiveTurns(context), ImprovingDiveTurns(context)
    exchanges, cost_exchanges = ExchangeTurns(context), CostExchangeTurns(context)
    mends = MendTurns(context, root)
    is_whole = context.model.integers.size >= MOSTLY_WHOLE * context.model.num_columns
    clauses = ClauseTurns(context, share(8.0 if is_whole else 3.0, 0.5), context.prove_bound)
    among_integers, sums = LatticeTurns(context, share(8.0, 0.3)), SumTurns(context)
    walk_on = min(WALK_ON, WALK_ON_SHARE * seconds)
    first = 1.5 if is_whole else 1.0  # some models fall to it in a second and to nothing else
    return [
        Activity("improve", improving.work, improving.share, most=1),
        Activity("sums", sums.work, sums.share),
        Activity("walk", walks.work, walks.share, at_once=True, kind=WALKS),
        Activity(
            *("walk without defined", on_aggregated.work, on_aggregated.share),
            at_once=True,
            kind=WALKS,
        ),
        Activity("walk on", walks.work, share(6.0, 0.0), walk_on, most=1, once=True),
        Activity("lattice", among_integers.work, among_integers.share, most=1, shortest=4.0),
        Activity("exchange", exchanges.work, exchanges.share, most=few),
        Activity(
            *("exchange with costs", cost_exchanges.work, cost_exchanges.share),
            most=few,
            kind=EXCHANGES,
        ),
        Activity("dive", _dive(context), share(2.0, 0.3), most=half, at_once=True, kind=DIVES),
        Activity("ends", _ends(context), share(2.0, 0.0), ENDS_SHARE * seconds, most=1, once=True),
        Activity("complete", completing.work, completing.share, most=1, shortest=2.0),
        Activity("clauses", clauses.work, clauses.share, most=few, shortest=first, kind=LOGIC),
        Activity("linear dive", linear.work, linear.share, most=few, shortest=3.0),
        Activity(
            *("improving dive", improving_dives.work, improving_dives.share),
            most=few,
            kind=DIVES,
        ),
        Activity("mend", mends.work, mends.share, most=1, shortest=5.0),
        Activity(
            *("root", root.work, share(2.0, 2.0), ROOT_SHARE * seconds, ROOT_COUNTS),
            most=1,
            once=True,
        ),
        Activity("round", _round(context), guided(1.0, 0.1), most=1),
        Activity("guided dive", _guided_dive(context), guided(2.0, 0.3), most=half, kind=DIVES),
        Activity(
            "probe", _probe(context), share(1.0, 1.0), PROBING_SHARE * seconds, most=1, once=True
        ),
        Activity("pump", pumps.work, pumps.share, most=few),
        Activity(
            *("neighbourhood", _neighbourhoods(context), guided(1.5, 6.0), 20.0, 3.0),
            kind=NEIGHBOURHOODS,
        ),
    ]


def _ends(context: HeuristicContext) -> Work:
    def work(budget: Budget, seed: int) -> None:
        submit_trivial(context.model, context.acceptance.submit, budget)

    return work


def _dive(context: HeuristicContext) -> Work:
    def work(budget: Budget, seed: int) -> None:
        begin = seed % len(LP_FREE)
        strategies = (*LP_FREE[begin:], *LP_FREE[:begin])
        done = run_portfolio(
            context.model,
            context.acceptance.submit,
            budget,
            seed,
            strategies,
            cliques=context.cliques,
            domain=context.domain,
        )
        _note_infeasible(context, done.closest, done.closest_rows)

    return work


def _guided_dive(context: HeuristicContext) -> Work:
    def work(budget: Budget, seed: int) -> None:
        begin = seed % len(LP_GUIDED)
        strategies = (*LP_GUIDED[begin:], *LP_GUIDED[:begin])
        done = run_portfolio(
            context.model,
            context.acceptance.submit,
            budget,
            seed,
            strategies,
            reference=context.reference(),
            cliques=context.cliques,
            domain=context.domain,
        )
        _note_infeasible(context, done.closest, done.closest_rows)

    return work


def _note_infeasible(context: HeuristicContext, x: FloatArray | None, violated_rows: int) -> None:
    if x is not None:
        context.acceptance.infeasible_points(x, violated_rows)


def _round(context: HeuristicContext) -> Work:
    def work(budget: Budget, seed: int) -> None:
        reference = context.reference()
        if reference is None:
            return
        for draw in range(BULK_ROUNDINGS):
            if budget.spent():
                return
            found = round_point(
                context.model, reference, budget, seed + draw, context.cache, context.domain
            )
            context.acceptance.submit(found.x, "rounding")

    return work


def _probe(context: HeuristicContext) -> Work:
    def work(budget: Budget, seed: int) -> None:
        take_cache(context, build_cache(context.model, None, budget, seed, cliques=context.cliques))

    return work


def take_cache(context: HeuristicContext, cache: ProbingCache) -> None:
    """Let dives begin from what probing has found to hold for every feasible point."""
    if cache.is_infeasible:
        context.prove_infeasible()
        return
    domain = context.domain.copy()
    narrower = (cache.lower > domain.lower) | (cache.upper < domain.upper)
    for j in np.flatnonzero(narrower):
        low = max(float(cache.lower[j]), float(domain.lower[j]))
        high = min(float(cache.upper[j]), float(domain.upper[j]))
        if not domain.tighten(int(j), low, high):
            return  # rounding errors: what was known stays
    context.domain, context.cache = domain, cache


def _neighbourhoods(context: HeuristicContext) -> Work:
    from solvers.mip.heuristics.large_neighbourhood import search_neighbourhoods

    def work(budget: Budget, seed: int) -> None:
        acceptance = context.acceptance
        search_neighbourhoods(
            context.model,
            acceptance.pool,
            acceptance.submit,
            budget,
            seed,
            bandit=context.bandit,
            relaxation=context.relaxation,
            infeasible_point=context.nearest,
            implied=context.implied,
        )

    return work
