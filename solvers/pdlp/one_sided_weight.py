"""Correcting the primal weight where only one of the two sides moves.

The controller of the weight (``kernels/decide.py``) goes by the ratio of the distances that x and
y have travelled. While x stays where it is, held by its bounds, until y has come far enough (or y
is zero until x violates a row) there is no ratio, and with the weight as it was y goes on in a
straight line by the same small step for as long as it takes: a million iterations, if the weight is
six decades off. So every so many checks the weight is multiplied, or divided, by a constant factor:
then the steps grow with the way, and the number of checks to the end of the line is its logarithm.
The steps are too long by that factor at most, and from then on there is a ratio.
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.pdlp.control import Control
from solvers.pdlp.settings import Settings
from solvers.pdlp.statistics import Record


@dataclass(eq=False)
class OneSided:
    """Watches the distances; ``checks`` in a row have seen one side stand still, the same."""

    settings: Settings
    checks: int = 0
    side: int = 0

    def correction(self, record: Record) -> float:
        """Take down a window's distances; return the factor for the weight, 1 for none."""
        side = self._moving(record)
        self.checks = self.checks + 1 if side == self.side else 1
        self.side = side
        if side == 0 or self.checks < self.settings.one_sided_checks:
            return 1.0
        self.checks = 0
        return self.settings.one_sided_factor**side

    def _moving(self, record: Record) -> int:
        """Return 1 if only y moves, -1 if only x does, and 0 if both or neither."""
        low, high = self.settings.shortest_distance, self.settings.longest_distance
        from_x, from_y = record[Control.PRIMAL_DISTANCE], record[Control.DUAL_DISTANCE]
        if from_x <= low < from_y < high:
            return 1
        return -1 if from_y <= low < from_x < high else 0
