"""Walkers on the GPU on two search spaces: the model, and the model without its implied columns.

Each search space has a run of walkers in a thread and a stream of its own, so that slices of one
fill what those of the other leave idle. Which of the two comes further is seen only when both have
begun. So they begin with halves of the walkers' time, and then have it as they deserve it: while
there is no point by how little is violated where they come to, and later by whose the latest
improvements are. The one that is clearly worse keeps a trickle, because points that others find may
suit it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.portfolio.heuristic import (
    OVER,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
    SearchSpace,
    aggregated_space,
    full_space,
)
from solvers.mip.solutions.incumbents import InfeasiblePoint, InfeasiblePoints

WALKERS_SHARE = 0.6
"""Part of the GPU's time for walkers."""

SUBSTANTIAL = 0.01
"""Part of the columns that has to be defined for walkers without them: where fewer are, both
search spaces are nearly the same. (Of germanrr two in a hundred are, and without them walks come
from 70 violated rows to one or two.)"""

LATEST = 16
"""Improvements looked back at. The worth of a run is one more than its number of these, so that one
with none of them keeps a seventeenth of the other's share."""


def well_aggregated_space(context: HeuristicContext) -> SearchSpace | None:
    """Return the model without its implied columns, or None where these are few."""
    sub = context.aggregated
    if sub is None or sub.implied.size < SUBSTANTIAL * context.model.num_columns:
        return None
    return aggregated_space(context)


class DeviceWalks:
    """Runs of walkers on both search spaces, and what each of them deserves."""

    def __init__(self, context: HeuristicContext) -> None:
        self.on_model = SpaceWalkers(context, full_space, self, 0)
        self.on_aggregated = SpaceWalkers(context, well_aggregated_space, self, 1)
        self._context = context
        self._latest: deque[SpaceWalkers] = deque(maxlen=LATEST)
        self._lock = threading.Lock()

    def share_of(self, one: SpaceWalkers) -> float:
        """Return the part of the device's time that a run is due now."""
        runs = [run for run in (self.on_model, self.on_aggregated) if run.is_walking]
        worth = [self._worth(run) for run in runs]
        return WALKERS_SHARE * self._worth(one) / sum(worth) if one in runs else WALKERS_SHARE

    def note_improvement(self, one: SpaceWalkers) -> None:
        """Remember who has brought the best point."""
        with self._lock:
            self._latest.append(one)

    def _worth(self, run: SpaceWalkers) -> float:
        if self._context.has_point:
            with self._lock:
                return 1.0 + sum(one is run for one in self._latest)
        shown = [one.fewest_violated for one in (run, self.on_model, self.on_aggregated)]
        known = [violated for violated in shown if np.isfinite(violated)]
        return 1.0 / (1.0 + known[0]) if known else 1.0  # who has shown nothing counts as the other


class SpaceWalkers:
    """Walkers on one search space, in the thread that calls :meth:`work`.

    Parameters
    ----------
    make_space : callable
        Asked in that thread; where it returns None, there are no walkers.
    number : int
        Told apart by it in seeds.
    """

    def __init__(
        self,
        context: HeuristicContext,
        make_space: Callable[[HeuristicContext], SearchSpace | None],
        both: DeviceWalks,
        number: int,
    ) -> None:
        self._context = context
        self._make_space = make_space
        self._both = both
        self._number = number
        self.is_walking = False
        self.fewest_violated = float("inf")

    def work(self, budget: Budget) -> None:
        """Walk until the budget is spent."""
        from solvers.mip.heuristics.local_search.run import run_walkers

        space = self._make_space(self._context)
        if space is None:
            return
        self.is_walking = True
        try:
            run_walkers(
                space.model,
                self._context.device,
                self._submit_to(space),
                budget,
                self._context.seed_of("walkers", self._number),
                pool=space.pool,
                infeasible_points=_Noted(space.infeasible_points, self),
                log=self._context.log,
                share=lambda: self._both.share_of(self),
            )
        finally:
            self.is_walking = False

    def _submit_to(self, space: SearchSpace) -> Callable[[FloatArray, str], bool]:
        def submit(x: FloatArray, source: str) -> bool:
            improved = space.submit(x, source)
            if improved:
                self._both.note_improvement(self)
            return improved

        return submit


class _Noted(InfeasiblePoints):
    """The infeasible points of a search space, of which walkers remember the best of their own."""

    def __init__(self, points: InfeasiblePoints, walkers: SpaceWalkers) -> None:
        self._known = points
        self._walkers = walkers

    def add(self, x: FloatArray, violated_rows: int) -> None:
        """Show a point (k,) of the search space's model, and how many of its rows it violates."""
        fewest = self._walkers.fewest_violated
        self._walkers.fewest_violated = min(fewest, float(violated_rows))
        self._known.add(x, violated_rows)

    def points(self) -> tuple[InfeasiblePoint, ...]:
        """Return all that are known, by anyone, in the search space's columns."""
        return self._known.points()

    def __len__(self) -> int:
        return len(self._known)


class DeviceLocalSearch(Heuristic[SpaceWalkers, SpaceWalkers]):
    """Walkers on the model."""

    name = "local search on the GPU"
    needs = Needs(device=True)

    def prepare(self, context: HeuristicContext) -> SpaceWalkers:
        """Return the walkers, which share the device's time with those in the other space."""
        return context.once_here(DeviceWalks, lambda: DeviceWalks(context)).on_model

    def run(self, state: SpaceWalkers, budget: Budget, seed: int) -> Report:
        """Walk until the budget is spent."""
        state.work(budget)
        return OVER


class AggregatedDeviceLocalSearch(DeviceLocalSearch):
    """Walkers on the model without its implied columns."""

    name = "local search on the GPU without implied columns"

    def prepare(self, context: HeuristicContext) -> SpaceWalkers:
        """Return the walkers in that space."""
        return context.once_here(DeviceWalks, lambda: DeviceWalks(context)).on_aggregated
