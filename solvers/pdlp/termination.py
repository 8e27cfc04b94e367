"""What a check knows, and when the answer is good enough: a pure function of both.

Statistics are residuals and objectives on the original problem, distances and the metric; errors
are relative to the sizes of its sides and costs (:mod:`solvers.core.lp_answer`). The measure is the
field's for first-order methods (Applegate et al. 2021, section 2), on the unscaled problem: primal
and dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the gap against
``1 + |p| + |d|``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.core.lp_answer import LpErrors
from solvers.core.problem import FloatArray
from solvers.pdlp.control import Control, Stop

NEGLIGIBLE = 0.1
"""Part of a tolerance below which an error counts as that part where errors are compared."""


@dataclass(frozen=True)
class Statistics(LpErrors):
    """The figures of one check, of the projected point (xh, yh).

    Distances are from the anchor, in the scaled space.
    """

    primal_distance: float = 0.0
    dual_distance: float = 0.0


@dataclass(frozen=True, eq=False)
class Record:
    """What a block left behind: the control array (``Control``) as it was after its check."""

    control: FloatArray

    def __getitem__(self, place: Control) -> float:
        return float(self.control[place])

    @property
    def stop(self) -> Stop:
        """Why the kernels wait for the host, if they do."""
        return Stop(int(self.control[Control.STOP]))

    @property
    def iterations(self) -> int:
        """Iterations in all."""
        return int(self.control[Control.ITERATIONS])

    @property
    def statistics(self) -> Statistics:
        """The figures of the check."""
        return Statistics(
            primal_residual=self[Control.PRIMAL_RESIDUAL],
            dual_residual=self[Control.DUAL_RESIDUAL],
            primal_objective=self[Control.PRIMAL_OBJECTIVE],
            dual_objective=self[Control.DUAL_OBJECTIVE],
            side_norm=self[Control.SIDE_NORM],
            cost_norm=self[Control.COST_NORM],
            primal_distance=self[Control.PRIMAL_DISTANCE],
            dual_distance=self[Control.DUAL_DISTANCE],
        )


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
