"""Tabu search for packings: one item in or out at a time, across the border of what fits.

A move is judged by what the item is worth beyond the capacity that it takes, less a price on
violation. That price rises while packings are too heavy and falls while they fit, so that the
search swings across the border, where the good packings are (strategic oscillation: Glover and
Kochenberger, "Critical event tabu search for multidimensional knapsack problems", 1996). With
nearly all of the duals' price charged for capacity, room left over counts as almost as good as
filled, and the search is about reduced costs, like the packings that it looks for; with profits
alone it mostly moves the cheapest items to and fro, and found none of the published optima that it
now finds in a second. Loads are whole numbers, so that what fits is exact.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.rows.node import Int8Array, Int32Array, Rows
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
def tabu_search(  # noqa: C901 (one hot loop)
    rows: Rows,
    capacity: IntArray,
    price: FloatArray,
    worth: FloatArray,
    items: Int32Array,
    packing: Int8Array,
    profit: int,
    moves: int,
    seed: int,
    stop: Int8Array,
) -> int:
    """Improve a packing that fits, in place; return its profit.

    Parameters
    ----------
    rows : Rows
        Without equations.
    capacity : (m,) int64 array
    price : (m,) float64 array
        Positive price of a unit of violation of each capacity.
    worth : (n,) float64 array
        What each item counts for.
    items : int32 array
        Those that may move.
    packing : (n,) int8 array
        The packing at the beginning, and the best found at the end.
    profit : int
        Of that packing.
    moves, seed : int
    stop : (1,) int8 array
        The search ends where this is set.
    """
    n, m = rows.weight.shape
    weight, value = rows.weight, rows.profit
    x = packing.copy()
    until = np.zeros(n, dtype=np.int64)
    left = capacity.copy()
    for j in range(n):
        if x[j] == 1:
            for i in range(m):
                left[i] -= weight[j, i]
    current, best, last = profit, profit, 0
    state = np.uint64(seed) * np.uint64(INCREMENT) + np.uint64(1)
    multiple, streak, fitted = FIRST, 0, True
    for move in range(1, moves + 1):
        if stop[0] != 0:
            break
        chosen, top = -1, -np.inf
        for f in range(items.size):
            j = items[f]
            sign = -1 if x[j] == 1 else 1
            violation = 0.0
            fits = True
            for i in range(m):
                after = left[i] - sign * weight[j, i]
                if after < 0:
                    fits = False
                    violation -= price[i] * after
            gain = sign * worth[j] - multiple * violation
            is_best = fits and current + sign * value[j] > best
            if (move > until[j] or is_best) and gain > top:
                top, chosen = gain, j
        if chosen < 0:
            continue
        sign = -1 if x[chosen] == 1 else 1
        x[chosen] = 1 if sign == 1 else 0
        current += sign * value[chosen]
        fits = True
        for i in range(m):
            left[i] -= sign * weight[chosen, i]
            fits = fits and left[i] >= 0
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
            for j in range(n):
                packing[j] = x[j]
        elif move - last >= RESTART:
            last, current = move, best
            for i in range(m):
                left[i] = capacity[i]
            for j in range(n):
                x[j] = packing[j]
                if x[j] == 1:
                    for i in range(m):
                        left[i] -= weight[j, i]
    return best
