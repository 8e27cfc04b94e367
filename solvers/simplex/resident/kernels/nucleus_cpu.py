"""Numba twins of ``nucleus.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin


@twin
def gather_basis(count, starts, indices, values, variables, place_of_row, nucleus, rest):
    """Write basic columns as dense ones."""
    for c in prange(count):
        j = variables[c]
        for k in range(starts[j], starts[j + 1]):
            place = place_of_row[indices[k]]
            if place >= 0:
                nucleus[place, c] = values[k]
            else:
                rest[-1 - place, c] = values[k]


@twin
def spread_inverse(rows, capacity, count, place_of_position, inner, outer, inverse):
    """Put the parts of the inverse together."""
    for p in prange(rows):
        place = place_of_position[p]
        for s in range(capacity):
            if s >= count:
                inverse[p, s] = 0.0
            elif place >= 0:
                inverse[p, s] = inner[place, s]
            else:
                inverse[p, s] = outer[-1 - place, s]


@twin
def open_slots(rows, capacity, slots, positions, inverse, count):
    """Store unit columns."""
    for p in prange(rows):
        for c in range(count):
            inverse[p, slots[c]] = -1.0 if p == positions[c] else 0.0


@twin
def gather_eta_rows(rows, capacity, most, row_of_slot, eta_rows, by_slot, count, slots):
    """Pick the elements of pivot rows that stored columns need."""
    for e in prange(most):
        for s in range(capacity):
            by_slot[e, s] = eta_rows[e, row_of_slot[s]] if e < count and s < slots else 0.0


@twin
def close_slots(rows, capacity, targets, sources, inverse, count):
    """Move stored columns to where room has become."""
    for p in prange(rows):
        for c in range(count):
            if targets[c] >= 0:
                inverse[p, targets[c]] = inverse[p, sources[c]]
            inverse[p, sources[c]] = 0.0
