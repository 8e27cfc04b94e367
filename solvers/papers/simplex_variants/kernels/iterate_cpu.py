"""The kernels of ``iterate.py`` in NumPy: the specification, and what runs without a GPU.

A reduction leaves its result in the first of its parts.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import phase_one_cost
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.rules import entering, leaving, ratios


def price(a: SimpleNamespace) -> None:
    """Compute reduced costs, Devex weights, and the best candidate."""
    control = a.control
    if control[word.STOP] == word.RUNNING and control[word.ITERATION] >= control[word.LIMIT]:
        control[word.STOP] = word.BATCH_DONE
    if control[word.STOP] != word.RUNNING:
        return
    control[word.COSTS_MOVED] = 0.0
    transposed = SparseRows(a.values, a.rows, a.starts, (a.columns, a.y.size))
    position = a.position[: a.columns]
    basic = position >= 0
    cost = a.cost.copy() if control[word.PHASE] == 2 else np.zeros(a.columns)
    cost[basic] = a.basic_cost[position[basic]]
    a.reduced[:] = cost - transposed.times(a.y)
    reached = transposed.times(a.pivot_row) ** 2 * control[word.ENTERING_WEIGHT]
    a.weight[:] = np.where(basic, 1.0, np.maximum(a.weight, reached))
    q = entering(a.reduced, a.weight, ~basic, control)
    key = 0.0
    if q >= 0:
        key = 1.0 if control[word.BLAND] else a.reduced[q] ** 2 / a.weight[q]
    _leave(a.offers, key, q, np.max(np.abs(a.reduced[basic]), initial=0.0))


def direction(a: SimpleNamespace) -> None:
    """Compute d = B^-1 a_q and the smallest relaxed ratio."""
    control = a.control
    if control[word.STOP] != word.RUNNING:
        return
    _, q, error = _left(a.offers)
    control[[word.DUAL_ERROR, word.ENTERING]] = error, q
    if q >= 0:
        control[[word.ENTERING_COST, word.ENTERING_WEIGHT]] = a.reduced[q], a.weight[q]
    if error > control[word.ERROR_ALLOWED] and control[word.SINCE_INVERSE] > 0:
        control[word.STOP] = word.INACCURATE
    elif q < 0:
        control[word.STOP] = word.NO_CANDIDATE
    if control[word.STOP] != word.RUNNING:
        return
    own = slice(a.starts[q], a.starts[q + 1])
    a.d[:] = a.values[own] @ whole_inverse(a)[a.rows[own]]
    _, relaxed = ratios(a.x, a.d, a.basic >= a.columns, control)
    i = int(np.argmin(relaxed))
    _leave(a.nearest, -relaxed[i], i if relaxed[i] < np.inf else -1)


def choose(a: SimpleNamespace) -> None:
    """Choose the leaving position."""
    if a.control[word.STOP] != word.RUNNING:
        return
    closest, i, _ = _left(a.nearest)
    if i < 0:
        a.control[word.STOP] = word.NO_RATIO
        return
    exact, _ = ratios(a.x, a.d, a.basic >= a.columns, a.control)
    r = leaving(exact, -closest, a.d, a.basic, a.control)
    key = -a.basic[r] if a.control[word.BLAND] else abs(a.d[r])
    _leave(a.chosen, key, r, exact[r])


def make_pivot(a: SimpleNamespace) -> None:
    """Make the pivot, except for the inverse."""
    control = a.control
    if control[word.STOP] != word.RUNNING:
        return
    _, r, step = _left(a.chosen)
    if not exchange(a, r, step):
        return
    a.pivot_row[:] = whole_inverse(a)[:, r] / a.d[r]
    a.x -= step * a.d
    a.x[r] = step
    if control[word.PHASE] == 2:
        a.basic_cost[r] = a.cost[a.basic[r]]
        return
    costs = phase_one_cost(a.x, a.basic >= a.columns, control[word.PRIMAL_TOLERANCE])
    costs[r] = a.basic_cost[r] = 0.0
    if (costs != a.basic_cost).any():
        control[word.COSTS_MOVED] = 1.0
    a.basic_cost[:] = costs


def update(a: SimpleNamespace) -> None:
    """Update columns of the inverse that change, and y with them."""
    if a.control[word.STOP] != word.RUNNING:
        return
    every = a.control[word.COSTS_MOVED] != 0.0
    changed: Any = slice(None) if every else np.flatnonzero(a.pivot_row)
    whole, rho = whole_inverse(a), a.pivot_row[changed]
    found = whole[changed] - rho[:, None] * a.d
    found[:, int(a.control[word.LEAVING])] = rho
    whole[changed] = found
    a.y[changed] = found @ a.basic_cost


def exchange(a: SimpleNamespace, r: int, step: float) -> bool:
    """Exchange the entering variable and the one at r, or say that the pivot is too small."""
    control, pivot = a.control, a.d[r]
    if abs(pivot) < control[word.SAFE_PIVOT]:
        fresh = control[word.SINCE_INVERSE] == 0
        control[word.STOP] = word.SMALL_PIVOT if fresh else word.INACCURATE
        return False
    q = int(control[word.ENTERING])
    a.position[a.basic[r]], a.position[q], a.basic[r] = -1, r, q
    control[[word.LEAVING, word.STEP, word.PIVOT]] = r, step, pivot
    control[[word.ITERATION, word.SINCE_INVERSE]] += 1.0
    control[word.DEGENERATE] += step * -control[word.ENTERING_COST] <= 0.0
    return True


def whole_inverse(a: SimpleNamespace) -> FloatArray:
    """Return the inverse (m, m), column k of which is row k here."""
    whole: FloatArray = a.inverse.reshape(a.size, a.stride)[:, : a.size]
    return whole


def _leave(parts: FloatArray, key: float, index: int, other: float = 0.0) -> None:
    """Write the result of a reduction."""
    triples = parts.reshape(-1, word.SLOTS)
    triples[:] = 0.0, -1.0, 0.0
    triples[0] = key, index, other


def _left(parts: FloatArray) -> tuple[float, int, float]:
    """Return the result of the last reduction."""
    key, index, other = parts[: word.SLOTS]
    return float(key), int(index), float(other)
