"""The kernels of ``primal.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.control import GATHER_BELOW, INACCURATE, NO_PIVOT, RUNNING
from solvers.simplex.dense_gpu.kernels.rules import (
    LARGEST_DEVEX_WEIGHT,
    is_accurate,
    leave_best,
    make_sides,
    merit_of,
    take_best,
)
from solvers.simplex.state import BASIC, LOWER, UPPER


def price_costs(a: SimpleNamespace) -> None:
    """Leave the best variable of each block."""
    leave_best(a, merit_of(a))


def choose_entering(a: SimpleNamespace) -> None:
    """Choose the entering variable."""
    control, scalars = a.control, a.scalars
    if control[word.STATUS] != RUNNING:
        return
    q = take_best(a)
    if q is None:
        return
    made = control[word.PIVOTS]
    make_sides(a, q, np.zeros(0, dtype=np.int64), np.zeros(0), a.rows / GATHER_BELOW)
    a.column_dots[:made] = a.alpha_rows[:made, q]
    control[[word.ENTERING, word.DIRECTION]] = q, 1 if a.reduced_cost[q] < 0.0 else -1
    scalars[[word.ENTERING_VALUE, word.WEIGHT]] = a.x[q], a.weights[q]


def choose_leaving(a: SimpleNamespace) -> None:
    """Choose the leaving position by Harris's two passes, or to flip the entering variable."""
    control, scalars = a.control, a.scalars
    if control[word.STATUS] != RUNNING:
        return
    q = control[word.ENTERING]
    rate = control[word.DIRECTION] * a.alpha
    room = np.where(rate > 0.0, a.x_basic - a.lower_basic, a.upper_basic - a.x_basic)
    able = np.flatnonzero(np.abs(rate) > scalars[word.SMALL_PIVOT])
    size, free = np.abs(rate[able]), np.fmax(room[able], 0.0)
    bound = np.min((free + scalars[word.HARRIS]) / size, initial=np.inf)
    step, r = np.inf, -1
    if bound < np.inf:
        bound = np.nextafter(bound, np.inf)  # lest rounding leave out the nearest
        k = int(np.argmax(np.where(free <= bound * size, size, 0.0)))
        step, r = free[k] / size[k], int(able[k])
    span = a.upper[q] - a.lower[q]
    control[word.FLIP_ONLY] = span <= step < np.inf or span < step
    if span > step:
        _leave_pivot(a, r, step, rate[r], room[r])
    elif span == np.inf:
        control[word.STATUS] = NO_PIVOT
        return
    else:
        control[word.ALL_FLIPS] += 1
        scalars[word.PRIMAL_STEP] = span
    control[word.ITERATIONS] += 1


def _leave_pivot(a: SimpleNamespace, r: int, step: float, rate: float, room: float) -> None:
    """Say which position leaves, and by what step."""
    control, scalars = a.control, a.scalars
    value, pivot, falls = a.x_basic[r], a.alpha[r], rate > 0.0
    bound = a.lower_basic[r] if falls else a.upper_basic[r]
    control[[word.POSITION, word.LEAVING, word.TO_UPPER]] = r, a.basic[r], not falls
    control[word.PIVOTS] += 1
    scalars[[word.VALUE, word.BOUND]] = value, value if room < 0.0 else bound
    scalars[[word.PRIMAL_STEP, word.PIVOT]] = step, pivot
    scalars[word.DUAL_STEP] = a.reduced_cost[control[word.ENTERING]] / pivot


def update_primal(a: SimpleNamespace) -> None:
    """Make a primal pivot, or flip the entering variable to its other bound."""
    control, scalars = a.control, a.scalars
    if control[word.STATUS] != RUNNING:
        return
    q, step = control[word.ENTERING], control[word.DIRECTION] * scalars[word.PRIMAL_STEP]
    if control[word.FLIP_ONLY] == 1:
        a.x_basic -= step * a.alpha
        up = a.status[q] == LOWER
        a.x[q], a.status[q] = (a.upper[q], UPPER) if up else (a.lower[q], LOWER)
    else:
        made, r = control[word.PIVOTS] - 1, control[word.POSITION]
        if not is_accurate(scalars[word.PIVOT], a.alpha_rows[made, q], scalars):
            control[word.STATUS] = INACCURATE
            return
        a.pivot_log[made] = r, control[word.LEAVING], q
        _update_positions(a, made, r, q, step)
        _update_variables(a, a.alpha_rows[made])
    if scalars[word.WEIGHT] > LARGEST_DEVEX_WEIGHT:
        a.weights[:] = 1.0
    leave_best(a, merit_of(a))


def _update_positions(a: SimpleNamespace, made: int, r: int, q: int, step: float) -> None:
    """Change basic values and the basis, and append an eta column."""
    pivot = a.scalars[word.PIVOT]
    a.x_basic -= step * a.alpha
    a.etas[:, made] = -a.alpha / pivot
    a.x_basic[r] = a.scalars[word.ENTERING_VALUE] + step
    a.lower_basic[r], a.upper_basic[r], a.basic[r] = a.lower[q], a.upper[q], q
    a.etas[r, made] = 1.0 / pivot - 1.0


def _update_variables(a: SimpleNamespace, row: np.ndarray) -> None:
    """Change reduced costs, weights and statuses by the pivot row."""
    control, scalars = a.control, a.scalars
    q, leaving, to_upper = (control[k] for k in (word.ENTERING, word.LEAVING, word.TO_UPPER))
    pivot, weight = scalars[word.PIVOT], scalars[word.WEIGHT]
    moved = a.status != BASIC
    moved[q] = False
    share = row[moved] / pivot
    a.reduced_cost[moved] -= scalars[word.DUAL_STEP] * row[moved]
    a.weights[moved] = np.maximum(a.weights[moved], share * share * weight)
    a.reduced_cost[[q, leaving]] = 0.0, -scalars[word.DUAL_STEP]
    a.x[leaving] = (a.upper if to_upper else a.lower)[leaving] = scalars[word.BOUND]
    at_upper = to_upper and a.lower[leaving] != a.upper[leaving]
    a.status[[q, leaving]] = BASIC, UPPER if at_upper else LOWER
    a.weights[leaving] = max(weight / (pivot * pivot), 1.0)
