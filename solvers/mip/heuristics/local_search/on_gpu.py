"""Walkers on the GPU on two grounds: the model, and the model without its defined columns.

Each ground has a run of walkers in a thread and a stream of its own, so that slices of one fill
what those of the other leave idle. Which of the two comes further is seen only when both have
begun. So they begin with halves of the walkers' time, and then have it as they deserve it: while
there is no point by how little is violated where they come to, and later by whose the latest
improvements are. The one that is clearly worse keeps a trickle, because points that others find
may suit it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.on_cpu import Ground, ground_without_defined, whole_ground
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.shared import Shared
from solvers.mip.solutions.infeasible_points import NearPoint

WALKERS_SHARE = 0.6
"""Part of the GPU's time for walkers."""

SUBSTANTIAL = 0.01
"""Part of the columns that has to be defined for walkers without them: where fewer are, both
grounds are nearly the same. (Of germanrr two in a hundred are, and without them walks come from 70
violated rows to one or two.)"""

LATEST = 16
"""Improvements looked back at. The worth of a run is one more than its number of these, so that one
with none of them keeps a seventeenth of the other's share."""


def ground_without_many(shared: Shared) -> Ground | None:
    """Return the model without its defined columns, or None where these are few."""
    sub = shared.substituted
    if sub is None or sub.defined.size < SUBSTANTIAL * shared.model.num_columns:
        return None
    return ground_without_defined(shared)


class DeviceWalks:
    """Runs of walkers on both grounds, and what each of them deserves.

    Parameters
    ----------
    shared : Shared
    """

    def __init__(self, shared: Shared) -> None:
        self.on_model = GroundWalkers(shared, whole_ground, self, 0)
        self.without_defined = GroundWalkers(shared, ground_without_many, self, 1)
        self._shared = shared
        self._latest: deque[GroundWalkers] = deque(maxlen=LATEST)
        self._lock = threading.Lock()

    def share_of(self, one: GroundWalkers) -> float:
        """Return the part of the device's time that a run is due now."""
        runs = [run for run in (self.on_model, self.without_defined) if run.is_walking]
        worth = [self._worth(run) for run in runs]
        return WALKERS_SHARE * self._worth(one) / sum(worth) if one in runs else WALKERS_SHARE

    def note_improvement(self, one: GroundWalkers) -> None:
        """Remember who has brought the best point."""
        with self._lock:
            self._latest.append(one)

    def _worth(self, run: GroundWalkers) -> float:
        if self._shared.has_point:
            with self._lock:
                return 1.0 + sum(one is run for one in self._latest)
        shown = [one.fewest_violated for one in (run, self.on_model, self.without_defined)]
        known = [violated for violated in shown if np.isfinite(violated)]
        return 1.0 / (1.0 + known[0]) if known else 1.0  # who has shown nothing counts as the other


class GroundWalkers:
    """Walkers on one ground, in the thread that calls :meth:`work`.

    Parameters
    ----------
    shared : Shared
    make_ground : callable
        Asked in that thread; where it returns None, there are no walkers.
    both : DeviceWalks
    number : int
        Told apart by it in seeds.
    """

    def __init__(
        self,
        shared: Shared,
        make_ground: Callable[[Shared], Ground | None],
        both: DeviceWalks,
        number: int,
    ) -> None:
        self._shared = shared
        self._make_ground = make_ground
        self._both = both
        self._number = number
        self.is_walking = False
        self.fewest_violated = float("inf")

    def work(self, budget: Budget) -> None:
        """Walk until the budget is spent."""
        from solvers.mip.heuristics.local_search.gpu import run_walkers

        ground = self._make_ground(self._shared)
        if ground is None:
            return
        self.is_walking = True
        try:
            run_walkers(
                ground.model,
                self._shared.device,
                self._offer_to(ground),
                budget,
                self._shared.seed_of("walkers", self._number),
                pool=ground.pool,
                near=_NearHere(self._shared, ground, self),
                log=self._shared.log,
                share=lambda: self._both.share_of(self),
            )
        finally:
            self.is_walking = False

    def _offer_to(self, ground: Ground) -> Callable[[FloatArray, str], bool]:
        def offer(x: FloatArray, source: str) -> bool:
            improved = ground.offer(x, source)
            if improved:
                self._both.note_improvement(self)
            return improved

        return offer


class _NearHere:
    """The nearly feasible points as walkers on a ground see them."""

    def __init__(self, shared: Shared, ground: Ground, walkers: GroundWalkers) -> None:
        self._shared = shared
        self._ground = ground
        self._walkers = walkers

    def __call__(self, x: FloatArray, violated_rows: int) -> None:
        """Show a point (k,) of the ground's model, and how many of its rows it violates."""
        fewest = self._walkers.fewest_violated
        self._walkers.fewest_violated = min(fewest, float(violated_rows))
        self._ground.near(x, violated_rows)

    def points(self) -> tuple[NearPoint, ...]:
        """Return all that are known, by anyone, in the ground's columns."""
        known = self._shared.gate.near.points()
        return tuple(NearPoint(self._ground.here(one.x), one.violated_rows) for one in known)
