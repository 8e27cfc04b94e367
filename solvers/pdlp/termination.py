"""What a check knows, when the answer is good enough, and the outcome that it makes then.

Statistics are residuals and objectives on the original problem, distances and the metric; errors
are relative to the sizes of its sides and costs (:mod:`solvers.core.lp_answer`). The measure is the
field's for first-order methods (Applegate et al. 2021, section 2), on the unscaled problem: primal
and dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the gap against
``1 + |p| + |d|``. Whether they are small enough is a pure function of them and the criteria. An
answer is judged on the host, in float64 on the original data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.lp_answer import Answer, LpErrors, Norms, judge
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.state import State

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


def on_original(state: State, x: Any, y: Any) -> Answer:
    """Make an answer of points (n,) and (m,) on the device."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    point, duals = there.columns_to_host(x), there.rows_to_host(y)
    return judge(there.original, point, duals, norms, state.threads)


def to_outcome(
    answer: Answer,
    criteria: Criteria,
    stop_reason: StopReason,
    counts: dict[str, float | int | str],
    device: str,
    feasible_x: FloatArray | None = None,
) -> Outcome:
    """Give an answer the status it has earned.

    Without optimality the point is ``x`` where it is feasible, else ``candidate``; then
    ``feasible_x``, an earlier feasible point, takes the place of ``x``. The duals always belong
    to the answer.
    """
    statistics = answer.statistics
    figures = {
        **counts,
        "relative_primal_residual": statistics.relative_primal,
        "relative_dual_residual": statistics.relative_dual,
        "relative_gap": statistics.relative_gap,
    }
    optimal = is_optimal(statistics, criteria)
    feasible = is_primal_feasible(statistics, criteria)
    x: FloatArray | None = answer.x if feasible else feasible_x
    status = SolutionStatus.OPTIMAL if optimal else SolutionStatus.FEASIBLE
    return Outcome(
        solution_status=status if x is not None else SolutionStatus.NOTHING,
        stop_reason=StopReason.CONVERGED if optimal else stop_reason,
        objective=statistics.primal_objective if feasible else np.nan,
        bound=statistics.dual_objective if optimal else answer.proven_bound,
        x=x,
        row_activity=answer.row_activity if feasible else None,
        row_dual=answer.row_dual,
        reduced_cost=answer.reduced_cost,
        candidate=None if feasible else answer.x,
        engine="pdlp",
        device=device,
        statistics=figures,
    )
