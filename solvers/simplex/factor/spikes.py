"""The row of U that an update eliminates, and the pivot that it leaves."""

from __future__ import annotations

from solvers.simplex.factor.arrays import (
    ROW_LABEL,
    ROW_LENGTH,
    SPIKE,
    UPPER_SLOTS,
    FactorArrays,
)
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.triangles import DROP, solve_triangle


@inner
def solve_row(arrays: FactorArrays, label: int) -> None:
    """Solve U'z = e of a label; keep z as ``btran`` does."""
    counters, scratch = arrays.counters, arrays.scratch
    pattern, work = arrays.row_indices, scratch.work
    counters[ROW_LENGTH] = 1
    pattern[0] = label
    work[label] = 1.0
    count = solve_triangle(
        arrays.upper_rows, counters[UPPER_SLOTS], work, pattern, counters[ROW_LENGTH], DROP,
        scratch, arrays.density[2], counters,
    )  # fmt: skip
    kept = 0
    for place in range(work.size if count < 0 else count):
        other = place if count < 0 else pattern[place]
        value = work[other]
        work[other] = 0.0
        if value != 0.0:
            arrays.row_indices[kept] = other
            arrays.row_values[kept] = value
            kept += 1
    counters[ROW_LENGTH] = kept
    counters[ROW_LABEL] = label


@inner
def new_pivot(arrays: FactorArrays, label: int, old_pivot: float) -> float:
    """Return what the update leaves on the diagonal: the spike's entry less R's part."""
    counters, work = arrays.counters, arrays.scratch.work
    indices, values = arrays.spike_indices, arrays.spike_values
    spike = counters[SPIKE]
    for place in range(spike):
        work[indices[place]] = values[place]
    row_indices, row_values = arrays.row_indices, arrays.row_values
    total = 0.0  # z at the label itself is 1 / pivot, so that its term is the spike's own entry
    for place in range(counters[ROW_LENGTH]):
        total += row_values[place] * work[row_indices[place]]
    for place in range(spike):
        work[indices[place]] = 0.0
    return float(total * old_pivot)
