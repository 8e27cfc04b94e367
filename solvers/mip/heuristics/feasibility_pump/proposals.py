"""Which points of a pump are submitted, and how good the next one has to be.

Submitted are points that are whole or may be feasible, and each once. The cut-off below the best
objective is what lets a pump go on to improve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.pool import Pool, Submit


@dataclass
class Counts:
    """What a pump did.

    Parameters
    ----------
    projections, converged : int
        Projections, and how many of them reached their tolerance.
    consistent : int
        Roundings without a contradiction.
    searches, cycles, restarts : int
        Local searches, circles left, beginnings from another point.
    found : int
        Points submitted that were the best so far.
    is_over : bool
        Whether the pump ended by itself: no objective is left to improve, or nothing better than
        the cut-off was there to project on.
    seconds : float
        The time it took.
    """

    projections: int = 0
    converged: int = 0
    consistent: int = 0
    searches: int = 0
    cycles: int = 0
    restarts: int = 0
    found: int = 0
    is_over: bool = False
    seconds: float = 0.0


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


ACCEPTED = 0.01
"""Sum of the integers' distances from whole numbers up to which a point is worth an LP
(arXiv 2510.20499)."""

TRIED_EVERY = 5
"""Rounded points of which one is submitted although its rows do not hold: an LP may find values of
the continuous columns for it."""


class Proposals:
    """Submits the points of one pump, without repeating itself.

    Parameters
    ----------
    model : MipModel
    submit : Submit
    name : str
        Of the pump.
    target : Target
        Told of what was accepted.
    counts : Counts
        Whose ``found`` is counted up.
    """

    def __init__(
        self, model: MipModel, submit: Submit, name: str, target: Target, counts: Counts
    ) -> None:
        self._model = model
        self._submit = submit
        self._name = name
        self._target = target
        self._counts = counts
        self._known: set[int] = set()
        self._has_continuous = model.integers.size < model.num_columns

    def try_integral(self, x: FloatArray) -> bool:
        """Submit a point (n,) if its integers are nearly whole; return whether it is the best."""
        values = x[self._model.integers]
        if float(np.sum(np.abs(values - np.round(values)))) >= ACCEPTED:
            return False
        return self.propose(self._model.rounded(x), "projection")

    def try_rounded(self, point: FloatArray, is_consistent: bool) -> bool:
        """Submit a rounded point if it is feasible or an LP might make it so."""
        due = is_consistent or self._counts.projections % TRIED_EVERY == 0
        if (self._has_continuous and due) or is_feasible(self._model, point):
            return self.propose(point, "rounding")
        return False

    def propose(self, point: FloatArray, how: str) -> bool:
        """Submit a point unless one with its integers was; return whether it is the best."""
        key = hash((point[self._model.integers] + 0.0).tobytes())  # without the sign of zeros
        if key in self._known:
            return False
        self._known.add(key)
        if not self._submit(point, f"{self._name} {how}"):
            return False
        self._counts.found += 1
        if is_feasible(self._model, point):
            self._target.note(self._model.objective_at(point))
        return True
