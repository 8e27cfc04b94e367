"""Cliques from pairs of literals, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled

LONGEST = 64
"""Literals of a clique put together from pairs: testing a literal takes a search for each."""

TRIED = 256
"""Later literals tried for a clique, so that one in very many pairs does not take forever."""

MOST_WORK = 300_000_000
"""Places of cliques looked at when pairs are compared with those of the rows: about a second."""

ROOM = 6
"""Literals of all cliques together, for each entry of a pair that needs one."""


@compiled
def apart(pairs, literal_start, literal_clique):
    """Return which pairs (p,) of literals share no clique; too many of them are not looked at."""
    found = np.zeros(pairs.shape[0], dtype=np.bool_)
    work = 0
    for at in range(pairs.shape[0]):
        if work > MOST_WORK:
            break
        found[at] = True
        one, end_one = literal_start[pairs[at, 0]], literal_start[pairs[at, 0] + 1]
        two, end_two = literal_start[pairs[at, 1]], literal_start[pairs[at, 1] + 1]
        while one < end_one and two < end_two:
            work += 1
            if literal_clique[one] == literal_clique[two]:
                found[at] = False
                break
            if literal_clique[one] < literal_clique[two]:
                one += 1
            else:
                two += 1
    return found


@compiled
def _find(start, other, one, two):
    """Return the place of ``two`` among the rising literals that ``one`` excludes, or -1."""
    low, high = start[one], start[one + 1]
    while low < high:
        middle = (low + high) // 2
        if other[middle] < two:
            low = middle + 1
        else:
            high = middle
    return low if low < start[one + 1] and other[low] == two else -1


@compiled
def _extend(start, other, entry, last, members, used, most):
    """Add to a clique of two what later entries exclude all of it; return its size.

    Its literals stand from ``members[used]`` on; the first one's entries end before ``last``.
    """
    size = 2
    for next_entry in range(entry + 1, min(last, entry + 1 + TRIED)):
        if size >= most:
            break
        fits = True
        for at in range(1, size):
            if _find(start, other, members[used + at], other[next_entry]) < 0:
                fits = False
                break
        if fits:
            members[used + size] = other[next_entry]
            size += 1
    return size


@compiled
def grow(start, other, covered):
    """Return sizes (k,) and literals of cliques that together hold every pair not covered yet.

    Literal l excludes ``other[start[l]:start[l+1]]``, rising, and they exclude it. ``covered``
    tells the pairs that need no clique; it is written to. A clique begins with such a pair and
    takes in other literals as long as there is room: cliques may overlap, so that room for six
    literals a pair is not always enough.
    """
    left = covered.size - np.count_nonzero(covered)  # every pair stands there both ways
    sizes = np.empty(left, dtype=np.int64)
    members = np.empty(ROOM * left + LONGEST, dtype=np.int32)
    cliques, used = 0, 0
    for literal in range(start.size - 1):
        for entry in range(start[literal], start[literal + 1]):
            if covered[entry] or other[entry] < literal:
                continue
            members[used], members[used + 1] = literal, other[entry]
            most = min(LONGEST, members.size - used - 2 * (left - cliques))
            size = _extend(start, other, entry, start[literal + 1], members, used, most)
            for at in range(size):  # its pairs need no clique of their own
                for later in range(at + 1, size):
                    one, two = members[used + at], members[used + later]
                    covered[_find(start, other, one, two)] = True
            used += size
            sizes[cliques] = size
            cliques += 1
    return sizes[:cliques], members[:used].copy()
