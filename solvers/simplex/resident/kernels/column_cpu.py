"""Numba twins of ``column.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    ENTRIES,
    FLIP_ENTRIES,
    FLIPS,
    PIVOTS,
    RUNNING,
    SLOTS,
    STATUS,
)


@twin
def solve_column(  # noqa: C901 - one kernel
    rows, capacity, most, dual, steepest, inverse, unit_row, etas, eta_rows, row_slots,
    places, amounts, column, column_slots, flip_column, flip_slots,
    column_dots, flip_dots, dots, control, alpha, beta, tau,
):  # fmt: skip
    """Multiply the right sides of this iteration with the inverse."""
    slots, made = control[SLOTS], control[PIVOTS]
    entries, of_flips = control[ENTRIES], control[FLIP_ENTRIES]
    flipped = dual == 1 and control[FLIPS] > 0
    count = rows if control[STATUS] == RUNNING else 0
    for p in prange(count):
        a, b, t = 0.0, 0.0, 0.0
        unit = unit_row[p]
        if entries >= 0:
            for u in range(entries):
                place = places[u]
                outside = -1.0 if -1 - place == unit else 0.0
                element = inverse[p, place] if place >= 0 else outside
                if u < of_flips:
                    b += element * amounts[u]
                else:
                    a += element * amounts[u]
        else:
            for s in range(slots):
                a += inverse[p, s] * column_slots[s]
            if flipped:
                for s in range(slots):
                    b += inverse[p, s] * flip_slots[s]
            if unit >= 0:
                a -= column[unit]
                if flipped:
                    b -= flip_column[unit]
        if steepest == 1:
            for s in range(slots):
                t += inverse[p, s] * row_slots[s]
            if unit >= 0:
                t -= eta_rows[made, unit]
        for e in range(made):
            eta = etas[p, e]
            a += eta * column_dots[e]
            if flipped:
                b += eta * flip_dots[e]
            if steepest == 1:
                t += eta * dots[e]
        alpha[p] = a
        if dual == 1:
            beta[p] = b
        if steepest == 1:
            tau[p] = t
