"""The best points seen so far, kept on the device for when a limit comes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from solvers.pdlp.state import State
from solvers.pdlp.statistics import Statistics


@dataclass(eq=False)
class Best:
    """The point of least error, and the feasible point of least objective."""

    error: float = math.inf
    x: Any = None
    y: Any = None
    objective: float = math.inf
    feasible_x: Any = None

    def note(self, state: State, statistics: Statistics, feasible: bool) -> None:
        """Keep copies of the projected point where it is better than those before."""
        if statistics.worst < self.error:
            self.error = statistics.worst
            self.x = state.x.projection.copy()
            self.y = state.y.projection.copy()
        if feasible and statistics.primal_objective < self.objective:
            self.objective = statistics.primal_objective
            self.feasible_x = state.x.projection.copy()
