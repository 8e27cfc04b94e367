"""What both ratio tests share: break points, passed while the objective gains by it.

Along a step t candidate k reaches its break point at ``chosen_cost[k] / chosen_size[k]``, and the
slope of the objective lessens by ``chosen_loss[k]`` there; the step may go on while the slope is
positive. Candidates whose ratios differ by less than the tolerance make a group (Harris 1973), and
the pivot is the largest in one of the last groups (Koberstein 2005, section 6.2). An infinite loss
ends the step: if all are, there is one group, and this is Harris's test.
"""

from __future__ import annotations

import numpy as np

from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import IntArray, Vectors

FIRST_REACH = 1e-7
"""Step up to which candidates are gathered first, and then up to ten times more each time."""

GOOD_PIVOT = 0.1
"""A pivot of this part of the largest one, or of size one, is good enough."""


@inner
def pivot_tolerance(updates: int) -> float:
    """Return the size from which entries may be pivots after so many updates (HiGHS's table)."""
    if updates < 10:
        return 1e-9
    return 3e-8 if updates < 20 else 1e-6


@inner
def pivot_error(by_row: float, by_column: float) -> float:
    """Return the relative difference of a pivot element computed in two ways."""
    return abs(by_row - by_column) / (min(abs(by_row), abs(by_column)) + 1e-300)


@inner
def swap_candidates(vectors: Vectors, a: int, b: int) -> None:
    """Exchange two candidates."""
    chosen, size, cost = vectors.chosen, vectors.chosen_size, vectors.chosen_cost
    loss = vectors.chosen_loss
    chosen[a], chosen[b] = chosen[b], chosen[a]
    size[a], size[b] = size[b], size[a]
    cost[a], cost[b] = cost[b], cost[a]
    loss[a], loss[b] = loss[b], loss[a]


@inner
def gather_near(vectors: Vectors, count: int, slope: float) -> int:
    """Bring the candidates up to a step at which the slope is used up to the front.

    Returns how many; all of them may not be enough.
    """
    reach = FIRST_REACH
    near = 0
    lost = 0.0
    while near < count and lost <= slope:
        furthest = np.inf
        for k in range(near, count):
            size = vectors.chosen_size[k]
            cost = vectors.chosen_cost[k]
            if cost <= reach * size:
                lost += vectors.chosen_loss[k]
                swap_candidates(vectors, k, near)
                near += 1
            elif cost < furthest * size:
                furthest = cost / size
        reach = max(10.0 * reach, furthest)
    return near


@inner
def split_groups(vectors: Vectors, near: int, slope: float, tolerance: float) -> tuple[int, float]:
    """Order the first candidates by groups of like ratios until the slope is used up.

    ``group`` gets the end of each group. Returns their number and the slope left, positive where
    even passing all candidates would not make the leaving variable feasible.
    """
    groups = 0
    first = 0
    left = slope
    while first < near and left >= 0.0:
        step = np.inf
        for k in range(first, near):
            size = vectors.chosen_size[k]
            relaxed = vectors.chosen_cost[k] + tolerance
            if relaxed < step * size:
                step = relaxed / size
        end = first
        for k in range(first, near):
            size = vectors.chosen_size[k]
            if vectors.chosen_cost[k] <= step * size:
                left -= vectors.chosen_loss[k]
                swap_candidates(vectors, k, end)
                end += 1
        if end == first:  # rounding: take the one that gave the step
            end = near
        vectors.group[groups] = end
        groups += 1
        first = end
    return groups, left


@inner
def choose_pivot(order: IntArray, vectors: Vectors, groups: int) -> tuple[int, int]:
    """Return the candidate of the largest pivot in a late group, and its group's first place."""
    largest = 0.0
    for k in range(vectors.group[groups - 1]):
        largest = max(largest, vectors.chosen_size[k])
    wanted = min(GOOD_PIVOT * largest, 1.0)
    best, best_first, best_size = -1, 0, 0.0
    for g in range(groups - 1, -1, -1):
        first = vectors.group[g - 1] if g > 0 else 0
        at, size = -1, 0.0
        for k in range(first, vectors.group[g]):
            here = vectors.chosen_size[k]
            if here > size or (
                here == size and at >= 0 and order[vectors.chosen[k]] < order[vectors.chosen[at]]
            ):
                at, size = k, here
        if size >= wanted:
            return at, first
        if size > best_size:
            best, best_first, best_size = at, first, size
    return best, best_first
