"""The kernels of ``iterate.py`` in NumPy: the specification, and what runs without a GPU.

A reduction leaves its result in the first of its parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import phase_one_cost
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.rules import entering, leaving, ratios

Ints = npt.NDArray[np.int32]


def price(
    columns: int, lanes: int, parts: int, starts: Ints, rows: Ints, values: FloatArray,
    cost: FloatArray, y: FloatArray, pivot_row: FloatArray, position: Ints, basic_cost: FloatArray,
    weight: FloatArray, reduced: FloatArray, offers: FloatArray, control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Compute reduced costs, Devex weights, and the best candidate."""
    if control[word.STOP] == word.RUNNING and control[word.ITERATION] >= control[word.LIMIT]:
        control[word.STOP] = word.BATCH_DONE
    if control[word.STOP] != word.RUNNING:
        return
    control[word.COSTS_MOVED] = 0.0
    transposed = SparseRows(values, rows, starts, (columns, y.size))
    basic = position[:columns] >= 0
    own = cost if control[word.PHASE] == 2 else np.zeros(columns)
    reduced[:] = own - transposed.times(y)
    reduced[basic] += basic_cost[position[:columns][basic]] - own[basic]
    reached = transposed.times(pivot_row) ** 2 * control[word.ENTERING_WEIGHT]
    weight[:] = np.where(basic, 1.0, np.maximum(weight, reached))
    q = entering(reduced, weight, ~basic, control)
    key = 1.0 if control[word.BLAND] else reduced[q] ** 2 / weight[q] if q >= 0 else 0.0
    _leave(offers, key, q, np.max(np.abs(reduced[basic]), initial=0.0))


def direction(
    size: int, stride: int, columns: int, parts: int, starts: Ints, rows: Ints, values: FloatArray,
    offered: int, reduced: FloatArray, weight: FloatArray, offers: FloatArray, inverse: FloatArray,
    x: FloatArray, basic: Ints, d: FloatArray, nearest: FloatArray, control: FloatArray,
    threads: int,
) -> None:  # fmt: skip
    """Compute d = B^-1 a_q and the smallest relaxed ratio."""
    if control[word.STOP] != word.RUNNING:
        return
    _, q, error = _left(offers)
    control[[word.DUAL_ERROR, word.ENTERING]] = error, q
    if q >= 0:
        control[[word.ENTERING_COST, word.ENTERING_WEIGHT]] = reduced[q], weight[q]
    if error > control[word.ERROR_ALLOWED] and control[word.SINCE_INVERSE] > 0:
        control[word.STOP] = word.INACCURATE
    elif q < 0:
        control[word.STOP] = word.NO_CANDIDATE
    if control[word.STOP] != word.RUNNING:
        return
    own = slice(starts[q], starts[q + 1])
    d[:] = values[own] @ inverse.reshape(size, stride)[rows[own], :size]
    _, relaxed = ratios(x, d, basic >= columns, control)
    i = int(np.argmin(relaxed))
    _leave(nearest, -relaxed[i], i if relaxed[i] < np.inf else -1)


def choose(
    size: int, columns: int, parts: int, x: FloatArray, basic: Ints, d: FloatArray,
    nearest: FloatArray, chosen: FloatArray, control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Choose the leaving position."""
    if control[word.STOP] != word.RUNNING:
        return
    closest, i, _ = _left(nearest)
    if i < 0:
        control[word.STOP] = word.NO_RATIO
        return
    exact, _ = ratios(x, d, basic >= columns, control)
    r = leaving(exact, -closest, d, basic, control)
    _leave(chosen, -basic[r] if control[word.BLAND] else abs(d[r]), r, exact[r])


def make_pivot(
    size: int, stride: int, columns: int, parts: int, inverse: FloatArray, d: FloatArray,
    cost: FloatArray, chosen: FloatArray, x: FloatArray, basic: Ints, position: Ints,
    basic_cost: FloatArray, pivot_row: FloatArray, control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Make the pivot, except for the inverse."""
    if control[word.STOP] != word.RUNNING:
        return
    _, r, step = _left(chosen)
    if not exchange(r, step, d[r], basic, position, control):
        return
    pivot_row[:] = inverse.reshape(size, stride)[:, r] / d[r]
    x -= step * d
    x[r] = step
    if control[word.PHASE] == 2:
        basic_cost[r] = cost[basic[r]]
        return
    costs = phase_one_cost(x, basic >= columns, control[word.PRIMAL_TOLERANCE])
    costs[r] = basic_cost[r] = 0.0
    if (costs != basic_cost).any():
        control[word.COSTS_MOVED] = 1.0
    basic_cost[:] = costs


def update(
    size: int, stride: int, team: int, d: FloatArray, pivot_row: FloatArray,
    basic_cost: FloatArray, inverse: FloatArray, y: FloatArray, control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Update columns of the inverse that change, and y with them."""
    if control[word.STOP] != word.RUNNING:
        return
    every = control[word.COSTS_MOVED] != 0.0
    changed: Any = slice(None) if every else np.flatnonzero(pivot_row)
    whole = inverse.reshape(size, stride)[:, :size]
    found = whole[changed] - pivot_row[changed, None] * d
    found[:, int(control[word.LEAVING])] = pivot_row[changed]
    whole[changed] = found
    y[changed] = found @ basic_cost


def exchange(
    r: int, step: float, pivot: float, basic: Ints, position: Ints, control: FloatArray
) -> bool:
    """Exchange the entering variable and the one at r, or say that the pivot is too small."""
    if abs(pivot) < control[word.SAFE_PIVOT]:
        fresh = control[word.SINCE_INVERSE] == 0
        control[word.STOP] = word.SMALL_PIVOT if fresh else word.INACCURATE
        return False
    q = int(control[word.ENTERING])
    position[basic[r]], position[q], basic[r] = -1, r, q
    control[[word.LEAVING, word.STEP, word.PIVOT]] = r, step, pivot
    control[[word.ITERATION, word.SINCE_INVERSE]] += 1.0
    control[word.DEGENERATE] += step * -control[word.ENTERING_COST] <= 0.0
    return True


def _leave(parts: FloatArray, key: float, index: int, other: float = 0.0) -> None:
    """Write the result of a reduction."""
    triples = parts.reshape(-1, word.SLOTS)
    triples[:] = 0.0, -1.0, 0.0
    triples[0] = key, index, other


def _left(parts: FloatArray) -> tuple[float, int, float]:
    """Return the result of the last reduction."""
    key, index, other = parts[: word.SLOTS]
    return float(key), int(index), float(other)
