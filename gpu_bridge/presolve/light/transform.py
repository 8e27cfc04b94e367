"""The sparse product A T of a substitution: rows without a replaced column are only copied."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from gpu_bridge.presolve.light.loops import compiled, merged

ROUNDING = 1e-12
"""Entries below this part of the largest in their row are what rounding left of a zero."""

LONGEST_SORTED = 500
"""Longer rows are left to SciPy to sort, which for short ones costs more than the product."""


@compiled
def charge_columns(start, index, value, equation, pivot, side, column, cost):
    """Charge the cost of each replaced column to the other columns of its equation."""
    for pair in range(equation.size):
        price = cost[column[pair]] / pivot[pair]
        if price != 0.0:
            for entry in range(start[equation[pair]], start[equation[pair] + 1]):
                if index[entry] != column[pair]:
                    cost[index[entry]] -= price * value[entry]


@compiled
def replace_columns(
    start, index, value, equation, pivot, side, rows, place, total, seen,
    new_start, new_index, new_value, shift,
):  # fmt: skip
    """Write the rows that stay, in the columns that stay.

    ``place`` (n,) is the new number of a column, or -1 minus its pair's; ``side`` (k,) the
    constant of each replaced column; ``total`` and ``seen`` scratch, one for each new column;
    ``shift`` what the constants add to each row.
    """
    filled = 0
    for new in range(rows.size):
        first = filled
        shift[new] = 0.0
        changed = False
        for entry in range(start[rows[new]], start[rows[new] + 1]):
            j = place[index[entry]]
            if j >= 0:
                filled = _add(j, value[entry], total, seen, new_index, filled)
                continue
            changed = True
            pair = -1 - j
            factor = value[entry] / pivot[pair]
            shift[new] += value[entry] * side[pair]
            for other in range(start[equation[pair]], start[equation[pair] + 1]):
                j = place[index[other]]
                if j >= 0:
                    filled = _add(j, -factor * value[other], total, seen, new_index, filled)
        if changed and filled - first <= LONGEST_SORTED:
            _sort(new_index, first, filled)
        filled = _flush(total, seen, new_index, new_value, first, filled)
        new_start[new + 1] = filled


@merged
def _add(j, amount, total, seen, new_index, filled):
    total[j] += amount
    if seen[j]:
        return filled
    seen[j] = True
    new_index[filled] = j
    return filled + 1


@merged
def _sort(numbers, first, end):
    """Sort a piece in place: it is a sorted piece with a few more behind."""
    for k in range(first + 1, end):
        number = numbers[k]
        at = k
        while at > first and numbers[at - 1] > number:
            numbers[at] = numbers[at - 1]
            at -= 1
        numbers[at] = number


@merged
def _flush(total, seen, new_index, new_value, first, end):
    """Write a row's values, leave out what cancelled, and clear the scratch."""
    largest = 0.0
    for k in range(first, end):
        largest = max(largest, abs(total[new_index[k]]))
    filled = first
    for k in range(first, end):
        j = new_index[k]
        if abs(total[j]) > ROUNDING * largest:
            new_index[filled] = j
            new_value[filled] = total[j]
            filled += 1
        total[j] = 0.0
        seen[j] = False
    return filled
