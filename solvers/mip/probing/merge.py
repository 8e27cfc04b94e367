"""What the two sides of a probed column imply together, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

from solvers.kernels.twin import compiled

MOST_IMPLIED = 64
"""Entries kept for a side of a column (notes on the seed paper's probing cache)."""


@compiled
def _only_side(first, last, column, low, high, found, hull, hull_low, hull_high):
    """Take over all that the only possible side implies; return the new end of ``hull``."""
    for entry in range(first, last):
        hull[found], hull_low[found], hull_high[found] = column[entry], low[entry], high[entry]
        found += 1
    return found


@compiled
def _both_sides(
    j, two_valued, first, middle, last, column, low, high,
    lower, upper, place, found, hull, hull_low, hull_high, of, constant, factor,
):  # fmt: skip
    """Take over what both sides imply, and substitutions; return the new end of ``hull``."""
    for entry in range(first, middle):
        place[column[entry]] = entry
    for entry in range(middle, last):
        k = column[entry]
        other = place[k]
        if other < 0:
            continue
        fixed = low[entry] == high[entry] and low[other] == high[other]
        if two_valued and fixed and low[entry] != low[other]:
            of[other] = j
            factor[other] = (low[entry] - low[other]) / (upper[j] - lower[j])
            constant[other] = low[other] - factor[other] * lower[j]
        least, most = min(low[entry], low[other]), max(high[entry], high[other])
        if least > lower[k] or most < upper[k]:
            hull[found], hull_low[found], hull_high[found] = k, least, most
            found += 1
    for entry in range(first, middle):
        place[column[entry]] = -1
    return found


@compiled
def merge(
    columns, first_upper, second_lower, infeasible, start, column, low, high,
    lower, upper, place, hull, hull_low, hull_high, of, constant, factor, kept, kept_start,
):  # fmt: skip
    """Compare the two sides of each of a batch of columns.

    Parameters
    ----------
    columns, first_upper, second_lower : (k,)
        What was probed.
    infeasible, start, column, low, high
        The fields of ``Probes``.
    lower, upper : (n,)
        Bounds from which the sides were propagated.
    place : (n,) int64
        -1 throughout, before and after.
    hull, hull_low, hull_high : (entries + k,) out
        Columns that are narrower whichever side holds, and their bounds.
    of, constant, factor : (entries,) out
        For the entry of a first side: the two-valued column that determines its column, or
        -1 as before, and how.
    kept : (entries,) out
        Entries to be cached, side by side: their numbers.
    kept_start : (2k+1,) out
        Where each side's begin.

    Returns
    -------
    tuple of int and bool
        Entries of ``hull``, and whether some column has no feasible side.
    """
    found, cached = 0, 0
    for c in range(columns.size):
        j = columns[c]
        first, middle, last = start[2 * c], start[2 * c + 1], start[2 * c + 2]
        without_first, without_second = infeasible[2 * c] != 0, infeasible[2 * c + 1] != 0
        if without_first and without_second:
            return found, True
        if without_first or without_second:
            hull[found] = j
            hull_low[found] = second_lower[c] if without_first else lower[j]
            hull_high[found] = upper[j] if without_first else first_upper[c]
            found = _only_side(first, last, column, low, high, found + 1, hull, hull_low, hull_high)
        else:
            two_valued = first_upper[c] == lower[j] and second_lower[c] == upper[j]
            found = _both_sides(
                j, two_valued, first, middle, last, column, low, high,
                lower, upper, place, found, hull, hull_low, hull_high, of, constant, factor,
            )  # fmt: skip
        for side in range(2):
            kept_start[2 * c + side] = cached
            begin = start[2 * c + side]
            end = min(start[2 * c + side + 1], begin + MOST_IMPLIED)
            for entry in range(begin, end if not (without_first or without_second) else begin):
                kept[cached] = entry
                cached += 1
    kept_start[2 * columns.size] = cached
    return found, False
