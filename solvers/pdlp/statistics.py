"""What a check knows: residuals and objectives on the original problem, distances, the metric.

Errors are relative to the sizes of the problem's sides and costs (:mod:`solvers.core.lp_answer`).
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.lp_answer import LpErrors
from solvers.core.problem import FloatArray
from solvers.pdlp.control import Control, Stop


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
