"""Correcting the primal weight where one residual stays far above the other and does not fall.

The controller of the weight (``kernels/decide.py``) asks how far point and duals have travelled.
Where both do nothing but turn round a common centre they travel in the ratio of the weight itself,
whatever it is, so the controller is content with every weight; and on a model whose right sides are
small beside its solutions it may settle where the duals are exact and the point hardly moves. Then
the residuals tell: with a larger weight the duals answer more to the rows' violations. So where
one residual has been within the tolerance for thousands of iterations (or below 3e-7, where the
tolerance is tighter), and the other is decades larger and does not fall, the weight is multiplied
by the root of their ratio, and an epoch begins at the projected point. While neither is small the
controller is left alone: it still has both to move, and an epoch cut short costs more than a better
weight gains. A residual that is exactly zero tells nothing (``kernels/decide.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.pdlp.settings import Settings
from solvers.pdlp.statistics import Record
from solvers.pdlp.termination import NEGLIGIBLE


@dataclass(eq=False)
class Balance:
    """Watches the two residuals, and tells when the weight has to change by which factor.

    Over the ``checks`` of this period ``decades`` sums the decades from the dual to the primal
    residual, and ``smaller`` those from the tolerance, or what counts as within it, to the smaller
    one. ``least`` is the least that the larger one has been in it, and ``least_then`` in the period
    before.
    """

    settings: Settings
    tolerance: float
    next_look: float
    decades: float = 0.0
    smaller: float = 0.0
    checks: int = 0
    least: float = math.inf
    least_then: float = math.inf

    @classmethod
    def after(cls, iterations: int, settings: Settings, tolerance: float) -> Balance:
        """Begin to watch after so many iterations."""
        return cls(settings, tolerance, iterations + settings.balance_period)

    def correction(self, record: Record) -> float:
        """Take down a window's residuals; return the factor for the weight, 1 for none."""
        floor = NEGLIGIBLE * self.tolerance
        statistics = record.statistics
        primal = max(statistics.relative_primal, floor)
        dual = max(statistics.relative_dual, floor)
        if statistics.relative_primal > 0.0 and statistics.relative_dual > 0.0:
            self.decades += math.log10(primal / dual)
        done = max(self.tolerance, self.settings.balance_done)
        self.smaller += math.log10(min(primal, dual) / done)
        self.checks += 1
        self.least = min(self.least, max(primal, dual))
        if record.iterations < self.next_look:
            return 1.0
        mean, smaller = self.decades / self.checks, self.smaller / self.checks
        stands_still = self.least > self.settings.balance_progress * self.least_then
        self.least_then, self.least = self.least, math.inf
        self.decades, self.smaller, self.checks = 0.0, 0.0, 0
        later = self.settings.balance_growth * record.iterations
        self.next_look = max(self.next_look + self.settings.balance_period, later)
        if not (stands_still and smaller <= 0.0 and abs(mean) >= self._decades):
            return 1.0
        self.least_then = math.inf
        most = self.settings.balance_most
        return float(10.0 ** min(max(0.5 * mean, -most), most))

    @property
    def _decades(self) -> float:
        """Decades from one residual to the other from which the weight is corrected."""
        settings = self.settings
        is_tight = self.tolerance < settings.balance_done
        return settings.balance_decades_if_tight if is_tight else settings.balance_decades
