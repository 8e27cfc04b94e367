"""Walks on the CPU as the schedule sees them: on the model, and without its implied columns.

What a walk finds without them is often out of reach for one on the model as it is, and the other
way round; which of the two is of more use is seen only when they have begun. So both have shares,
and once there is a point, that of their common share which they have earned lately. Before presolve
is through they take turns on the problem as it was given.
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.constructive import submit_trivial
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.run import Run, walkers_on_cpu
from solvers.mip.inference.aggregation import eliminate
from solvers.mip.portfolio.heuristic import (
    UNFINISHED,
    Declined,
    Heuristic,
    HeuristicContext,
    Report,
    SearchSpace,
    aggregated_space,
    full_space,
)
from solvers.mip.solutions.incumbents import (
    IncumbentStore,
    InfeasibleView,
    PoolView,
)

FADING = 0.7
"""What remains of an improving turn's weight from one turn to the next."""

LEAST_EARNED = 0.1
"""What those count as having earned who have earned nothing, so that they are never left out."""


@dataclass(eq=False)
class Walks:
    """The walks in one search space: what they have earned, and who competes with them.

    Parameters
    ----------
    rivals : list of Walks
        Those in all search spaces, these included.
    is_there : bool
        Whether there is a search space, as far as is known.
    """

    context: HeuristicContext
    rivals: list[Walks]
    is_there: bool = True
    improvements: int = 0
    earned: float = 0.0


_State = tuple[Walks, Run]


class LocalSearch(Heuristic[Walks, _State]):
    """One walk on the model for each turn that runs at a time."""

    name = "local search"
    first_seed = 0

    def prepare(self, context: HeuristicContext) -> Walks:
        """Take note of who shares what local search is due."""
        rivals: list[Walks] = context.once(LocalSearch, list)
        walks = Walks(context, rivals)
        rivals.append(walks)
        return walks

    def share(self, prepared: Walks, usual: float) -> float:
        """Return what is due to these walks of what is due to all of them once there is a point."""
        if not prepared.context.has_point:
            return usual
        earned = prepared.earned + LEAST_EARNED
        others = sum(
            one.earned + LEAST_EARNED
            for one in prepared.rivals
            if one.is_there and one is not prepared
        )
        return usual * earned / (earned + others)

    def begin(self, prepared: Walks, number: int) -> _State:
        """Begin a walk."""
        context = prepared.context
        space = self.space(prepared)

        def submit(x: FloatArray, source: str) -> bool:
            improved = space.submit(x, source)
            prepared.improvements += improved
            return improved

        layout = context.once((Layout, self.name), lambda: Layout.of(space.model, wide=True))
        return prepared, walkers_on_cpu(
            space.model,
            submit,
            context.solve.options.seed + self.first_seed + number,
            pool=space.pool,
            infeasible_points=space.infeasible_points,
            layout=layout,
        )

    def space(self, prepared: Walks) -> SearchSpace:
        """Return where to walk."""
        return full_space(prepared.context)

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Walk on, and count whether it was in vain."""
        walks, walk = state
        before = walks.improvements
        walk.run(budget)
        walks.earned = FADING * walks.earned + (walks.improvements > before)
        return UNFINISHED


class AggregatedLocalSearch(LocalSearch):
    """The same without the columns that equations imply, which hamper steps on the model."""

    name = "local search without implied columns"
    first_seed = 1

    def share(self, prepared: Walks, usual: float) -> float:
        """Return nothing while the model may not last: finding what is implied takes long."""
        return 0.0 if prepared.context.is_temporary else super().share(prepared, usual)

    def space(self, prepared: Walks) -> SearchSpace:
        """Return the model without its implied columns."""
        space = prepared.context.once(self, lambda: aggregated_space(prepared.context))
        if space is None:
            prepared.is_there = False
            raise Declined("the equations imply no columns")
        return space


# Walks on the problem as it was given, while presolve is at work.


FIRST_TURN, GROWTH = 0.2, 0.1
"""Seconds of a first turn, and the part of the time so far by which turns are longer."""


def search_original(incumbents: IncumbentStore, seed: int, budget: Budget) -> None:
    """Try the bounds of an original problem, then walk by turns until the budget is spent.

    First of all the bounds are tried: on a model with a million columns everything else takes
    seconds to begin. Walks on the problem take turns with walks on it without the columns that its
    equations define, so that whichever of the two finds a point has half of the time.

    Parameters
    ----------
    incumbents : IncumbentStore
        Of that problem; takes the points.
    budget : Budget
        Of the thread that does nothing else.
    """
    submit_trivial(incumbents.model, incumbents.record, budget)
    # points go where the answer finds them, should the end come now
    walks = [
        walkers_on_cpu(
            incumbents.model,
            incumbents.record,
            seed,
            pool=incumbents.pool,
            infeasible_points=incumbents.infeasible_points,
        )
    ]
    _turn(walks[0], budget)
    sub = None if budget.spent() else eliminate(incumbents.model, budget.part())
    if sub is not None:
        submit, view = sub.submit_to(incumbents.record), PoolView(incumbents.pool, sub)
        seen = InfeasibleView(incumbents.infeasible_points, sub)
        walks.insert(
            0, walkers_on_cpu(sub.model, submit, seed + 1, pool=view, infeasible_points=seen)
        )
    while not budget.spent() and not any(walk.is_done for walk in walks):
        for walk in walks:
            _turn(walk, budget)


def _turn(walk: Run, budget: Budget) -> None:
    walk.run(budget.part(FIRST_TURN + GROWTH * budget.seconds))
