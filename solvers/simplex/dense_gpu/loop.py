"""Batches of pivots, one after the other, until there is a reason to stop that can be believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.kernels.family import Family, recorded
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.arrays import Arrays
from solvers.simplex.dense_gpu.basis import DeviceBasis
from solvers.simplex.dense_gpu.control import RUNNING, STATUS
from solvers.simplex.dense_gpu.kernels.dual_update import DUAL_UPDATE
from solvers.simplex.dense_gpu.kernels.primal import PRIMAL
from solvers.simplex.dense_gpu.kernels.ratio import RATIO
from solvers.simplex.dense_gpu.kernels.row import ROW
from solvers.simplex.dense_gpu.nucleus import Nucleus
from solvers.simplex.state import PivotStatus

# The launches of an iteration, dual or primal, and batches of iterations.
#
# The launches come in the order in which they depend on each other. A batch runs until an
# iteration has something to say, and the host reads once for dozens of them. On a GPU some are
# recorded as a graph, which a batch launches several times over; its kernels do nothing once the
# status word says so. That still takes them time, for which there are short batches where the end
# is near.


UNIT = 8
"""Iterations of a graph. Recording takes the host some microseconds for each launch, and launching
a graph less than its iterations take."""

LONG, SHORT = 64, 8
"""Iterations of a batch, and of one after a factorisation, when often there is nothing left to do
but to confirm a claim."""


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel with its arguments."""

    family: Family
    name: str
    arguments: tuple[Any, ...]

    def run(self) -> None:
        """Launch it, or run its twin."""
        self.family[self.name](*self.arguments)

    def bound(self) -> Callable[[], None]:
        """Return it ready for a launch on the GPU."""
        return self.family.bind(self.name, *self.arguments)


def _step(family: Family, name: str, a: Arrays, nucleus: Nucleus, **others: Any) -> Step:
    """Return a kernel with arguments by their names, the matrix by columns among them."""
    values = family.kernels[name].arguments_of(a, nucleus, a.columns, **others)
    return Step(family, name, values)


def _by_position(a: Arrays) -> dict[str, Any]:
    """Return what blocks leave of the positions they look at."""
    return {"partial_value": a.row_value, "partial_index": a.row_index}


def _by_variable(a: Arrays) -> dict[str, Any]:
    """Return what primal pricing weighs by, and what blocks leave of the variables."""
    return {
        "weights": a.price_weights,
        "partial_value": a.variable_value,
        "partial_index": a.variable_index,
    }


def first_dual(a: Arrays, nucleus: Nucleus) -> Step:
    """Return what has to run before the first dual iteration after a change of values."""
    return _step(ROW, "choose_row", a, nucleus, **_by_position(a))


def dual_iteration(a: Arrays, nucleus: Nucleus) -> tuple[Step, ...]:
    """Return the five launches of a dual iteration."""
    partials = _by_position(a)
    return (
        _step(ROW, "pivot_row", a, nucleus, groups=a.row_groups, **partials),
        _step(ROW, "price_row", a, nucleus, dual=1),
        _step(RATIO, "choose_column", a, nucleus),
        _step(ROW, "solve_column", a, nucleus, dual=1),
        _step(DUAL_UPDATE, "update_dual", a, nucleus, **partials),
    )


def first_primal(a: Arrays, nucleus: Nucleus) -> Step:
    """Return what has to run before the first primal iteration after a change of duals."""
    return _step(PRIMAL, "price_costs", a, nucleus, **_by_variable(a))


def primal_iteration(a: Arrays, nucleus: Nucleus) -> tuple[Step, ...]:
    """Return the six launches of a primal iteration."""
    priced = _by_variable(a)
    return (
        _step(PRIMAL, "choose_entering", a, nucleus, groups=a.variable_groups, **priced),
        _step(ROW, "solve_column", a, nucleus, dual=0, steepest=0),
        _step(PRIMAL, "choose_leaving", a, nucleus),
        _step(ROW, "pivot_row", a, nucleus, groups=0, **_by_position(a)),
        _step(ROW, "price_row", a, nucleus, dual=0, steepest=0),
        _step(PRIMAL, "update_primal", a, nucleus, **priced),
    )


class Batches:
    """Runs batches of dual or primal iterations on the current stream."""

    def __init__(self, arrays: Arrays, nucleus: Nucleus) -> None:
        self._arrays, self._nucleus = arrays, nucleus
        self._graphs: dict[str, Any] = {}
        self._generation = nucleus.generation

    def prepare(self, kind: str) -> None:
        """Run what has to run before the first iteration after a change of values or duals."""
        if kind == "primal":
            first_primal(self._arrays, self._nucleus).run()
        else:
            first_dual(self._arrays, self._nucleus).run()

    def run(self, kind: str, count: int) -> None:
        """Run at least so many iterations, 'dual' or 'primal', unless there is something to say."""
        if self._arrays.device.kind == "cpu":
            steps, control = self._steps(kind), self._arrays.control
            for _ in range(count):
                for step in steps:
                    step.run()
                if control[STATUS] != RUNNING:
                    return
        else:
            graph = self._graph(kind)
            for _ in range(-(-count // UNIT)):
                graph.launch()

    def _steps(self, kind: str) -> tuple[Step, ...]:
        make = dual_iteration if kind == "dual" else primal_iteration
        return make(self._arrays, self._nucleus)

    def _graph(self, kind: str) -> Any:
        """Return the graph of some iterations, recorded again when arrays have been replaced."""
        if self._generation != self._nucleus.generation:
            self._graphs.clear()
            self._generation = self._nucleus.generation
        if kind not in self._graphs:
            # Compiles, which a capture forbids.
            launches = [step.bound() for step in self._steps(kind)]
            stream = self._arrays.device.xp.cuda.get_current_stream()
            self._graphs[kind] = recorded(stream, launches * UNIT)
        return self._graphs[kind]


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
        count = SHORT
        self._batches.prepare(kind)
        while True:
            if should_stop():
                return PivotStatus.STOPPED
            status = self._batch(kind, min(count, basis.arrays.most - basis.delayed))
            count = LONG
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
            count = SHORT

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
