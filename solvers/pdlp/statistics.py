"""What a check knows: residuals and objectives on the original problem, distances, the metric.

Errors are relative to the sizes of the problem's sides and costs (:class:`Norms`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.vectors import euclidean
from solvers.pdlp.control import Control, Stop


@dataclass(frozen=True)
class Norms:
    """2-norms of the finite sides, an equation's counted once, and of the cost.

    Presolve changes both: a column with an upper bound of 1e6 that becomes slack leaves a side of
    that size, and what is a small error beside it may be a large one on the original problem. So
    who stops on a reduced problem measures against the norms of the original where these are
    smaller.
    """

    sides: float
    cost: float

    @classmethod
    def of(cls, problem: Problem) -> Norms:
        """Return the norms of a problem."""
        sides = side_sizes(problem.row_lower, problem.row_upper)
        return cls(euclidean(sides), euclidean(problem.cost))


@dataclass(frozen=True)
class Statistics:
    """The figures of one check, of the projected point (xh, yh).

    Residuals are 2-norms on the original problem; objectives include the offset. Distances are
    from the anchor, in the scaled space.
    """

    primal_residual: float
    dual_residual: float
    primal_objective: float
    dual_objective: float
    side_norm: float
    cost_norm: float
    primal_distance: float = 0.0
    dual_distance: float = 0.0

    @property
    def relative_primal(self) -> float:
        """Primal residual over 1 + ||sides||."""
        return self.primal_residual / (1.0 + self.side_norm)

    @property
    def relative_dual(self) -> float:
        """Dual residual over 1 + ||c||."""
        return self.dual_residual / (1.0 + self.cost_norm)

    @property
    def relative_gap(self) -> float:
        """|p - d| over 1 + |p| + |d|."""
        p, d = self.primal_objective, self.dual_objective
        return abs(p - d) / (1.0 + abs(p) + abs(d))

    @property
    def worst(self) -> float:
        """The largest of the three relative errors; NaN if one of them is."""
        return float(np.max([self.relative_primal, self.relative_dual, self.relative_gap]))

    @property
    def worst_residual(self) -> float:
        """The larger of the relative residuals; NaN if one of them is."""
        return float(np.max([self.relative_primal, self.relative_dual]))


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
