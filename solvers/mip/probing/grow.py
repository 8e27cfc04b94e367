"""Cliques from pairs of literals, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled

LONGEST = 64
"""Literals of a clique put together from pairs: testing a literal takes a search for each."""


@compiled
def apart(pairs, literal_start, literal_clique):
    """Return which pairs (p,) of literals share no clique."""
    found = np.ones(pairs.shape[0], dtype=np.bool_)
    for at in range(pairs.shape[0]):
        one, end_one = literal_start[pairs[at, 0]], literal_start[pairs[at, 0] + 1]
        two, end_two = literal_start[pairs[at, 1]], literal_start[pairs[at, 1] + 1]
        while one < end_one and two < end_two:
            if literal_clique[one] == literal_clique[two]:
                found[at] = False
                break
            if literal_clique[one] < literal_clique[two]:
                one += 1
            else:
                two += 1
    return found


@compiled
def _excludes(start, other, one, two):
    """Whether ``two`` is among the rising literals that ``one`` excludes."""
    low, high = start[one], start[one + 1]
    place = low + np.searchsorted(other[low:high], two)
    return place < high and other[place] == two


@compiled
def grow(start, other):
    """Return sizes (k,) and literals of cliques that hold every pair at least once.

    Literal l excludes ``other[start[l]:start[l+1]]``, rising, and they exclude it.
    """
    covered = np.zeros(other.size, dtype=np.bool_)
    sizes = np.empty(other.size, dtype=np.int64)
    members = np.empty(2 * other.size + LONGEST, dtype=np.int32)
    clique = np.empty(LONGEST, dtype=np.int64)
    cliques, used = 0, 0
    for literal in range(start.size - 1):
        for entry in range(start[literal], start[literal + 1]):
            if covered[entry] or other[entry] < literal:
                continue
            clique[0], clique[1] = literal, other[entry]
            size = 2
            for next_entry in range(entry + 1, start[literal + 1]):
                fits = not covered[next_entry]
                for at in range(1, size):
                    if not fits:
                        break
                    fits = _excludes(start, other, clique[at], other[next_entry])
                if fits:
                    clique[size] = other[next_entry]
                    size += 1
                    covered[next_entry] = True
                if size == LONGEST:
                    break
            for at in range(1, size):  # its pairs need no clique of their own
                one = clique[at]
                for later in range(at + 1, size):
                    low, high = start[one], start[one + 1]
                    covered[low + np.searchsorted(other[low:high], clique[later])] = True
            members[used : used + size] = np.sort(clique[:size])
            used += size
            sizes[cliques] = size
            cliques += 1
    return sizes[:cliques], members[:used].copy()
