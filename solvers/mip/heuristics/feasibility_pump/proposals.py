"""Which points of a pump are submitted: those that are whole, or may be feasible, and each once."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.counts import Counts
from solvers.mip.heuristics.feasibility_pump.target import Target
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.pool import Submit

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
