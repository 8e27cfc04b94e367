"""When a solve is given up: no nearer for two thirds of very many iterations.

On some models the method never arrives, however long it runs: where numbers of very different size
meet, the primal weight swings from one extreme to the other, or the errors that are left are those
of rounding. Without a limit such a solve would go on for ever; given up, it ends with its best
point and with numerical trouble, and whoever asked may go on from there by crossover or ask another
engine.

What counts is the least that was ever left (``termination.decades_left``): the errors of a solve
that swings fall and rise by decades, and a fall to where it has been before is no progress.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.pdlp.settings import Settings
from solvers.pdlp.statistics import Statistics
from solvers.pdlp.termination import Criteria, decades_left


@dataclass(eq=False)
class Stalling:
    """Watches a solve through all its turns.

    ``least`` decades were left after ``gained_at`` iterations, when the solve had last come nearer
    by ``stall_decades``.
    """

    settings: Settings
    criteria: Criteria
    least: float = math.inf
    gained_at: int = 0

    def is_over(self, iterations: int, statistics: Statistics) -> bool:
        """Take down the errors after so many iterations in all; return whether to give up."""
        left = decades_left(statistics, self.criteria)
        if self.least - left >= self.settings.stall_decades:
            self.least, self.gained_at = left, iterations
        patience = self.settings.stall_growth * self.gained_at
        return iterations >= max(self.settings.stall_from, patience)
