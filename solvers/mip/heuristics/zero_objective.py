"""Branch and bound of the whole model for any point at all, as if nothing had a cost.

Costs draw the relaxation to where integers are furthest from being whole: designs are hardly built,
lines hardly open. Without them it has whole parts by itself, its bound is reached at once, and the
first point found ends the search: HiGHS on the whole reduced model, which stops there.

HiGHS cannot be stopped and go on later, and what it does before its first point, presolve, cuts and
dives at the root, takes longer than a turn. So a search has a thread of its own beside the turns,
or one turn among them, which the system gives time beside the others, from when the heuristics have
had their first seconds in vain until anybody has a point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.progress import LOOK_AGAIN
from solvers.mip.budget import BEFORE_OTHERS, SMALL_SHARE, Budget
from solvers.mip.inference.relaxation import FIRST_ORDER_ON_CPU_FROM
from solvers.mip.model import MipModel
from solvers.mip.portfolio.heuristic import (
    OVER,
    Declined,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)
from solvers.mip.submip import Limits, SubMip, SubMipResult, solve_submip

SOURCE = "zero objective"

_MOST = int(np.iinfo(np.int32).max)

NO_LIMITS = Limits(nodes=_MOST, leaves=_MOST, stall_nodes=_MOST, solutions=1)
"""Only the first point or the end of the time ends the search."""


def search_zero_objective(
    context: HeuristicContext, budget: Budget, number: int = 0
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
        limits=NO_LIMITS,
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


@dataclass(frozen=True)
class ZeroObjective(Heuristic[HeuristicContext, HeuristicContext]):
    """One search of the whole model for any point at all."""

    name: str = "zero objective"
    number: int = 0
    """Each searches another way: the first minimises nothing, others random costs."""
    needs: Needs = Needs(  # noqa: RUF009 - it is frozen
        integers=True, most_entries=FIRST_ORDER_ON_CPU_FROM, incumbent=False
    )

    def prepare(self, context: HeuristicContext) -> HeuristicContext:
        """Leave out models without rows."""
        if not context.model.num_nonzeros:
            raise Declined("the matrix is empty")
        return context

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Search until there is a point."""
        search_zero_objective(state, budget, self.number)
        return OVER


@dataclass(frozen=True)
class DelayedZeroObjective(ZeroObjective):
    """The same in a thread of its own, should there be no point in a while."""

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Wait for presolve and the heuristics' first seconds, and search if it is needed."""
        return super().run(state, budget, seed) if _is_needed(state, budget) else OVER


def _is_needed(context: HeuristicContext, budget: Budget) -> bool:
    """Wait until searches may begin; return whether there is no point by then."""
    progress = context.solve.progress
    begin = min(BEFORE_OTHERS, SMALL_SHARE * progress.time_limit)
    while not (context.has_point or budget.is_over()):
        if progress.seconds >= begin and not context.is_temporary:
            return True
        time.sleep(LOOK_AGAIN)
    return False
