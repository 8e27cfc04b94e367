"""The long loops of the clique table, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.model import FEASIBILITY_TOLERANCE

ROUNDING = 1e-11
"""Share of the size of a row's terms that their sum may be off by (100,000 terms in doubles)."""

PAIRS_PER_MEMBER = 20
"""Pairs of cliques compared for each literal in the table before the search for dominated ones
ends: it is to cost about as much as building the table."""


@compiled
def _weights(sign, first, last, column, value, lower, upper, binary, weight, literal):
    """Write the binary terms of ``sign * row`` as weights of literals.

    Returns their number, the smallest activity, the largest range of the other columns, and a sum
    of sizes for tolerances. Infinite activity or range says that there is no finite one.
    """
    count = 0
    smallest, others, size = 0.0, 0.0, 0.0
    for entry in range(first, last):
        j = column[entry]
        a = sign * value[entry]
        if binary[j]:
            weight[count] = abs(a)
            literal[count] = 2 * j + (1 if a > 0.0 else 0)
            count += 1
            smallest += min(a, 0.0)
            size += abs(a)
        elif a != 0.0:
            low = a * lower[j] if a > 0.0 else a * upper[j]
            high = a * upper[j] if a > 0.0 else a * lower[j]
            if np.isinf(low):
                return 0, -np.inf, np.inf, size
            smallest += low
            others += high - low
            size += abs(low)
    return count, smallest, others, size


@compiled
def _sort_falling(count, value):
    """Sort the first values in place, the largest first (Shell's method, compiled in no time)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            v = value[k]
            at = k
            while at >= gap and value[at - gap] < v:
                value[at] = value[at - gap]
                at -= gap
            value[at] = v
        gap //= 3


@compiled
def _to_front(count, length, falling, weight, literal):
    """Move the literals of the ``length`` largest weights to the front, in their order.

    Of equal weights the first ones belong to them.
    """
    least = falling[length - 1]
    ties = length
    for k in range(length):
        ties -= falling[k] > least
    front = 0
    for k in range(count):
        w = weight[k]
        if w > least or (w == least and ties > 0):
            ties -= w == least
            weight[front], weight[k] = w, weight[front]
            literal[front], literal[k] = literal[k], literal[front]
            front += 1


@compiled
def _clique_length(count, threshold, weight, literal, falling):
    """Move the literals of the clique to the front, in their order; return how many there are."""
    largest, second, least, next_least = 0.0, 0.0, np.inf, np.inf
    for k in range(count):
        w = weight[k]
        if w > largest:
            largest, second = w, largest
        elif w > second:
            second = w
        if w < least:
            least, next_least = w, least
        elif w < next_least:
            next_least = w
    if largest + second <= threshold:
        return 0
    if least + next_least > threshold:
        return count
    for k in range(count):
        falling[k] = weight[k]
    _sort_falling(count, falling)
    length = 2
    while length < count and falling[length - 1] + falling[length] > threshold:
        length += 1
    _to_front(count, length, falling, weight, literal)
    return length


@compiled
def collect(
    row_start, row_column, row_value, row_lower, row_upper, lower, upper, binary,
    start, member, is_equality, row, weight, literal, falling,
):  # fmt: skip
    """Write the cliques of all rows while there is room in ``member``; return their number."""
    cliques, entries = 0, 0
    for i in range(row_lower.size):
        first, last = row_start[i], row_start[i + 1]
        for sign in (1.0, -1.0):
            side = row_upper[i] if sign > 0.0 else -row_lower[i]
            other = row_lower[i] if sign > 0.0 else -row_upper[i]
            if np.isinf(side) or last - first < 2:
                continue
            count, smallest, others, size = _weights(
                sign, first, last, row_column, row_value, lower, upper, binary, weight, literal
            )
            if count < 2:
                continue
            slop = FEASIBILITY_TOLERANCE + ROUNDING * (size + abs(side))
            length = _clique_length(count, side - smallest + slop, weight, literal, falling)
            if length < 2:
                continue
            if entries + length > member.size or cliques == is_equality.size:
                return cliques
            rest = others
            for k in range(length, count):
                rest += weight[k]
            is_equality[cliques] = smallest + rest < other - slop
            for k in range(length):
                member[entries + k] = literal[k]
            entries += length
            row[cliques] = i
            cliques += 1
            start[cliques] = entries
    return cliques


@compiled
def by_literal(start, member, num_columns):
    """Return the index of cliques by literal: starts (2n+1,) and numbers of cliques."""
    literal_start = np.zeros(2 * num_columns + 1, dtype=np.int32)
    for literal in member:
        literal_start[literal + 1] += 1
    for literal in range(2 * num_columns):
        literal_start[literal + 1] += literal_start[literal]
    place = literal_start.copy()
    cliques = np.empty(member.size, dtype=np.int32)
    for clique in range(start.size - 1):
        for entry in range(start[clique], start[clique + 1]):
            literal = member[entry]
            cliques[place[literal]] = clique
            place[literal] += 1
    return literal_start, cliques


@compiled
def _contains(start, member, outer, inner):
    """Whether the rising literals of ``inner`` are all among those of ``outer``."""
    at, end = start[outer], start[outer + 1]
    for entry in range(start[inner], start[inner + 1]):
        literal = member[entry]
        while at < end and member[at] < literal:
            at += 1
        if at == end or member[at] != literal:
            return False
        at += 1
    return True


@compiled
def undominated(start, member, is_equality, literal_start, literal_clique):
    """Return which cliques (k,) do not lie within another one.

    A clique that equals an earlier one goes, and hands on that exactly one literal is true; one
    of which exactly one literal is true does not go for a larger one.
    """
    total = start.size - 1
    keep = np.ones(total, dtype=np.bool_)
    signature = np.zeros(total, dtype=np.uint64)
    for clique in range(total):
        bits = np.uint64(0)
        for entry in range(start[clique], start[clique + 1]):
            mixed = np.uint64(member[entry]) * np.uint64(0x9E3779B97F4A7C15)
            bits |= np.uint64(1) << (mixed >> np.uint64(58))
        signature[clique] = bits
    work = PAIRS_PER_MEMBER * member.size
    for inner in range(total):
        length = start[inner + 1] - start[inner]
        rarest = member[start[inner]]
        for entry in range(start[inner], start[inner + 1]):
            literal = member[entry]
            held = literal_start[literal + 1] - literal_start[literal]
            if held < literal_start[rarest + 1] - literal_start[rarest]:
                rarest = literal
        for place in range(literal_start[rarest], literal_start[rarest + 1]):
            outer = literal_clique[place]
            size = start[outer + 1] - start[outer]
            work -= 1
            if outer == inner or size < length or (size == length and outer > inner):
                continue
            if is_equality[inner] and (size > length or not keep[outer]):
                continue
            if signature[inner] & ~signature[outer]:
                continue
            work -= length + size
            if _contains(start, member, outer, inner):
                is_equality[outer] |= is_equality[inner]
                keep[inner] = False
                break
        if work < 0:
            break
    return keep
