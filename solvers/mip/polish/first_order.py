"""The LP over the continuous columns by PDLP, where it is too large for simplex."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from solvers import pdlp
from solvers.mip.model import MipModel
from solvers.mip.polish.split import ContinuousPart
from solvers.options import EngineOptions
from solvers.outcome import SolutionStatus, Start
from solvers.problem import FloatArray, Problem
from solvers.progress import Progress

TOLERANCE = 1e-8
"""Relative, because points are checked by an absolute 1e-6 on rows of any size."""


class FirstOrder:
    """PDLP from the last point and multipliers; one run at a time, from any thread."""

    def __init__(self, model: MipModel, part: ContinuousPart, device: str) -> None:
        free = np.full(part.rows.size, np.inf)
        self._problem = Problem(
            cost=model.cost[part.columns],
            matrix=part.matrix,
            row_lower=-free,
            row_upper=free,
            lower=model.lower[part.columns],
            upper=model.upper[part.columns],
            integrality=np.zeros(part.columns.size, dtype=bool),
        )
        self._options = EngineOptions(device=device, threads=1, tolerance=TOLERANCE)
        self._start = Start()
        self._lock = threading.Lock()

    def solve(
        self, low: FloatArray, high: FloatArray, guess: FloatArray, seconds: float
    ) -> tuple[FloatArray | None, bool]:
        """Return values (k,) for row sides (r,) and whether they are optimal.

        ``guess`` (k,) is where to start. What comes back at the time limit may be feasible
        enough or not: the caller checks.
        """
        progress = Progress(time_limit=seconds)
        with self._lock:
            if progress.should_stop() is not None:
                return None, False
            problem = replace(self._problem, row_lower=low, row_upper=high)
            start = Start(x=guess, row_dual=self._start.row_dual)
            outcome = pdlp.solve(problem, self._options, progress, start)
            if outcome.row_dual is not None:
                self._start = Start(row_dual=outcome.row_dual)
        values = outcome.candidate if outcome.x is None else outcome.x
        return values, outcome.solution_status is SolutionStatus.OPTIMAL
