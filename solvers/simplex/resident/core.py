"""The simplex core whose basis, inverse, point and prices stay on the device.

What runs where: a batch of iterations is a chain of small kernels on the device
(``kernels/row.py`` to ``kernels/primal.py``); between batches the host folds the delayed pivots
into the inverse with one matrix product, measures how far the point has drifted from [A -I] x = 0,
and factorises anew when that or a pivot element says so, and before any claim. On a CPU the same
algorithm runs through the kernels' twins.

Dual pivots are priced by steepest edge up to ``STEEPEST_UP_TO`` rows and by Devex above, with bound
flips; primal ones by Devex. Where the primal begins at an infeasible point, dual pivots with costs
made up for it look for a feasible one: every basis is dual feasible for such costs, and no kernels
for composite costs are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from solvers.device import Device, find_device
from solvers.problem import FloatArray
from solvers.simplex.core import Halt
from solvers.simplex.form import SlackForm
from solvers.simplex.resident import control as word
from solvers.simplex.resident.arrays import Arrays
from solvers.simplex.resident.batch import Batches
from solvers.simplex.resident.nucleus import Nucleus
from solvers.simplex.resident.place import Place
from solvers.simplex.resident.refresh import (
    largest,
    recompute_duals,
    recompute_values,
    row_residual,
    solve_basis,
    solve_transposed,
    spread_basics,
)
from solvers.simplex.resident.steps import first_dual, first_primal
from solvers.simplex.state import (
    BASIC,
    LOWER,
    UPPER,
    ZERO,
    SimplexState,
    nonbasic_status,
    nonbasic_values,
)

HARRIS = 1e-7
"""How far a reduced cost or basic value may go beyond zero or a bound in a ratio test, if no
tighter tolerance is asked for (lp-algorithms.md, 3.2)."""

MOST_ITERATIONS = 2**30
"""Largest limit on iterations that the device's 32 bits are given."""

MADE_UP_SEED = 5
"""Seed of the costs that look for a feasible point."""

PIVOT_ERROR = 1e-7
"""Largest relative difference of the pivot element by row and by column (HiGHS)."""

DRIFT = 1e-9
"""Largest |A x - s|, relative to the largest value, before the basis is factorised anew."""

SMALL_PIVOT_FRESH, SMALL_PIVOT_LATER = 1e-9, 1e-7
"""Elements that count as zero, in the first batch after a factorisation and later (3.2)."""

MOST_PIVOTS = 5000
"""Pivots after which the basis is factorised anew in any case."""

SHUNNED = 1e12
"""Factor on the weight of a position whose pivot was inaccurate with a fresh inverse."""

MOST_SHUNNED = 10
"""Inaccurate pivots in a row, each with a fresh inverse, before a run ends in trouble."""

HALTS = {
    word.DONE: Halt.DONE,
    word.NO_PIVOT: Halt.NO_PIVOT,
    word.OUT_OF_PIVOTS: Halt.LIMIT,
}


Method = TypeVar("Method", bound=Callable[..., Any])


def _on_device(method: Method) -> Method:
    """Run a method with the core's device and stream as the current ones."""

    @wraps(method)
    def run(self: ResidentCore, *values: Any) -> Any:
        with self._place.here():
            return method(self, *values)

    return cast("Method", run)


class ResidentCore:
    """Pivots on a device; implements :class:`solvers.simplex.core.Core`.

    Parameters
    ----------
    form : SlackForm
    device : Device or str
        The device, or what ``find_device`` is to look for.

    Raises
    ------
    DeviceError
        From here, ``load`` and the pivots: the inverse of a basis does not fit the device.
    """

    def __init__(self, form: SlackForm, device: Device | str) -> None:
        self._place = Place(find_device(device) if isinstance(device, str) else device)
        with self._place.here():
            self._arrays = Arrays(form, self._place.device)
            self._nucleus = Nucleus(self._arrays)
            self._batches = Batches(self._arrays, self._nucleus)
        self._age = 0
        self._delayed = 0
        self._tolerance = HARRIS
        self._pivot_row = self._pivot_column = -1
        self.iterations = 0
        """Pivots and flips since the last ``load``."""
        self.refactorisations = 0
        """Factorisations so far."""

    @_on_device
    def load(self, state: SimplexState) -> None:
        """Take over a state; factorise its basis unless it is the one at hand."""
        a = self._arrays
        self._fold()
        new = not np.array_equal(self._nucleus.basic, state.basic)
        a.write(a.status, state.status)
        a.write(a.basic, state.basic)
        for array, values in (
            (a.x, nonbasic_values(state.status, state.lower, state.upper)),
            (a.cost, state.cost), (a.lower, state.lower), (a.upper, state.upper),
            (a.weights, state.edge_weight),
        ):  # fmt: skip
            a.write(array, values)
        self._start_frameworks(state)
        self._tolerance = state.tolerance
        self.iterations = state.iterations
        self._set_control({word.ITERATIONS: state.iterations})
        scalars = np.zeros(word.SCALAR_WORDS)
        scalars[word.PRIMAL_TOLERANCE] = scalars[word.DUAL_TOLERANCE] = state.tolerance
        scalars[word.HARRIS], scalars[word.PIVOT_ERROR] = min(HARRIS, state.tolerance), PIVOT_ERROR
        a.write(a.scalars, scalars)
        if new:
            self._factorise(np.asarray(state.basic, dtype=np.int64))
        self._recompute(repair=False)

    @_on_device
    def dual(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run dual pivots; reduced costs of the wrong sign are first met by flips or shifts."""
        self._recompute(repair=True)
        return self._run("dual", most, should_stop)

    @_on_device
    def primal(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run primal pivots, from an infeasible point after dual ones that make it feasible.

        ``DONE`` at an infeasible point says that those found no feasible one.
        """
        a = self._arrays
        self._recompute(repair=False)
        if self._is_infeasible():
            before = self.iterations
            halt = self._make_feasible(most, should_stop)
            most -= self.iterations - before
            if halt is Halt.NO_PIVOT:
                self._pivot_row = -1
                return Halt.DONE
            if halt is not Halt.DONE:
                return halt
            if self._is_infeasible():
                return Halt.TROUBLE
        a.write(a.price_weights, np.ones(a.variables))
        a.write(a.weights, np.ones(a.rows))  # pivots of the primal leave them behind
        return self._run("primal", most, should_stop)

    def _is_infeasible(self) -> bool:
        a = self._arrays
        x, lower, upper = (a.host(v) for v in (a.x_basic, a.lower_basic, a.upper_basic))
        tolerance = self._tolerance
        return bool((x < lower - tolerance).any() or (x > upper + tolerance).any())

    def _make_feasible(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run dual pivots with costs for which the basis is dual feasible."""
        a = self._arrays
        cost, status = a.host(a.cost), a.host(a.status)
        made_up = np.random.default_rng(MADE_UP_SEED).uniform(1.0, 2.0, a.variables)
        made_up[(status == BASIC) | (status == ZERO)] = 0.0
        a.write(a.cost, np.where(status == UPPER, -made_up, made_up))
        try:
            self._recompute(repair=True)
            return self._run("dual", most, should_stop)
        finally:
            self._fold()
            a.write(a.cost, cost)
            self._recompute(repair=False)

    @_on_device
    def store(self, state: SimplexState) -> None:
        """Copy everything back."""
        a = self._arrays
        self._fold()
        self._recompute(repair=False)
        state.basic[:] = a.host(a.basic)
        state.status[:] = a.host(a.status)
        for values, array in (
            (state.x, a.x), (state.reduced_cost, a.reduced_cost), (state.cost, a.cost),
            (state.lower, a.lower), (state.upper, a.upper), (state.edge_weight, a.weights),
        ):  # fmt: skip
            values[:] = a.host(array)
        state.iterations = self.iterations

    @_on_device
    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y (m,) by row with B'y = right, (m,) by position."""
        self._fold()
        result = self._arrays.numbers(self._arrays.rows)
        solve_transposed(self._arrays, self._nucleus, self._arrays.device.to_device(right), result)
        return self._arrays.host(result)

    @_on_device
    def solve_basis(self, right: FloatArray) -> FloatArray:
        """Return v (m,) by position with B v = right, (m,) by row."""
        self._fold()
        result = self._arrays.numbers(self._arrays.rows)
        solve_basis(self._arrays, self._nucleus, self._arrays.device.to_device(right), result)
        return self._arrays.host(result)

    @property
    def pivot_row(self) -> int:
        """Position at which the dual found no ratio; -1 if none."""
        return self._pivot_row

    @property
    def pivot_column(self) -> int:
        """Variable for which the primal found no ratio; -1 if none."""
        return self._pivot_column

    def _run(self, kind: str, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run batches until there is a reason to stop that a fresh inverse confirms."""
        a = self._arrays
        self._pivot_row = self._pivot_column = -1
        limit = min(MOST_ITERATIONS, self.iterations + most)
        self._set_control({word.LIMIT: limit})
        shunned = 0
        while True:
            if should_stop():
                return Halt.STOPPED
            status = self._batch(kind)
            if status in (word.RUNNING, word.FOLD):
                shunned = 0
                self._fold()
                if self._age >= MOST_PIVOTS or self._has_drifted():
                    self._refresh(kind)
            elif status == word.OUT_OF_PIVOTS:
                self._fold()
                return Halt.LIMIT
            elif status == word.INACCURATE:
                fresh = self._age + self._delayed == 0
                shunned = shunned + 1 if fresh else 0
                if shunned > MOST_SHUNNED:
                    return Halt.TROUBLE
                if fresh:
                    self._shun(kind)
                self._refresh(kind)
            elif self._age + self._delayed == 0:
                return self._claim(kind, HALTS[status])
            else:
                self._refresh(kind)

    def _batch(self, kind: str) -> int:
        """Run one batch and return its last status."""
        a = self._arrays
        fresh = self._age == 0
        scalars = a.host(a.scalars)
        scalars[word.SMALL_PIVOT] = SMALL_PIVOT_FRESH if fresh else SMALL_PIVOT_LATER
        a.write(a.scalars, scalars)
        first = first_dual(a) if kind == "dual" else first_primal(a)
        first.run()
        self._batches.run(kind)
        control = a.host(a.control)
        status = int(control[word.STATUS])
        self._delayed = int(control[word.PIVOTS])
        if status == word.INACCURATE:  # counted, but not made
            self._delayed -= 1
            control[word.ITERATIONS] -= 1
        control[word.STATUS], control[word.PIVOTS] = word.RUNNING, self._delayed
        a.write(a.control, control)
        self.iterations = int(control[word.ITERATIONS])
        return status

    def _claim(self, kind: str, halt: Halt) -> Halt:
        if halt is Halt.NO_PIVOT:
            control = self._arrays.host(self._arrays.control)
            if kind == "dual":
                self._pivot_row = int(control[word.POSITION])
            else:
                self._pivot_column = int(control[word.ENTERING])
        return halt

    def _fold(self) -> None:
        """Multiply delayed pivots into the inverse."""
        self._nucleus.fold(self._delayed)
        self._age += self._delayed
        self._delayed = 0
        self._set_control({})

    def _has_drifted(self) -> bool:
        """Whether the point is too far from [A -I] x = 0 for the inverse to be trusted."""
        a = self._arrays
        spread_basics(a)
        row_residual(a)
        return largest(a, a.residual) > DRIFT * (1.0 + largest(a, a.x))

    def _refresh(self, kind: str) -> None:
        """Factorise the basis and compute everything anew."""
        self._fold()
        if self._age:
            self._factorise(self._nucleus.basic)
        self._recompute(repair=kind == "dual")

    def _factorise(self, basic: npt.NDArray[np.int64]) -> None:
        replaced = self._nucleus.factorise(basic)
        self.refactorisations += 1
        self._age = self._delayed = 0
        if replaced:
            self._repair(replaced, basic)
        self._set_control({})

    def _repair(self, replaced: list[tuple[int, int]], basic: npt.NDArray[np.int64]) -> None:
        """Put logicals in the place of dependent columns, which go to their nearer bound."""
        a = self._arrays
        status, x, weights = a.host(a.status), a.host(a.x), a.host(a.weights)
        lower, upper, cost = a.host(a.lower), a.host(a.upper), a.host(a.reduced_cost)
        out = np.setdiff1d(basic, self._nucleus.basic)
        status[out] = nonbasic_status(lower[out], upper[out], cost[out])
        x[out] = 0.0
        x[out] = np.where(status[out] == LOWER, lower[out], x[out])
        x[out] = np.where(status[out] == UPPER, upper[out], x[out])
        for position, logical in replaced:
            status[logical] = BASIC
            weights[position] = 1.0
        for array, values in ((a.status, status), (a.x, x), (a.weights, weights)):
            a.write(array, values)
        a.write(a.basic, self._nucleus.basic)

    def _recompute(self, *, repair: bool) -> None:
        """Compute reduced costs, then values, with no pivot delayed."""
        a = self._arrays
        self._fold()
        a.clear(a.column, a.flip_column, self._nucleus.column_slots, self._nucleus.flip_slots)
        recompute_duals(a, self._nucleus, repair=repair)
        recompute_values(a, self._nucleus)

    def _shun(self, kind: str) -> None:
        """Make the position or variable of an inaccurate pivot the last to be chosen again."""
        a = self._arrays
        control = a.host(a.control)
        dual = kind == "dual"
        weights = a.host(a.weights if dual else a.price_weights)
        weights[control[word.POSITION if dual else word.ENTERING]] *= SHUNNED
        a.write(a.weights if dual else a.price_weights, weights)

    def _start_frameworks(self, state: SimplexState) -> None:
        """Start Devex with what is basic as its reference."""
        a = self._arrays
        a.write(a.reference, state.status == BASIC)
        a.write(a.price_weights, np.ones(a.variables))
        if not a.steepest:
            a.write(a.weights, np.ones(a.rows))

    def _set_control(self, words: dict[int, int]) -> None:
        """Change words of control; no pivot is delayed, and iterations may go on."""
        control = self._arrays.host(self._arrays.control)
        control[word.STATUS], control[word.PIVOTS] = word.RUNNING, self._delayed
        control[word.SLOTS] = self._nucleus.slots
        for place, value in words.items():
            control[place] = value
        self._arrays.write(self._arrays.control, control)
