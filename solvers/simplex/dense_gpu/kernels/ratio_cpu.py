"""The dual ratio test of ``ratio.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.control import (
    GATHER_BELOW,
    MOST_FLIPS,
    NO_PIVOT,
    RUNNING,
    SPARSE_BELOW,
)
from solvers.simplex.dense_gpu.kernels.rules import (
    DEVEX_ERROR,
    FIRST_SELECTION,
    MOST_GROUPS,
    RELATIVE_PIVOT,
    SELECTION_GROWTH,
    SUFFICIENT_PIVOT,
    distance_of,
    make_sides,
)
from solvers.simplex.state import LOWER

Indices = npt.NDArray[Any]
NOTHING = np.zeros(0, dtype=np.int64)


class _Points(NamedTuple):
    """Candidates (k,): variables, ratios, pivot elements, distances, and what passing costs."""

    variable: Indices
    ratio: FloatArray
    size: FloatArray
    distance: FloatArray
    loss: FloatArray

    def of(self, chosen: Indices) -> _Points:
        return _Points(*(one[chosen] for one in self))

    def near(self, bound: float) -> BoolArray:
        """Return which break points equal one at this ratio, but for the tolerance."""
        near: BoolArray = (self.ratio <= bound) | (self.distance <= bound * self.size)
        return near

    def best(self, among: BoolArray) -> tuple[float, int]:
        """Return the largest pivot element, and its variable."""
        k = int(np.argmax(np.where(among, self.size, -1.0)))
        return float(self.size[k]), int(self.variable[k])


def choose_column(a: SimpleNamespace) -> None:
    """Choose the entering variable and the flips before it."""
    control, scalars = a.control, a.scalars
    if control[word.STATUS] != RUNNING:
        return
    made = control[word.PIVOTS]
    alpha = a.alpha_rows[made]
    q, flips = _choose(a, alpha)
    if q is None:
        control[word.STATUS] = NO_PIVOT
        return
    span = a.upper[flips] - a.lower[flips]
    steps = np.where(a.status[flips] == LOWER, span, -span)
    a.flips[: flips.size], a.flip_steps[: flips.size] = flips, steps
    steepest = a.steepest == 1
    few = control[word.SLOTS] / SPARSE_BELOW if steepest else a.rows / GATHER_BELOW
    make_sides(a, q, flips, steps, few)
    a.column_dots[:made] = a.alpha_rows[:made, q]
    a.flip_dots[:made] = a.alpha_rows[:made, flips] @ steps
    price, pivot = a.reduced_cost[q], alpha[q]
    step = price / pivot
    wrong = step != 0.0 and (step < 0.0) != (scalars[word.EXCESS] < 0.0)
    norm = a.dots[a.most]
    if not steepest:
        norm = max(1.0, a.squares.sum() + a.reference[control[word.LEAVING]])
    scalars[word.DUAL_STEP], scalars[word.COST_SHIFT] = (0.0, price) if wrong else (step, 0.0)
    scalars[[word.PIVOT, word.ENTERING_VALUE, word.NORM]] = pivot, a.x[q], norm
    control[word.RESET] = not steepest and scalars[word.WEIGHT] > DEVEX_ERROR * norm
    control[[word.ENTERING, word.FLIPS, word.MADE]] = q, flips.size, made


def _choose(a: SimpleNamespace, alpha: FloatArray) -> tuple[int | None, Indices]:
    """Return the entering variable, None if the dual is unbounded, and the flips before it."""
    at = np.flatnonzero(a.ratios < np.inf)
    if not at.size:
        return None, NOTHING
    size = np.abs(alpha[at])
    loss = size * (a.upper[at] - a.lower[at])
    every = _Points(at, a.ratios[at], size, distance_of(a.status[at], a.reduced_cost[at]), loss)
    slope = abs(a.scalars[word.EXCESS])
    within = _within_reach(every, slope)
    if within is None:
        return every.best(every.near(every.ratio.min()))[1], NOTHING
    points = every.of(within)
    group, best, left = _pass_groups(points, slope)
    if left > a.scalars[word.PRIMAL_TOLERANCE] and within.size == at.size and (group >= 0).all():
        return None, NOTHING
    required = min(RELATIVE_PIVOT * max(size for size, _ in best), SUFFICIENT_PIVOT)
    entering = len(best) - 1
    while entering > 0 and best[entering][0] <= required:
        entering -= 1
    return best[entering][1], points.variable[(group >= 0) & (group < entering)]


def _within_reach(every: _Points, slope: float) -> Indices | None:
    """Return the break points up to where the slope is used up; None if they are too many."""
    select, before = max(SELECTION_GROWTH * every.ratio.min(), FIRST_SELECTION), 0.0
    while True:
        chosen = np.flatnonzero(every.ratio <= select)
        if chosen.size > MOST_FLIPS:
            return np.flatnonzero(every.ratio <= before) if before else None
        if every.loss[chosen].sum() >= slope or chosen.size == every.ratio.size:
            return chosen
        before, select = select, SELECTION_GROWTH * select


def _pass_groups(points: _Points, slope: float) -> tuple[Indices, list[tuple[float, int]], float]:
    """Pass groups while the slope stays positive.

    Returns the group of each break point or -1, the best of each group, and the slope left.
    """
    group = np.full(points.ratio.size, -1)
    best: list[tuple[float, int]] = []
    while len(best) < MOST_GROUPS and (group < 0).any() and slope >= 0.0:
        ahead = group < 0
        now = ahead & points.near(points.ratio[ahead].min())
        group[now] = len(best)
        best.append(points.best(now))
        slope -= points.loss[now].sum()
    return group, best, slope
