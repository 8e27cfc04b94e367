"""The objective counted in whole steps, so that "at most k steps" can be a literal like any other.

A column more, the last one, stands for the objective: ``c'x <= step (k + shift)`` holds for every
point with the value k or less there. Where costs of integer columns are multiples of a common step
the count is the objective itself. Other costs of integer columns are rounded down to whole numbers
of a fine step, for which ``shift`` makes up, so that a point counts at most as many steps as its
objective has. Only costs of continuous columns stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import MipModel

LARGEST_SUM = 1e9
"""Sums of whole numbers up to this leave a double six digits for halves and tolerances."""

LARGEST_SCALE = 6
"""Decimals that costs may have to be counted exactly."""

WHOLE = 1e-13
"""How far a scaled number may be from a whole one, relative to it, if it is a decimal fraction."""

ROUNDING_OF_SUMS = 1e-9
"""What sums may err by, relative to them."""

GAIN = 1e-5
"""Least improvement that is looked for where costs have no common step, relative to the objective:
a tenth of the gap at which a solve ends unless it is told otherwise."""

WIDEST = 1e4
"""Width of a column that counts where a step is chosen without knowing what values it takes."""


@dataclass(frozen=True, eq=False)
class Grid:
    """How objectives are counted.

    Parameters
    ----------
    step : float
    coefficient : (n,) float64
        Steps that each column costs.
    shift : float
        Steps between the count of a point and its objective: at most the true difference.
    offset : float
        Constant term of the objective.
    is_whole : bool
        Whether every point counts whole steps.
    is_common : bool
        Whether costs are multiples of the step, so that counts and objectives agree.
    error : float
        How much less than its count says the objective of a point may be for rounding errors.
    """

    step: float
    coefficient: FloatArray
    shift: float
    offset: float
    is_whole: bool
    is_common: bool
    error: float = 0.0

    def below(self, objective: float) -> float:
        """Return the largest count of points that are better than ``objective`` by enough."""
        value = (objective - self.offset) / self.step - self.shift
        if self.is_common:
            return float(np.ceil(value - 1e-3)) - 1.0
        gain = max(ROUNDING_OF_SUMS, GAIN * abs(objective - self.offset))
        return float(np.floor(value - gain / self.step))

    def below_point(self, x: FloatArray) -> float:
        """Return the largest count that is less than that of ``x`` (n,).

        Where costs are rounded down, a point may count less than its objective says: without this
        the search would come to it again.
        """
        return float(np.ceil(self.coefficient @ x - 1e-3)) - 1.0

    def nearest(self, objective: float) -> float:
        """Return the count that an objective comes closest to."""
        return float(np.round((objective - self.offset) / self.step - self.shift))

    def objective_of(self, count: float) -> float:
        """Return an objective that no point with at least this count is below, offset included."""
        value = self.step * (count + self.shift)
        room = ROUNDING_OF_SUMS * max(1.0, abs(value), abs(self.offset))
        return float(self.offset + value - room - self.error)


def grid_of(model: MipModel, lower: FloatArray, upper: FloatArray) -> Grid:
    """Return the grid of a model's objective; ``lower`` and ``upper`` (n,) are its box."""
    cost, offset = model.cost, model.offset
    used = np.flatnonzero(cost)
    is_whole = bool(np.all(model.is_integer[used] == 1))
    size = np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))
    if is_whole:
        common = _common_step(cost[used])
        if common is not None:
            coefficient = np.round(cost / common)
            if float(np.abs(coefficient[used]) @ size[used]) <= LARGEST_SUM:
                error = float(np.abs(cost - common * coefficient)[used] @ size[used])
                return Grid(common, coefficient, 0.0, offset, True, True, error)
        total = float(np.abs(cost[used]) @ size[used])
        if np.isfinite(total):
            return _rounded_down(cost, lower, total, offset)
    width = np.clip(upper[used] - lower[used], 0.0, WIDEST)
    step = float(np.abs(cost[used]) @ width) / LARGEST_SUM
    step = step if step > 0.0 else 1.0
    return Grid(step, cost / step, 0.0, offset, False, False)


def _common_step(cost: FloatArray) -> float | None:
    """Return the largest step that all costs are multiples of, or None."""
    if not cost.size:
        return 1.0
    for decimals in range(LARGEST_SCALE + 1):
        scale = 10.0**decimals
        whole = np.round(cost * scale)
        if np.abs(whole).max() > LARGEST_SUM:
            return None
        if np.all(np.abs(cost * scale - whole) <= WHOLE * np.abs(whole)):
            return float(np.gcd.reduce(np.abs(whole).astype(np.int64))) / scale
    return None


def _rounded_down(cost: FloatArray, lower: FloatArray, total: float, offset: float) -> Grid:
    """Return a grid whose counts are at most the objective's: rounded down from lower bounds on.

    Parameters
    ----------
    cost, lower : (n,) float64
    total : float
        Sum of ``|cost|`` times the largest absolute values of the columns, or 1 where that is less.
    offset : float
    """
    step = total / (0.5 * LARGEST_SUM)
    used = np.flatnonzero(cost)
    coefficient = np.floor(cost / step)
    rest = cost[used] / step - coefficient[used]
    shift = float(rest @ lower[used])
    error = 1e-3 * step  # quotients and products err by 2^-52 of the total, 1e-7 steps
    return Grid(step, coefficient, shift, offset, True, False, error)
