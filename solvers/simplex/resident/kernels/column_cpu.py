"""Numba twins of ``column.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    ENTERING,
    FLIPS,
    PIVOTS,
    RUNNING,
    SLOTS,
    SPARSE_BELOW,
    STATUS,
)


@twin
def solve_column(  # noqa: C901 - one kernel
    rows, structurals, capacity, most, dual, steepest, inverse, unit_row, slot_of_row,
    etas, eta_rows, row_slots, starts, indices, values, column, column_slots,
    flip_column, flip_slots, column_dots, flip_dots, dots, control, alpha, beta, tau,
):  # fmt: skip
    """Multiply the right sides of this iteration with the inverse."""
    q, slots = control[ENTERING], control[SLOTS]
    made = control[PIVOTS] - (1 if dual == 1 else 0)
    flipped = dual == 1 and control[FLIPS] > 0
    begin = starts[q] if q < structurals else 0
    end = starts[q + 1] if q < structurals else 0
    sparse = q < structurals and (end - begin) * SPARSE_BELOW < slots
    count = rows if control[STATUS] == RUNNING else 0
    for p in prange(count):
        a, b, t = 0.0, 0.0, 0.0
        if sparse:
            for k in range(begin, end):
                slot = slot_of_row[indices[k]]
                if slot >= 0:
                    a += inverse[p, slot] * values[k]
        else:
            for s in range(slots):
                a += inverse[p, s] * column_slots[s]
        if flipped:
            for s in range(slots):
                b += inverse[p, s] * flip_slots[s]
        if steepest == 1:
            for s in range(slots):
                t += inverse[p, s] * row_slots[s]
        for e in range(made):
            eta = etas[p, e]
            a += eta * column_dots[e]
            if flipped:
                b += eta * flip_dots[e]
            if steepest == 1:
                t += eta * dots[e]
        unit = unit_row[p]
        if unit >= 0:
            a -= column[unit]
            b -= flip_column[unit]
            if steepest == 1:
                t -= eta_rows[made, unit]
        alpha[p] = a
        if dual == 1:
            beta[p] = b
        if steepest == 1:
            tau[p] = t
