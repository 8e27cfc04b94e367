"""How good the next point has to be: the cut-off by which a pump goes on to improve."""

from __future__ import annotations

import numpy as np

from solvers.mip.model import MipModel
from solvers.mip.solutions.pool import Pool

SHARE = 1e-3
"""Part of the best objective by which a new point has to be better (arXiv 2510.20499)."""

LEAST = 1e-6
"""Improvement asked for at the least, as a part of max(1, |objective|)."""

SLACK = 1e-9
"""Relative room above the relaxation's objective within which a cut-off counts as reachable."""


class Target:
    """The best objective known, and what is asked of the next point.

    Parameters
    ----------
    model : MipModel
    pool : Pool, optional
        Where others leave what they find; without one only this pump's own points count.
    bound : float
        Objective, with offset, that no point can beat; -inf where none is known.
    """

    def __init__(self, model: MipModel, pool: Pool | None, bound: float = -np.inf) -> None:
        self._offset = model.offset
        self._pool = pool
        self._own = np.inf
        self._bound = bound
        self._has_objective = bool(model.cost.any())
        self._step = _objective_step(model)

    @property
    def best(self) -> float:
        """Best objective known, with offset; inf without a point."""
        return self._own if self._pool is None else min(self._own, self._pool.objective)

    def note(self, objective: float) -> None:
        """Take down the objective of a point that was accepted."""
        self._own = min(self._own, objective)

    @property
    def cutoff(self) -> float:
        """Largest c'x, without offset, that is good enough; inf where any is."""
        best = self.best
        if not np.isfinite(best):
            return np.inf
        improvement = max(SHARE * abs(best), LEAST * max(1.0, abs(best)), self._step)
        return best - improvement - self._offset

    @property
    def is_out_of_reach(self) -> bool:
        """Whether there is a point and nothing to gain: no objective, or a bound in the way."""
        best = self.best
        if not np.isfinite(best):
            return False
        if not self._has_objective:
            return True
        room = SLACK * max(1.0, abs(self._bound)) if np.isfinite(self._bound) else 0.0
        return self.cutoff + self._offset < self._bound - room


def _objective_step(model: MipModel) -> float:
    """Return by how much two points' objectives differ at the least, or 0 if that is not known."""
    used = model.cost != 0.0
    size = np.abs(model.cost[used])
    whole = size.size and bool((model.is_integer[used] == 1).all())
    if not whole or not (size == np.round(size)).all() or size.max() > 2.0**50:
        return 0.0
    return float(np.gcd.reduce(size.astype(np.int64))) * (1.0 - LEAST)
