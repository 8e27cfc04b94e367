"""Tabu search for packings: one item in or out at a time, across the border of what fits.

A move is judged by what the item is worth beyond the capacity that it takes, less a price on
violation. That price rises while packings are too heavy and falls while they fit, so that the
search swings across the border, where the good packings are (strategic oscillation: Glover and
Kochenberger, "Critical event tabu search for multidimensional knapsack problems", 1996). With
nearly all of the duals' price charged for capacity, room left over counts as almost as good as
filled, and the search is about reduced costs, like the packings that it looks for; with profits
alone it mostly moves the cheapest items to and fro, and found none of the published optima that it
now finds in a second. Weights and profits are whole numbers below 2^50 in doubles, so that what
fits is exact, and a pass over a row of the weights is one over neighbouring numbers.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.rows.node import Int8Array
from solvers.problem import FloatArray

SHORTEST_TENURE = 5
"""Moves for which an item stays as it is after its own, at least; it keeps small cycles out."""

TENURES = 12
"""How many tenures there are; one is drawn at random for each move."""

PATIENCE = 3
"""Moves on one side of the border after which prices change."""

FACTOR = 1.08
"""By which they change."""

FIRST, LIGHTEST, HEAVIEST = 0.5, 0.02, 20.0
"""First, least and largest multiple of the given prices."""

RESTART = 20_000
"""Moves without a better packing after which the search goes back to the best one."""

MULTIPLIER, INCREMENT, HIGH_BITS = 6364136223846793005, 1442695040888963407, 33
"""Of the linear congruential generator in 64 bits (Knuth, "The Art of Computer Programming", 2,
section 3.3.4); its high bits are the random ones."""


@compiled
def _violations(
    weight: FloatArray, price: FloatArray, left: FloatArray, sign: FloatArray, violation: FloatArray
) -> None:
    """Compute the priced violation after the move of each item."""
    violation[:] = 0.0
    for i in range(price.size):
        room, rate = left[i], price[i]
        for f in range(sign.size):
            excess = sign[f] * weight[i, f] - room
            excess = excess if excess > 0.0 else 0.0
            violation[f] += rate * excess


@compiled
def tabu_search(  # noqa: C901 (one hot loop)
    weight: FloatArray,
    capacity: FloatArray,
    price: FloatArray,
    worth: FloatArray,
    value: FloatArray,
    packing: Int8Array,
    profit: float,
    moves: int,
    seed: int,
    stop: Int8Array,
) -> float:
    """Improve a packing that fits, in place; return its profit.

    Parameters
    ----------
    weight : (m, k) float64 array
        Whole numbers, like ``capacity`` and ``value``.
    capacity : (m,) float64 array
    price : (m,) float64 array
        Positive price of a unit of violation of each capacity.
    worth : (k,) float64 array
        What each item counts for.
    value : (k,) float64 array
        Profits.
    packing : (k,) int8 array
        The packing at the beginning, and the best found at the end.
    profit : float
        Of that packing, items that do not take part included.
    moves, seed : int
    stop : (1,) int8 array
        The search ends where this is set.
    """
    m, k = weight.shape
    until = np.zeros(k, dtype=np.int64)
    sign = np.where(packing == 1, -1.0, 1.0)
    violation = np.zeros(k)
    left = capacity.copy()
    for f in range(k):
        if packing[f] == 1:
            for i in range(m):
                left[i] -= weight[i, f]
    current, best, last = profit, profit, 0
    state = np.uint64(seed) * np.uint64(INCREMENT) + np.uint64(1)
    multiple, streak, fitted = FIRST, 0, True
    for move in range(1, moves + 1):
        if stop[0] != 0:
            break
        _violations(weight, price, left, sign, violation)
        chosen, top = -1, -np.inf
        for f in range(k):
            gain = sign[f] * worth[f] - multiple * violation[f]
            if gain <= top:
                continue
            is_best = violation[f] == 0.0 and current + sign[f] * value[f] > best
            if move > until[f] or is_best:
                top, chosen = gain, f
        if chosen < 0:
            continue
        step = sign[chosen]
        sign[chosen] = -step
        current += step * value[chosen]
        fits = True
        for i in range(m):
            left[i] -= step * weight[i, chosen]
            fits = fits and left[i] >= 0.0
        state = state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)
        draw = np.int64(state >> np.uint64(HIGH_BITS)) % TENURES
        until[chosen] = move + SHORTEST_TENURE + draw
        streak = streak + 1 if fits == fitted else 1
        fitted = fits
        if streak >= PATIENCE:
            streak = 0
            multiple = multiple / FACTOR if fits else multiple * FACTOR
            multiple = min(max(multiple, LIGHTEST), HEAVIEST)
        if fits and current > best:
            best, last = current, move
            for f in range(k):
                packing[f] = 1 if sign[f] < 0.0 else 0
        elif move - last >= RESTART:
            last, current = move, best
            for f in range(k):
                wanted = -1.0 if packing[f] == 1 else 1.0
                if sign[f] != wanted:
                    for i in range(m):
                        left[i] -= sign[f] * weight[i, f]
                    sign[f] = wanted
    return best
