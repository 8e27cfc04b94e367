"""What a dual pivot changes (``dual_update.py``), in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.control import INACCURATE, RUNNING
from solvers.simplex.dense_gpu.kernels.rules import (
    LEAST_WEIGHT,
    infeasibility_of,
    is_accurate,
    leave_best,
)
from solvers.simplex.state import BASIC, LOWER, UPPER


def update_dual(a: SimpleNamespace) -> None:
    """Make a dual pivot."""
    control, scalars = a.control, a.scalars
    if control[word.STATUS] != RUNNING:
        return
    made, r = control[word.MADE], control[word.POSITION]
    if not is_accurate(a.alpha[r], scalars[word.PIVOT], scalars):
        control[word.STATUS] = INACCURATE
        return
    a.pivot_log[made] = r, control[word.LEAVING], control[word.ENTERING]
    control[word.PIVOTS] = made + 1
    control[word.ITERATIONS] += 1
    control[word.ALL_FLIPS] += control[word.FLIPS]
    a.cost[control[word.ENTERING]] -= scalars[word.COST_SHIFT]
    _flip(a)
    _update_positions(a)
    leave_best(a, infeasibility_of(a))
    _update_variables(a)


def _flip(a: SimpleNamespace) -> None:
    """Make the flips before the pivot."""
    count = a.control[word.FLIPS]
    flips, up = a.flips[:count], a.flip_steps[:count] > 0.0
    a.x[flips] = np.where(up, a.upper[flips], a.lower[flips])
    a.status[flips] = np.where(up, UPPER, LOWER)


def _update_positions(a: SimpleNamespace) -> None:
    """Change weights, basic values and the basis, and append an eta column."""
    control, scalars = a.control, a.scalars
    made, r, q = (control[k] for k in (word.MADE, word.POSITION, word.ENTERING))
    pivot, norm = a.alpha[r], scalars[word.NORM]
    step = (scalars[word.VALUE] - a.beta[r] - scalars[word.BOUND]) / pivot
    share = a.alpha / pivot
    if a.steepest == 1:
        weights, least = a.weights + share * (share * norm - 2.0 * a.tau), LEAST_WEIGHT
        np.maximum(weights, least, out=a.weights)
    else:
        least = 1.0
        np.maximum(a.weights, share * share * norm, out=a.weights)
    a.weights[r] = max(norm / (pivot * pivot), least)
    if control[word.RESET] == 1:
        a.weights[:] = 1.0
    a.x_basic -= a.beta
    a.x_basic -= step * a.alpha
    a.etas[:, made] = -share
    a.x_basic[r] = scalars[word.ENTERING_VALUE] + step
    a.lower_basic[r], a.upper_basic[r], a.basic[r] = a.lower[q], a.upper[q], q
    a.etas[r, made] = 1.0 / pivot - 1.0


def _update_variables(a: SimpleNamespace) -> None:
    """Change reduced costs and statuses by the pivot row."""
    control, scalars = a.control, a.scalars
    q, leaving, step = control[word.ENTERING], control[word.LEAVING], scalars[word.DUAL_STEP]
    row = a.alpha_rows[control[word.MADE]]
    a.reduced_cost -= np.where(a.status != BASIC, step * row, 0.0)
    a.reduced_cost[[q, leaving]] = 0.0, -step
    below = scalars[word.EXCESS] < 0.0 or a.lower[leaving] == a.upper[leaving]
    a.status[[q, leaving]] = BASIC, LOWER if below else UPPER
    a.x[leaving] = scalars[word.BOUND]
    if control[word.RESET] == 1:
        a.reference[:] = a.status == BASIC
