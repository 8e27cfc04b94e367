"""Triangular solves: by a search of what they reach where that is little, else in order.

The search is J. R. Gilbert's and T. Peierls' (SIAM J. Sci. Stat. Comput. 9, 1988): a result's
nonzeros are the labels that the input's can reach along entries of the factor, and a depth-first
search finds them in an order in which the solve may go, in time that the dimension does not enter.
Whether it is worth a try is told by the results that inputs of like size have had so far.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import SOLVE_WORK, Int32Array, Int64Array, Scratch, Triangle
from solvers.simplex.factor.inner import inner

HYPERSPARSE_BELOW = 0.1
"""Share of nonzeros below which a search pays (J. A. J. Hall and K. I. M. McKinnon,
Hyper-sparsity in the revised simplex method, Comput. Optim. Appl. 32, 2005)."""

INPUT_BELOW = 0.05
"""Share of nonzeros in an input from which no search is tried: results have more."""

MEMORY = 0.9
"""Weight of the past in the predicted share of nonzeros."""

DROP = 1e-14
"""Results no larger are rounding errors of cancelled terms, for inputs of size one or more; a
smaller input is measured by its largest entry."""


CALL_WORK = 100
"""Steps of a solve that take the time of what every solve with a triangle begins with."""


@inner
def reach(
    begin: Int64Array,
    end: Int64Array,
    indices: Int32Array,
    pattern: Int32Array,
    count: int,
    mark: npt.NDArray[np.uint8],
    stack: Int32Array,
    edge: Int64Array,
    reached: Int32Array,
    most: int,
) -> int:
    """Put the labels reachable from a pattern into ``reached``, every one after all it reaches.

    Returns how many, with ``mark`` set for each; or -1, unmarked, if there are more than ``most``.
    """
    found = 0
    for place in range(count):
        seed = pattern[place]
        if mark[seed]:
            continue
        mark[seed] = 1
        depth = 0
        stack[0] = seed
        edge[0] = begin[seed]
        while depth >= 0:
            label = stack[depth]
            entry, last = edge[depth], end[label]
            while entry < last and mark[indices[entry]]:
                entry += 1
            if entry < last:
                edge[depth] = entry + 1
                following = indices[entry]
                mark[following] = 1
                depth += 1
                stack[depth] = following
                edge[depth] = begin[following]
                continue
            reached[found] = label
            found += 1
            depth -= 1
            if found > most:
                for which in range(found):
                    mark[reached[which]] = 0
                for which in range(depth + 1):
                    mark[stack[which]] = 0
                return -1
    return found


@inner
def solve_reached(
    triangle: Triangle, reached: Int32Array, found: int, vector: FloatArray, drop: float
) -> int:
    """Scatter from the labels found, last one first; return the entries that were visited."""
    pivot, begin, end = triangle.pivot, triangle.begin, triangle.end
    indices, values = triangle.indices, triangle.values
    has_pivot = pivot.size > 0
    work = 0
    for place in range(found - 1, -1, -1):
        label = reached[place]
        value = vector[label]
        if value == 0.0:
            continue
        scaled = value / pivot[label] if has_pivot else value
        if abs(value) <= drop and abs(scaled) <= drop:
            vector[label] = 0.0
            continue
        vector[label] = scaled
        work += end[label] - begin[label]
        for entry in range(begin[label], end[label]):
            vector[indices[entry]] -= values[entry] * scaled
    return work


@inner
def solve_in_order(triangle: Triangle, slots: int, vector: FloatArray, drop: float) -> int:
    """Scatter from every label that is not zero, in order; return the entries visited."""
    order, pivot, begin, end = triangle.order, triangle.pivot, triangle.begin, triangle.end
    indices, values = triangle.indices, triangle.values
    has_pivot, backward = pivot.size > 0, triangle.backward
    work = slots
    for slot in range(slots):
        label = order[slots - 1 - slot if backward else slot]
        if label < 0:
            continue
        value = vector[label]
        if value == 0.0:
            continue
        scaled = value / pivot[label] if has_pivot else value
        if abs(value) <= drop and abs(scaled) <= drop:
            vector[label] = 0.0
            continue
        vector[label] = scaled
        work += end[label] - begin[label]
        for entry in range(begin[label], end[label]):
            vector[indices[entry]] -= values[entry] * scaled
    return work


@inner
def solve_triangle(
    triangle: Triangle,
    slots: int,
    vector: FloatArray,
    pattern: Int32Array,
    count: int,
    drop: float,
    scratch: Scratch,
    density: FloatArray,
    counters: Int64Array,
) -> int:
    """Solve with one triangle in place; return how many labels the pattern lists then, or -1.

    The pattern that comes out may list zeros, but nothing twice.
    """
    m = vector.size
    counters[SOLVE_WORK] += CALL_WORK
    size, kind = count, 0
    while size > 1:
        size >>= 1
        kind += 1
    if 0 <= count <= INPUT_BELOW * m and density[kind] <= HYPERSPARSE_BELOW:
        found = reach(
            triangle.begin, triangle.end, triangle.indices, pattern, count,
            scratch.mark, scratch.stack, scratch.edge, scratch.reached,
            int(HYPERSPARSE_BELOW * m),
        )  # fmt: skip
        if found >= 0:
            work = solve_reached(triangle, scratch.reached, found, vector, drop)
            for place in range(found):
                label = scratch.reached[place]
                scratch.mark[label] = 0
                pattern[place] = label
            counters[SOLVE_WORK] += work + 3 * found
            density[kind] = MEMORY * density[kind] + (1.0 - MEMORY) * found / max(m, 1)
            return int(found)
        density[kind] = MEMORY * density[kind] + (1.0 - MEMORY)
        counters[SOLVE_WORK] += int(HYPERSPARSE_BELOW * m)
    counters[SOLVE_WORK] += solve_in_order(triangle, slots, vector, drop)
    if count >= 0:
        # towards a new trial: what was dense long ago may have become sparse
        density[kind] *= 1.0 - (1.0 - MEMORY) * HYPERSPARSE_BELOW
    return -1


@inner
def drop_below(vector: FloatArray, pattern: Int32Array, count: int) -> float:
    """Return the size up to which results of this input are dropped."""
    largest = 0.0
    if count < 0:
        for label in range(vector.size):
            largest = max(largest, abs(vector[label]))
    else:
        for place in range(count):
            largest = max(largest, abs(vector[pattern[place]]))
    return DROP * min(largest, 1.0)
