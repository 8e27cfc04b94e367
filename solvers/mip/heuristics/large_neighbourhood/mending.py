"""From an infeasible point to a feasible one, by sub-MIPs that minimise what is violated.

The columns of the violated rows and those around them are free, the other integers keep the
point's values, and the violated rows get slacks whose sum is minimised, while all others stay hard.
A better point is the next one to be mended. Where HiGHS proves that there is no better one, more
columns are free the next time; where it takes too long, fewer, and then little more again: which
columns of a size are free is left to chance, so that another try is another chance. (Fischetti and
Lodi, "Repairing MIP infeasibility through local branching" (2008), with a neighbourhood that grows
around the violated rows in place of the branching row.)

The `repair` neighbourhood is one step of this, as one of many that a bandit chooses from; mending
is for when little is violated, and stays with a point until it is mended or nothing around it
helps.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import repair
from solvers.mip.heuristics.large_neighbourhood.situation import Situation
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import InfeasiblePoint, InfeasiblePoints, Submit
from solvers.mip.submip import SubMipResult, solve_submip

FIRST_FREE = 500
"""Columns free at first: a sub-MIP of so many takes some tenths of a second."""

GROWTH, SHRINKAGE = 1.5, 0.7
"""Factors of the free columns: after a proof that they are too few, and after a lack of time."""

BELOW_LIMIT, RISE = 0.9, 1.1
"""Part of a size that took too long up to which the columns grow again, and by how much that size
rises with every proof."""

FEWEST_FREE = 20

LEAST_GAIN = 1e-6
"""Violation by which a point has to be better than the one before, relative."""

POINTS = 3
"""Nearly feasible points, those that violate the fewest rows, that are mended by turns."""

SOURCE = "mending"


@dataclass(eq=False)
class _Patient:
    """A point on its way: where it began and is now, columns to be free, and what is violated."""

    origin: FloatArray
    x: FloatArray
    free: float
    violation: float
    too_many: float = np.inf
    failures: int = 0
    is_hopeless: bool = False

    @property
    def burden(self) -> float:
        """How little there is to be hoped for: what is violated, more after turns in vain."""
        return np.inf if self.is_hopeless else self.violation * (1 + self.failures)


class Mending:
    """Mends infeasible points of one model, turn by turn; safe to use from any thread.

    Parameters
    ----------
    model : MipModel
    submit : Submit
    implied : (d,) int32, optional
        Columns that equations define by others: never fixed.
    infeasible_points : InfeasiblePoints, optional
        Takes points on their way.
    """

    def __init__(
        self,
        model: MipModel,
        submit: Submit,
        implied: IndexArray | None = None,
        infeasible_points: InfeasiblePoints | None = None,
    ) -> None:
        self._model = model
        self._submit = submit
        self._infeasible_points = infeasible_points
        empty = np.empty(0, dtype=np.int32)
        self._implied = empty if implied is None else implied
        largest = model.rows.largest  # by which sub-MIPs divide a violation
        self._row_size = np.where(largest > 0.0, largest, 1.0)
        self._patients: list[_Patient] = []
        self._lock = threading.Lock()
        self.is_getting_on = True
        """Whether less was violated after the last turn than before it."""

    def run(self, points: tuple[InfeasiblePoint, ...], budget: Budget, seed: int) -> bool:
        """Mend one of the points until the budget is spent or no more comes of it.

        Parameters
        ----------
        points : tuple of InfeasiblePoint
            The nearly feasible ones known now, fewest violated rows first.
        budget : Budget
            Without a time limit, sub-MIPs end by their nodes.
        seed : int

        Returns
        -------
        bool
            Whether a point was mended, so that it was submitted.
        """
        rng = np.random.default_rng(seed)
        patient = self._take(points)
        if patient is None:
            return False
        before, needed = patient.violation, 0.0
        try:
            while not budget.spent() and not patient.is_hopeless:
                left = budget.seconds_left
                if left < needed:
                    return False  # the next one would be cut short
                if self._treat(patient, budget, rng):
                    return True
                needed = left - budget.seconds_left if budget.is_timed else 0.0
            return False
        finally:
            with self._lock:
                self._patients.append(patient)
                self.is_getting_on = patient.violation < before
                patient.failures = 0 if self.is_getting_on else patient.failures + 1

    def has_work(self, points: tuple[InfeasiblePoint, ...]) -> bool:
        """Whether any of the points may still be mended."""
        with self._lock:
            return any(not known.is_hopeless for known in self._patients) or any(
                self._known(point.x) is None for point in points[:POINTS]
            )

    def _take(self, points: tuple[InfeasiblePoint, ...]) -> _Patient | None:
        """Return the next patient, new or known, of whom most is to be hoped for."""
        with self._lock:
            new = [point for point in points[:POINTS] if self._known(point.x) is None]
            waiting = [one for one in self._patients if not one.is_hopeless]
            candidates = [*waiting, *(self._admitted(point) for point in new)]
            if not candidates:
                return None
            patient = min(candidates, key=lambda one: one.burden)
            self._patients = [one for one in self._patients if one is not patient]
            while len(self._patients) >= POINTS:
                worst = max(self._patients, key=lambda one: one.burden)
                self._patients = [one for one in self._patients if one is not worst]
            return patient

    def _admitted(self, point: InfeasiblePoint) -> _Patient:
        """Return a new patient, who begins with not much less than what the others took."""
        free = max((one.free for one in self._patients), default=0.0)
        x = self._model.rounded(point.x)
        start = max(FIRST_FREE, free / GROWTH**2)
        return _Patient(point.x, x, start, self._violation(x), self._too_many())

    def _known(self, x: FloatArray) -> _Patient | None:
        for one in self._patients:
            if np.array_equal(one.origin, x) or np.array_equal(one.x, x):
                return one
        return None

    def _treat(self, patient: _Patient, budget: Budget, rng: np.random.Generator) -> bool:
        """Search the neighbourhood once; return whether the point is feasible now."""
        model = self._model
        situation = Situation(model, infeasible_point=patient.x, implied=self._implied)
        columns = situation.decidable.size
        free = min(patient.free, columns)
        sub = repair(situation, rng, 1.0 - free / max(1, columns))
        if sub is None:  # an LP for the continuous columns may be all that is missing
            patient.is_hopeless = True
            return self._submit(patient.x, SOURCE)
        result = solve_submip(
            model,
            sub,
            self._submit,
            budget,
            seconds=budget.seconds_left,
            source=SOURCE,
            seed=int(rng.integers(2**31 - 1)),
        )
        is_better = result.x is not None and self._move(patient, result.x)
        self._resize(patient, result, is_better, columns)
        return is_better and patient.violation <= 0.0

    def _move(self, patient: _Patient, x: FloatArray) -> bool:
        """Go on from a point if less is violated there, and let others begin there, too."""
        x = self._model.rounded(x)
        left = self._violation(x)
        if left >= patient.violation * (1.0 - LEAST_GAIN):
            return False
        patient.x, patient.violation = x, left
        if left <= 0.0:
            patient.is_hopeless = True  # it was submitted on its way
        elif self._infeasible_points is not None:
            self._infeasible_points(x, int(np.count_nonzero(self._outside(x))))
        return True

    def _violation(self, x: FloatArray) -> float:
        """Return what is violated at ``x`` (n,), as sub-MIPs sum it up."""
        return float(np.sum(self._outside(x) / self._row_size))

    def _outside(self, x: FloatArray) -> FloatArray:
        """Return by how much each row (m,) is violated; 0 within the tolerance."""
        model = self._model
        outside = model.outside(x)
        return np.where(outside > FEASIBILITY_TOLERANCE, outside, 0.0)

    def _too_many(self) -> float:
        """Return the columns that took the last patient too long."""
        return self._patients[-1].too_many if self._patients else np.inf

    def _resize(self, patient: _Patient, result: SubMipResult, better: bool, columns: int) -> None:
        if result.status.is_proven and not better:
            patient.is_hopeless = patient.free >= columns
            patient.too_many *= RISE
            patient.free = min(GROWTH * patient.free, BELOW_LIMIT * patient.too_many)
        elif not better:
            patient.is_hopeless = patient.free <= FEWEST_FREE
            patient.too_many = patient.free
            patient.free = max(FEWEST_FREE, SHRINKAGE * patient.free)
