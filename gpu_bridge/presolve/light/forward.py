"""The way forward for points and duals: from the original to the reduced problem."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from gpu_bridge.presolve.light.loops import compiled
from gpu_bridge.presolve.light.workspace import (
    ABSORBED_AT_LOWER,
    ABSORBED_AT_UPPER,
    ABSORBED_BETWEEN,
    PARALLEL_COLUMN,
    PARALLEL_ROW,
    STEPS,
)


@compiled
def forward_point(w, x):
    """Change ``x`` (n,) so that its living entries are the same point of the reduced problem.

    What is fixed or slack needs no change; a merged column stands for the sum of two. NaN, the
    unknown, stays NaN.
    """
    for step in range(w.count[STEPS]):
        if w.kind[step] == PARALLEL_COLUMN:
            x[int(w.payload[step, 0])] += w.payload[step, 1] * x[w.column[step]]


@compiled
def forward_duals(w, y):
    """Change ``y`` (m,) so that its living entries are duals of the reduced problem.

    The multiplier of a row that became a bound is in the reduced cost of its column.
    """
    for step in range(w.count[STEPS]):
        kind, i = w.kind[step], w.row[step]
        if kind in (ABSORBED_AT_LOWER, ABSORBED_AT_UPPER, ABSORBED_BETWEEN):
            y[i] -= w.payload[step, 3]
        elif kind == PARALLEL_ROW:
            y[int(w.payload[step, 0])] += w.payload[step, 1] * y[i]
