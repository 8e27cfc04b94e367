"""Batches of pivots, one after the other, until there is a reason to stop that can be believed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.basis import DeviceBasis
from solvers.simplex.dense_gpu.steps import Batches
from solvers.simplex.state import PivotStatus

HARRIS = 1e-7
"""How far a reduced cost or basic value may go beyond zero or a bound in a ratio test, if no
tighter tolerance is asked for."""

PIVOT_ERROR = 1e-7
"""Largest relative difference of the pivot element by row and by column (HiGHS)."""

SMALL_PIVOT_FRESH, SMALL_PIVOT_LATER = 1e-9, 1e-7
"""Elements that count as zero, in the first batch after a factorisation and later (3.2)."""

MOST_PIVOTS = 5000
"""Pivots after which the basis is factorised anew in any case."""

MOST_ITERATIONS = 2**30
"""Largest limit on iterations that the device's 32 bits are given."""

ENDLESS = (50, 10_000)
"""Iterations for each row and column, and more, after which a run is taken for a cycle. HiGHS
needs less than one for each on nearly all models."""

SHUNNED = 1e12
"""Factor on the weight of a position whose pivot was inaccurate with a fresh inverse."""

MOST_SHUNNED = 10
"""Inaccurate pivots in a row, each with a fresh inverse, before a run ends in trouble."""

STATUSES = {
    word.DONE: PivotStatus.DONE,
    word.NO_PIVOT: PivotStatus.NO_PIVOT,
    word.OUT_OF_PIVOTS: PivotStatus.LIMIT,
}


class Loop:
    """Runs dual or primal pivots on a basis.

    Attributes
    ----------
    iterations : int
        Pivots and bound flips.
    pivot_row, pivot_column : int
        Where the last run found no ratio: a position (dual) or variable (primal), or -1.
    """

    def __init__(self, basis: DeviceBasis) -> None:
        self._basis = basis
        self._batches = Batches(basis.arrays, basis.nucleus)
        self._scalars = np.zeros(word.SCALAR_WORDS)
        self.iterations = 0
        self.pivot_row = self.pivot_column = -1

    def set_tolerance(self, tolerance: float) -> None:
        """Tell the kernels which violations count."""
        scalars = self._scalars
        scalars[word.PRIMAL_TOLERANCE] = scalars[word.DUAL_TOLERANCE] = tolerance
        scalars[word.HARRIS] = min(HARRIS, tolerance)
        scalars[word.PIVOT_ERROR] = PIVOT_ERROR
        self._basis.arrays.write(self._basis.arrays.scalars, scalars)

    def run(self, kind: str, most: int, should_stop: Callable[[], bool]) -> PivotStatus:
        """Run at most so many pivots, 'dual' or 'primal'."""
        basis, dual = self._basis, kind == "dual"
        self.pivot_row = self.pivot_column = -1
        endless = ENDLESS[0] * basis.arrays.variables + ENDLESS[1]
        limit = self.iterations + min(most, endless)
        basis.steer({word.LIMIT: min(MOST_ITERATIONS, limit)})
        shunned = 0
        count = self._batches.size(kind, at_start=True)
        self._batches.prepare(kind)
        while True:
            if should_stop():
                return PivotStatus.STOPPED
            status = self._batch(kind, min(count, basis.arrays.most - basis.delayed))
            count = self._batches.size(kind, at_start=False)
            if status == word.RUNNING:
                shunned = 0
                continue
            if status == word.FOLD:
                shunned = 0
                drifted = basis.has_drifted()  # before the fold, which nothing then waits for
                basis.fold()
                if basis.age < MOST_PIVOTS and not drifted:
                    continue
                basis.refresh(repair=dual)
            elif status == word.OUT_OF_PIVOTS:
                basis.fold()
                return PivotStatus.LIMIT if most <= endless else PivotStatus.TROUBLE
            elif status == word.INACCURATE:
                shunned = shunned + 1 if basis.is_fresh else 0
                if shunned > MOST_SHUNNED:
                    return PivotStatus.TROUBLE
                if basis.is_fresh:
                    self._shun(dual)
                basis.refresh(repair=dual)
            elif basis.is_fresh:
                return self._claim(dual, STATUSES[status])
            else:
                basis.refresh(repair=dual)
            self._batches.prepare(kind)
            count = self._batches.size(kind, at_start=True)

    def _batch(self, kind: str, count: int) -> int:
        """Run one batch and return its last status."""
        basis, a = self._basis, self._basis.arrays
        smallest = SMALL_PIVOT_LATER if basis.age else SMALL_PIVOT_FRESH
        if self._scalars[word.SMALL_PIVOT] != smallest:
            self._scalars[word.SMALL_PIVOT] = smallest
            a.write(a.scalars, self._scalars)
        self._batches.run(kind, count)
        if a.device.kind != "cpu" and count >= a.most - basis.delayed:
            basis.measure_drift()  # a fold will ask for it, which then need not wait
        basis.read()
        control = basis.control
        status = int(control[word.STATUS])
        basis.delayed = int(control[word.PIVOTS])
        if status == word.INACCURATE and kind == "primal":  # counted, but not made
            basis.delayed -= 1
            control[word.ITERATIONS] -= 1
        self.iterations = int(control[word.ITERATIONS])
        if status == word.RUNNING and basis.delayed >= a.most:
            return word.FOLD  # as the next iteration would say
        return status

    def _claim(self, dual: bool, status: PivotStatus) -> PivotStatus:
        if status is PivotStatus.NO_PIVOT and dual:
            self.pivot_row = int(self._basis.control[word.POSITION])
        elif status is PivotStatus.NO_PIVOT:
            self.pivot_column = int(self._basis.control[word.ENTERING])
        return status

    def _shun(self, dual: bool) -> None:
        """Make the position or variable of an inaccurate pivot the last to be chosen again."""
        a, control = self._basis.arrays, self._basis.control
        array = a.weights if dual else a.price_weights
        weights = a.host(array)
        weights[control[word.POSITION if dual else word.ENTERING]] *= SHUNNED
        a.write(array, weights)
