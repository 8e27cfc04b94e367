"""Restarts that the host decides between blocks, and corrections of the primal weight.

The rule for restarts runs on the device (``kernels/decide.py``). It goes by the ratio of the
distances that x and y have travelled since the last restart, and a little by that of the residuals.
Two signs tell what these do not:

* One residual stays far above the other and does not fall (:class:`ResidualBalance`). Where x and y
  both turn round a common centre they travel in the ratio of the weight itself, whatever it is, so
  the distances are content with every weight; and on a model whose right sides are small beside its
  solutions it may settle where the duals are exact and the point hardly moves. With a larger
  weight the duals answer more to the rows' violations. So where one residual has been within the
  tolerance for thousands of iterations (or below 3e-7, where the tolerance is tighter), and the
  other is decades larger and does not fall, the weight is multiplied by the root of their ratio.
  While neither is small the rule is left alone: it still has both to move, and a restart too
  soon costs more than a better weight gains. A residual that is exactly zero tells nothing.
* One side does not move at all (:class:`OneSidedMoves`). While x stays where it is, held by its
  bounds, until y has come far enough (or y is zero until x violates a row), there is no ratio, and
  y goes on in a straight line by the same small step: for a million iterations, if the weight is
  six decades off. So every so many checks the weight is multiplied, or divided, by a constant
  factor: then the number of checks to the end of the line is the logarithm of its length. The
  steps are too long by that factor at most, and from then on there is a ratio.

After a correction the iteration restarts from the projected point (:func:`change_weight`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.settings import LOOK_GROWTH, PROGRESS, Settings, WeightCorrectionSettings
from solvers.pdlp.state import State
from solvers.pdlp.termination import NEGLIGIBLE, Record


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
class ResidualBalance:
    """Watches the two residuals, and tells by which factor the weight has to change.

    Over the ``checks`` of this period ``decades`` sums the decades from the dual to the primal
    residual, and ``smaller`` those from the tolerance, or what counts as within it, to the smaller
    one. ``least`` is the least that the larger one has been in it, and ``least_then`` in the period
    before.
    """

    settings: WeightCorrectionSettings
    tolerance: float
    next_look: float
    decades: float = 0.0
    smaller: float = 0.0
    checks: int = 0
    least: float = math.inf
    least_then: float = math.inf

    def factor(self, record: Record) -> float:
        """Record a check's residuals; return the factor for the weight, 1 for none."""
        settings = self.settings
        floor = NEGLIGIBLE * self.tolerance
        statistics = record.statistics
        primal = max(statistics.relative_primal, floor)
        dual = max(statistics.relative_dual, floor)
        if statistics.relative_primal > 0.0 and statistics.relative_dual > 0.0:
            self.decades += math.log10(primal / dual)
        small = max(self.tolerance, settings.small_residual)
        self.smaller += math.log10(min(primal, dual) / small)
        self.checks += 1
        self.least = min(self.least, max(primal, dual))
        if record.iterations < self.next_look:
            return 1.0
        mean, smaller = self.decades / self.checks, self.smaller / self.checks
        stands_still = self.least > PROGRESS * self.least_then
        self.least_then, self.least = self.least, math.inf
        self.decades, self.smaller, self.checks = 0.0, 0.0, 0
        later = LOOK_GROWTH * record.iterations
        self.next_look = max(self.next_look + settings.period, later)
        if not (stands_still and smaller <= 0.0 and abs(mean) >= self._decades_apart):
            return 1.0
        self.least_then = math.inf
        most = settings.most_decades
        return float(10.0 ** min(max(0.5 * mean, -most), most))

    @property
    def _decades_apart(self) -> float:
        """Decades from one residual to the other from which the weight is corrected."""
        settings = self.settings
        is_tight = self.tolerance < settings.small_residual
        return settings.decades_if_tight if is_tight else settings.decades


@dataclass(eq=False)
class OneSidedMoves:
    """Watches the distances; ``checks`` in a row have seen the same side stand still."""

    settings: Settings
    checks: int = 0
    side: int = 0

    def factor(self, record: Record) -> float:
        """Record a check's distances; return the factor for the weight, 1 for none."""
        side = self._moving(record)
        self.checks = self.checks + 1 if side == self.side else 1
        self.side = side
        if side == 0 or self.checks < self.settings.correction.one_sided_checks:
            return 1.0
        self.checks = 0
        return self.settings.correction.one_sided_factor**side

    def _moving(self, record: Record) -> int:
        """Return 1 if only y moves, -1 if only x does, and 0 if both or neither."""
        low = self.settings.weight.shortest_distance
        high = self.settings.weight.longest_distance
        from_x, from_y = record[Control.PRIMAL_DISTANCE], record[Control.DUAL_DISTANCE]
        if from_x <= low < from_y < high:
            return 1
        return -1 if from_y <= low < from_x < high else 0


class WeightCorrection:
    """Both watches together, from so many iterations on."""

    def __init__(self, settings: Settings, tolerance: float, iterations: int) -> None:
        correction = settings.correction
        self._balance = ResidualBalance(correction, tolerance, iterations + correction.period)
        self._one_sided = OneSidedMoves(settings)

    def factor(self, record: Record) -> float:
        """Record a check; return the factor for the weight, 1 for none."""
        return self._balance.factor(record) * self._one_sided.factor(record)
