"""Names of the rows of the arrays that the twin keeps an LP in, and of its settings."""

from __future__ import annotations

VALUE, WEIGHT, COLUMN = range(3)
"""By row: value of the basic variable, weight of dual pricing, the pivot column."""

REDUCED, POINT, PRICE, ROW, RATIO = range(5)
"""By column: reduced cost and value of the nonbasic variable, weight of primal pricing, the pivot
row, ratios of candidates."""

COST, LOW, HIGH = range(3)
"""By variable, of ``work``: cost and bounds, as they are shifted and perturbed."""

PRIMAL_TOLERANCE, DUAL_TOLERANCE, COST_SIZE = range(3)
"""Of an LP's ``limits``."""

PIVOTS, FRESH, MOST, PERTURBED = range(4)
"""Of an LP's ``counts``: pivots and bound flips made, pivots since the dictionary was built, the
most there may be, perturbations so far."""

(
    TOLERANCE,
    SMALLEST_PIVOT,
    WANTED_PIVOT,
    ACCURACY,
    STALLED,
    CHECK_EVERY,
    PERTURBATION,
    ROUNDS,
) = range(8)
"""Of ``parameters``, in the order of ``solvers.simplex.batch.settings.Parameters``."""

LOWER, BASIC, UPPER, ZERO = range(4)
"""Statuses of a variable, as in ``solvers.outcome.BasisStatus``."""

DONE, NO_PIVOT, AT_LIMIT, INACCURATE, PAUSED = range(5)
"""How a run of pivots ended."""
