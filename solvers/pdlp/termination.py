"""When the answer is good enough: a pure function of statistics and criteria.

The measure is the field's for first-order methods (Applegate et al. 2021, section 2), on the
unscaled problem: primal and dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the
gap against ``1 + |p| + |d|``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.core.lp_answer import LpErrors

NEGLIGIBLE = 0.1
"""Part of a tolerance below which an error counts as that part where errors are compared."""


@dataclass(frozen=True)
class Criteria:
    """Relative tolerances on the three errors."""

    primal: float
    dual: float
    gap: float

    @classmethod
    def uniform(cls, tolerance: float) -> Criteria:
        """Return the same tolerance for all three."""
        return cls(tolerance, tolerance, tolerance)


def is_primal_feasible(statistics: LpErrors, criteria: Criteria) -> bool:
    """Whether the primal residual is within its tolerance."""
    return statistics.relative_primal <= criteria.primal


def decades_left(statistics: LpErrors, criteria: Criteria) -> float:
    """Return the decades from the three errors down to a tenth of their tolerances, added up.

    That is what a point has still before it. The largest error alone tells less: a gap may be 1
    for a point near the optimum and for one far away.
    """
    errors = (statistics.relative_primal, statistics.relative_dual, statistics.relative_gap)
    floors = (criteria.primal, criteria.dual, criteria.gap)
    ratios = [error / (NEGLIGIBLE * floor) for error, floor in zip(errors, floors, strict=True)]
    return sum(math.log10(max(ratio, 1.0)) for ratio in ratios)


def is_optimal(statistics: LpErrors, criteria: Criteria) -> bool:
    """Whether all three errors are within their tolerances; False for NaN."""
    return (
        is_primal_feasible(statistics, criteria)
        and statistics.relative_dual <= criteria.dual
        and statistics.relative_gap <= criteria.gap
    )
