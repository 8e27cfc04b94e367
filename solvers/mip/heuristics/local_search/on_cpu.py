"""Walks on the CPU, which go on from turn to turn: on the model, and without its implied columns.

What a walk finds without them is often out of reach for one on the model as it is, and the other
way round; which of the two is of more use is seen only when they have begun. So both have shares,
and once there is a point, that of their common share which they have earned lately.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walk import APART, InfeasiblePoints, Walk
from solvers.mip.inference.aggregation import PoolView
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.solutions.pool import Pool, Submit

SHARE, SHARE_WITHOUT = 3.0, 6.0
"""What walks are due while there is no point: on the model, and without its implied columns. The
second are there only where equations imply columns, and there steps on the model are hampered."""

SHARE_WITH_POINT = 1.5
"""What all of them are due together once there is a point."""

FADING = 0.7
"""What remains of an improving turn's weight from one turn to the next."""

LEAST_EARNED = 0.1
"""What those count as having earned who have earned nothing, so that they are never left out."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where walks go: a model, its pool, who takes points of it, and the way there for others."""

    model: MipModel
    pool: Pool
    submit: Submit
    infeasible_points: InfeasiblePoints
    here: Callable[[FloatArray], FloatArray]


def full_space(context: HeuristicContext) -> SearchSpace:
    """Return the model as it is."""
    acceptance = context.acceptance
    return SearchSpace(
        context.model, acceptance.pool, acceptance.submit, acceptance.infeasible_points, lambda x: x
    )


def aggregated_space(context: HeuristicContext) -> SearchSpace | None:
    """Return the model without the columns that its equations imply; None if there are none."""
    sub, acceptance = context.aggregated, context.acceptance
    if sub is None:
        return None
    return SearchSpace(
        sub.model,
        PoolView(acceptance.pool, sub),
        sub.submit_to(acceptance.submit),
        sub.infeasible_to(acceptance.infeasible_points),
        sub.from_whole,
    )


class Walks:
    """Walks on one search space, one for each turn that runs at a time.

    Parameters
    ----------
    context : HeuristicContext
    make_space : callable
        Asked at the first turn; where it returns None, there are no walks.
    without_point : float
        What they are due while there is no point.
    first_seed : int
        Added to the seeds.
    """

    def __init__(
        self,
        context: HeuristicContext,
        make_space: Callable[[HeuristicContext], SearchSpace | None],
        without_point: float,
        first_seed: int = 0,
    ) -> None:
        self._context = context
        self._make_space = make_space
        self._without_point = without_point
        self._first_seed = first_seed
        self._space: SearchSpace | None = None
        self._has_space: bool | None = None
        self._waiting: list[Walk] = []
        self._made = 0
        self._improvements = 0
        self._lock = threading.Lock()
        self.rivals: list[Walks] = []
        self.earned = 0.0

    def share(self) -> float:
        """Return what these walks are due now."""
        if self._has_space is False or self._has_to_wait():
            return 0.0
        if not self._context.has_point:
            return self._without_point
        earned = self.earned + LEAST_EARNED
        others = sum(one.earned + LEAST_EARNED for one in self.rivals if one.is_there)
        return SHARE_WITH_POINT * earned / (earned + others)

    @property
    def is_there(self) -> bool:
        """Whether there is a search space, as far as is known."""
        return self._has_space is not False

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the walks go on."""
        space = self._find_space()
        if space is None:
            return
        with self._lock:
            number, chosen = self._made, None
            if self._waiting:
                chosen = self._waiting.pop(0)
            else:
                self._made += 1
        walk = self._make(space, number) if chosen is None else chosen
        before = self._improvements
        walk.run(budget)
        with self._lock:
            self._waiting.append(walk)
            self.earned = FADING * self.earned + (self._improvements > before)

    def _has_to_wait(self) -> bool:
        """Whether there is no search space yet, because the model may not last."""
        return self._make_space is aggregated_space and self._context.is_temporary()

    def _find_space(self) -> SearchSpace | None:
        with self._lock:
            if self._has_space is None and not self._has_to_wait():
                self._space = self._make_space(self._context)
                self._has_space = self._space is not None
            return self._space

    def _make(self, space: SearchSpace, number: int) -> Walk:
        seed = self._context.seed + self._first_seed + number

        def place(turn: int) -> FloatArray | None:
            x = self._place(turn)
            return None if x is None else space.here(x)

        def submit(x: FloatArray, source: str) -> bool:
            improved = space.submit(x, source)
            self._improvements += improved
            return improved

        return Walk(
            *(space.model, submit, seed),
            pool=space.pool,
            place=place,
            infeasible_points=space.infeasible_points,
            turn=APART * number,
        )

    def _place(self, number: int) -> FloatArray | None:
        """Return where to begin while there is no point: anew, near one, or at the relaxation."""
        context = self._context
        if context.has_point:
            return None
        reference = context.reference()
        places = [None, *(point.x for point in context.acceptance.infeasible_points.points()[:2])]
        if reference is not None:
            places.append(reference)
        return places[number % len(places)]


def both_walks(context: HeuristicContext) -> tuple[Walks, Walks]:
    """Return the walks on the model and those without its implied columns."""
    whole = Walks(context, full_space, SHARE)
    without = Walks(context, aggregated_space, SHARE_WITHOUT, first_seed=1)
    whole.rivals, without.rivals = [without], [whole]
    return whole, without
