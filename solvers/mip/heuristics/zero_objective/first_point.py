"""The search: HiGHS on the whole reduced model, which stops at the first point."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.submip import Limits, SubMip, SubMipResult, solve_submip

SOURCE = "zero objective"

MOST_ENTRIES = 2_000_000
"""Entries of a model up to which HiGHS solves its relaxation in time, as in the pumps."""

ENDLESS = 2**31 - 1

NO_LIMITS = Limits(nodes=ENDLESS, leaves=ENDLESS, stall_nodes=ENDLESS, solutions=1)
"""Only the first point or the end of the time ends the search."""


def search_zero_objective(
    context: HeuristicContext, budget: Budget, number: int = 0, limits: Limits = NO_LIMITS
) -> SubMipResult:
    """Search for a feasible point, whatever it costs, until anybody has one.

    Parameters
    ----------
    context : HeuristicContext
        Its acceptance gets the point, which is recorded before its best values are known.
    budget : Budget
        A search that is still under way when it is spent is killed.
    number : int
        The first minimises nothing, others random costs of the integers, each with its own seed.
    limits : Limits
        What else ends the search.
    """
    model, domain = context.model, context.domain
    whole = model.is_integer == 1
    seed = context.seed_of("without costs", number)
    sub = SubMip(
        np.where(whole, domain.lower, model.lower),
        np.where(whole, domain.upper, model.upper),
        cost=_minimised(model, number, seed),
    )
    own = Budget(budget.seconds_left, stop=lambda: context.has_point or budget.is_over())
    result = solve_submip(
        model,
        sub,
        context.submit_feasible,
        own,
        limits=limits,
        source=SOURCE,
        seed=seed,
        in_child=True,
    )
    budget.charge(own.work)
    return result


def _minimised(model: MipModel, number: int, seed: int) -> FloatArray:
    """Return the costs (n,) of a search; of a model without any costs nobody needs a second one."""
    cost = np.zeros(model.num_columns)
    if number > 0 or not model.cost.any():
        random = np.random.default_rng(seed)
        cost[model.integers] = random.uniform(-1.0, 1.0, model.integers.size)
    return cost
