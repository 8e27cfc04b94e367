"""What a running sub-MIP is asked and tells."""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit
from solvers.mip.submip.restricted import Restricted

CUTOFF_SLACK = 1e-9
"""Relative: an objective this far above the cutoff still counts as reaching it."""


class Taker:
    """Submits points of the model under one name and remembers what came of it."""

    def __init__(self, model: MipModel, submit: Submit, source: str, cutoff: float) -> None:
        self._model = model
        self._submit = submit
        self._source = source
        self._limit = np.inf
        if np.isfinite(cutoff):
            self._limit = cutoff + CUTOFF_SLACK * max(1.0, abs(cutoff))
        self.improved = False

    def is_good(self, objective: float) -> bool:
        """Whether an objective of the model is below the cutoff."""
        return objective <= self._limit

    def take(self, x: FloatArray) -> None:
        """Submit a point (n,) if it is good enough."""
        if self.is_good(self._model.objective_at(x)) and self._submit(x, self._source):
            self.improved = True


class Watch(Progress):
    """Carries a budget to HiGHS, and HiGHS's points to whoever takes them.

    Parameters
    ----------
    budget : Budget
        The search of which this sub-MIP is a step; when it is spent, nobody waits any more.
    seconds : float
        Time for this step; ignored where the budget is untimed.
    restricted : Restricted
    taker : Taker
    elastic : bool
        Whether the objective is a violation, so that only points where it vanishes are feasible.
    """

    def __init__(
        self, budget: Budget, seconds: float, restricted: Restricted, taker: Taker, elastic: bool
    ) -> None:
        limit = min(seconds, budget.seconds_left) if budget.is_timed else np.inf
        super().__init__(limit)
        self._search = budget
        self._restricted = restricted
        self._taker = taker
        self._elastic = elastic

    @property
    def abandoned(self) -> bool:
        """Whether the search of which this is a step is over."""
        return self._search_is_over()

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        if self._search_is_over():
            return StopReason.INTERRUPTED
        return super().should_stop()

    def _search_is_over(self) -> bool:
        # HiGHS asks at every iteration, and whoever waits for it asks by the clock: neither may
        # count as work, or untimed searches would not repeat themselves
        return self._search.is_over()

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Hand a point on if it improves on what this sub-MIP has found."""
        better = super().incumbent(objective, source, x)
        feasible = not self._elastic or objective <= FEASIBILITY_TOLERANCE
        if better and feasible and x is not None:
            self._taker.take(self._restricted.full(x))
        return better
