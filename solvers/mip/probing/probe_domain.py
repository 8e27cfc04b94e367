"""Probing by sequential propagation, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.mip.domain.propagate import decide, mark, undo
from solvers.mip.domain.state import LEVEL, TRAIL, WORK


@compiled
def _collect(matrix, box, place, probed, at, column, low, high):
    """Write the integer columns changed since ``place`` with their bounds; return the new end."""
    n = matrix.is_integer.size
    for entry in range(place, box.counts[TRAIL]):
        code = box.trail_code[entry]
        if code < 0 or code >= 2 * n:
            continue
        k = code % n
        if matrix.is_integer[k] == 0 or k == probed:
            continue
        if code >= n and box.stamp[k] == box.counts[LEVEL]:
            continue  # its lower bound changed at this level, too, and stands for both
        column[at], low[at], high[at] = k, box.bounds[0, k], box.bounds[1, k]
        at += 1
    return at


@compiled
def probe_sides(
    matrix, box, cap, most_work, columns, first_upper, second_lower,
    infeasible, start, column, low, high,
):  # fmt: skip
    """Propagate both sides of one column after the other; return how many columns were done.

    It ends early once ``most_work`` entries were visited or there is no room for what two more
    sides may imply. The box is afterwards what it was.
    """
    end = box.counts[WORK] + most_work
    integers = 0
    for j in range(matrix.is_integer.size):
        integers += matrix.is_integer[j]
    for c in range(columns.size):
        if c > 0 and (box.counts[WORK] > end or start[2 * c] + 2 * integers > column.size):
            return c
        j = columns[c]
        for side in range(2):
            place = mark(box)
            small = box.bounds[0, j] if side == 0 else second_lower[c]
            large = first_upper[c] if side == 0 else box.bounds[1, j]
            consistent = decide(matrix, box, j, small, large, cap, False)
            at = start[2 * c + side]
            if consistent:
                at = _collect(matrix, box, place, j, at, column, low, high)
            infeasible[2 * c + side] = not consistent
            start[2 * c + side + 1] = at
            undo(matrix, box, place)
    return columns.size


@compiled
def tighten_all(matrix, box, cap, columns, low, high):
    """Narrow columns one after the other and propagate; False if that leaves no point.

    The trail needs room for one level, as none is begun in between.
    """
    for at in range(columns.size):
        if not decide(matrix, box, columns[at], low[at], high[at], cap, False):
            return False
    return True
