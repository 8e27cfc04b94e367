"""A basis on the device with its inverse, point and prices, and how they are kept in step.

Values and duals are computed from scratch with one step of refinement; pivots must not be delayed
then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.arrays import Arrays
from solvers.simplex.dense_gpu.control import LARGEST
from solvers.simplex.dense_gpu.kernels.refresh import REFRESH
from solvers.simplex.dense_gpu.nucleus import Nucleus
from solvers.simplex.state import BASIC, SlackForm, nonbasic_status, nonbasic_values

ROUNDS = 2
"""The computation, and its refinement."""

DRIFT = 1e-9
"""Largest |A x - s|, relative to the largest value, before the basis is factorised anew."""


def recompute_values(arrays: Arrays, nucleus: Nucleus) -> None:
    """Set the basic variables so that [A -I] x = 0, starting from the values in ``arrays.x``."""
    for _ in range(ROUNDS):
        row_residual(arrays)
        solve_basis(arrays, nucleus, arrays.residual, arrays.by_position)
        REFRESH["correct_basics"](
            arrays.rows, arrays.basic, arrays.lower, arrays.upper, arrays.by_position,
            arrays.x, arrays.x_basic, arrays.lower_basic, arrays.upper_basic,
        )  # fmt: skip


def row_residual(arrays: Arrays) -> None:
    """Compute A x - s of the point in ``arrays.x``."""
    REFRESH["row_residual"](*_of_residual(arrays))


def drift_launches(arrays: Arrays) -> list[Callable[[], None]]:
    """Return what leaves the largest magnitude of A x - s, ready for launches again and again.

    They first bring ``arrays.x`` up to date with the basic values by position.
    """
    residual = arrays.residual
    steps: dict[str, tuple[Any, ...]] = {
        "spread_basics": (arrays.rows, arrays.basic, arrays.x_basic, arrays.x),
        "row_residual": _of_residual(arrays),
        "largest": (residual.size, LARGEST, residual, arrays.scalars),
    }
    if arrays.device.kind == "cpu":
        return [partial(REFRESH[name], *given) for name, given in steps.items()]
    return [REFRESH.bind(name, *given) for name, given in steps.items()]


def _of_residual(arrays: Arrays) -> tuple[Any, ...]:
    matrix = arrays.by_rows
    return (
        arrays.rows, arrays.structurals, matrix.lanes, matrix.starts, matrix.indices,
        matrix.values, arrays.x, arrays.residual,
    )  # fmt: skip


def recompute_duals(arrays: Arrays, nucleus: Nucleus, *, repair: bool) -> None:
    """Compute duals and reduced costs; ``repair`` makes them feasible by flips and shifts."""
    matrix = arrays.columns
    arrays.clear(arrays.dual)
    for done in range(ROUNDS + 1):
        REFRESH["reduced_costs"](
            arrays.rows, arrays.structurals, matrix.lanes, matrix.starts, matrix.indices,
            matrix.values, arrays.cost, arrays.dual, arrays.reduced_cost,
        )  # fmt: skip
        if done < ROUNDS:
            REFRESH["gather_basics"](
                arrays.rows, arrays.basic, arrays.reduced_cost, arrays.by_position
            )
            solve_transposed(arrays, nucleus, arrays.by_position, arrays.dual)
    REFRESH["settle_duals"](
        arrays.variables, int(repair), arrays.status, arrays.lower, arrays.upper,
        arrays.x, arrays.cost, arrays.reduced_cost, arrays.scalars,
    )  # fmt: skip


def solve_basis(arrays: Arrays, nucleus: Nucleus, right: Any, result: Any) -> None:
    """Set result (m,) by position to B^-1 right, (m,) by row."""
    REFRESH["apply_inverse"](
        arrays.rows, nucleus.capacity, nucleus.slots, nucleus.inverse, nucleus.unit_row,
        nucleus.row_of_slot, right, result,
    )  # fmt: skip


def solve_transposed(arrays: Arrays, nucleus: Nucleus, right: Any, dual: Any) -> None:
    """Add B^-T right, of (m,) by position, to dual (m,) by row."""
    if not arrays.rows:
        return
    product = arrays.device.xp.dot(right, nucleus.inverse)
    REFRESH["place_dual"](
        arrays.rows, nucleus.slot_of_row, nucleus.unit_position, product, right, dual
    )


def largest(arrays: Arrays, vector: Any) -> float:
    """Return the largest magnitude of a vector; waits for it."""
    REFRESH["largest"](vector.size, LARGEST, vector, arrays.scalars)
    return read_largest(arrays)


def read_largest(arrays: Arrays) -> float:
    """Return the magnitude that was looked for last; waits for it."""
    return float(arrays.host(arrays.scalars)[LARGEST])


Positions = npt.NDArray[np.int64]


class DeviceBasis:
    """What batches of pivots work on, and what has to be done between them.

    Attributes
    ----------
    age : int
        Pivots in the inverse since the basis was factorised.
    delayed : int
        Pivots that wait to be multiplied into the inverse.
    control : (CONTROL_WORDS,) array
        The host's copy of the words that steer the kernels.
    """

    def __init__(self, form: SlackForm, device: Device) -> None:
        self.arrays = Arrays(form, device)
        self.nucleus = Nucleus(self.arrays)
        self.age = self.delayed = 0
        self.refactorisations = 0
        self.control = np.zeros(word.CONTROL_WORDS, dtype=np.int32)
        self._log = np.zeros((0, 3), dtype=np.int32)
        self._largest_value = 0.0
        self._drift: list[Callable[[], None]] | None = None
        self._measured = False

    @property
    def is_fresh(self) -> bool:
        """Whether the inverse comes from a factorisation of this very basis."""
        return self.age + self.delayed == 0

    def steer(self, words: Mapping[int, int]) -> None:
        """Change words of control and let iterations go on."""
        self.control[word.STATUS], self.control[word.PIVOTS] = word.RUNNING, self.delayed
        self.control[word.SLOTS] = self.nucleus.slots
        for place, value in words.items():
            self.control[place] = value
        self.arrays.write(self.arrays.control, self.control)

    def read(self) -> None:
        """Wait for the iterations, and read the words that steer them and the pivots they made."""
        words = self.arrays.host(self.arrays.words)
        self.control = words[: word.CONTROL_WORDS]
        self._log = words[word.CONTROL_WORDS :].reshape(-1, 3)

    def fold(self) -> None:
        """Multiply delayed pivots, as last read, into the inverse."""
        self.nucleus.fold(self._log[: self.delayed])
        self.age += self.delayed
        self.delayed = 0
        self.steer({})

    def factorise(self, basic: Positions) -> None:
        """Invert the basis of these variables (m,); dependent ones give way to logicals."""
        replaced = self.nucleus.factorise(basic)
        self.refactorisations += 1
        self.age = self.delayed = 0
        if replaced:
            self._repair(replaced, basic)
        self.steer({})

    def refresh(self, *, repair: bool) -> None:
        """Factorise the basis unless it is fresh, and compute point and prices anew."""
        self.fold()
        if self.age:
            self.factorise(self.nucleus.basic)
        self.recompute(repair=repair)

    def recompute(self, *, repair: bool) -> None:
        """Compute reduced costs and values; ``repair`` makes the former feasible first."""
        a = self.arrays
        self.fold()
        recompute_duals(a, self.nucleus, repair=repair)
        recompute_values(a, self.nucleus)
        self._largest_value = largest(a, a.x)

    def measure_drift(self) -> None:
        """Measure how far the point is from [A -I] x = 0, without waiting for the answer."""
        if self._drift is None:
            self._drift = drift_launches(self.arrays)
        for launch in self._drift:
            launch()
        self._measured = True

    def has_drifted(self) -> bool:
        """Whether that is too far for the inverse to be trusted, as measured last or now."""
        if not self._measured:
            self.measure_drift()
        self._measured = False
        return not read_largest(self.arrays) <= DRIFT * (1.0 + self._largest_value)

    def _repair(self, replaced: list[tuple[int, int]], before: Positions) -> None:
        """Make replaced variables nonbasic and the logicals in their places basic."""
        a = self.arrays
        status, x, weights = a.host(a.status), a.host(a.x), a.host(a.weights)
        lower, upper = a.host(a.lower), a.host(a.upper)
        out = np.setdiff1d(before, self.nucleus.basic)
        status[out] = nonbasic_status(lower[out], upper[out], a.host(a.reduced_cost)[out])
        x[out] = nonbasic_values(status[out], lower[out], upper[out])
        for position, logical in replaced:
            status[logical] = BASIC
            weights[position] = 1.0
        for array, values in ((a.status, status), (a.x, x), (a.weights, weights)):
            a.write(array, values)
        a.write(a.basic, self.nucleus.basic)
