"""Restarts that the host decides between blocks, and its correction of the primal weight.

The rule for restarts runs on the device (``kernels/decide.py``). It goes by the ratio of the
distances that x and y have travelled since the last restart, and a little by that of the residuals.
Where one side does not move at all there is no ratio (:class:`OneSidedMoves`). While x stays where
it is, held by its bounds, until y has come far enough (or y is zero until x violates a row), y goes
on in a straight line by the same small step: for a million iterations, if the weight is six decades
off. So every so many checks the weight is multiplied, or divided, by a constant factor: then the
number of checks to the end of the line is the logarithm of its length. The steps are too long by
that factor at most, and from then on there is a ratio.

After a correction the iteration restarts from the projected point (:func:`change_weight`).
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.settings import WeightSettings
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record


def restart(state: State, step: float, weight: float) -> None:
    """Restart where points and anchors stand, with a step size and primal weight."""
    state.write_control(
        stop=Stop.NO,
        step=step,
        weight=weight,
        tau=step / weight,
        sigma=step * weight,
        iterations_since_restart=0.0,
    )


def go_back_to_best(state: State, record: Record) -> None:
    """Restart at the best point with a shorter step, after the iteration broke down."""
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor, side.projection):
            vector[...] = side.best
    step = record[Control.STEP] * state.settings.step.recovery_factor
    restart(state, step, record[Control.BEST_WEIGHT])


def change_weight(state: State, record: Record, factor: float) -> None:
    """Restart at the projected point with the weight of ``record`` times a factor.

    It counts as the best so far, too: the device's rule falls back to that.
    """
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor):
            vector[...] = side.projection
    weight = record[Control.WEIGHT] * factor
    restart(state, record[Control.STEP], weight)
    state.write_control(best_weight=weight)


@dataclass(eq=False)
class OneSidedMoves:
    """Watches the distances; ``checks`` in a row have seen the same side stand still."""

    settings: WeightSettings
    checks: int = 0
    side: int = 0

    def factor(self, record: Record) -> float:
        """Record a check's distances; return the factor for the weight, 1 for none."""
        side = self._moving(record)
        self.checks = self.checks + 1 if side == self.side else 1
        self.side = side
        if side == 0 or self.checks < self.settings.one_sided_checks:
            return 1.0
        self.checks = 0
        return self.settings.one_sided_factor**side

    def _moving(self, record: Record) -> int:
        """Return 1 if only y moves, -1 if only x does, and 0 if both or neither."""
        low = self.settings.shortest_distance
        high = self.settings.longest_distance
        from_x, from_y = record[Control.PRIMAL_DISTANCE], record[Control.DUAL_DISTANCE]
        if from_x <= low < from_y < high:
            return 1
        return -1 if from_y <= low < from_x < high else 0
