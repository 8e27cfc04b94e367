"""Feasibility polishing: from a point of moderate accuracy to a nearly feasible one close by.

A point that is optimal within 1e-4 may violate rows by more than its user bears, while its
objective is good enough. Without the objective the method converges to a feasible point near the
one it starts from, much faster than to an optimum (Applegate et al., "PDLP: a practical
first-order method for large-scale linear programming", 2025, section 4.5; cuPDLPx has it too).
So there are two phases, each judged by its own residual alone:

* primal: cost 0, from the point at hand;
* dual: the dual's rows ``A'y`` within what the bounds of x allow of c, again with cost 0, from
  the duals at hand.

What they find is adopted if it succeeds and keeps the gap within its tolerance, or does not make
it worse.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from solvers import pdlp
from solvers.core.lp_answer import Answer, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.pdlp.answer import to_outcome
from solvers.pdlp.polishing_schedule import UntilFeasible, dual_feasibility, without_cost
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.termination import Criteria


def polish(
    problem: Problem,
    outcome: Outcome,
    options: EngineOptions,
    progress: Progress,
    *,
    feasibility: float | None = None,
    settings: Settings = DEFAULT,
) -> Outcome:
    """Bring an outcome's point and duals nearer to feasibility, at little cost to the gap.

    Parameters
    ----------
    problem : Problem
        The problem the outcome belongs to.
    outcome : Outcome
        With a point (``x`` or ``candidate``) and ``row_dual``; otherwise it is returned as it is.
    options : EngineOptions
        ``tolerance`` is that of the gap, and of the status; ``iteration_limit`` holds for each
        phase.
    progress : Progress
        Keeps time and interruption.
    feasibility : float, optional
        Relative primal and dual residual to aim at; by default ``options.tolerance``.
    settings : Settings
        Constants of the method.

    Returns
    -------
    Outcome
        Better, or ``outcome`` itself; ``statistics`` gain ``polish_iterations``.
    """
    point = outcome.x if outcome.x is not None else outcome.candidate
    if point is None or outcome.row_dual is None:
        return outcome
    aim = options.tolerance if feasibility is None else feasibility
    phase = _Phase(dataclasses.replace(options, tolerance=aim), progress, settings)
    before = judge(problem, point, outcome.row_dual)
    x: FloatArray | None = None
    y: FloatArray | None = None
    if before.statistics.relative_primal > aim:
        x = phase.run(without_cost(problem), before.x)
    if before.statistics.relative_dual > aim:
        y = phase.run(dual_feasibility(problem), before.row_dual)
    after = _adopted(problem, before, x, y, options.tolerance)
    if after is before:
        return outcome
    counts: dict[str, Any] = {**outcome.statistics, "polish_iterations": phase.iterations}
    criteria = Criteria.uniform(options.tolerance)
    found = to_outcome(after, criteria, outcome.stop_reason, counts, outcome.device)
    return dataclasses.replace(found, engine=outcome.engine, seconds=progress.seconds)


def _adopted(
    problem: Problem,
    before: Answer,
    x: FloatArray | None,
    y: FloatArray | None,
    gap_tolerance: float,
) -> Answer:
    """Return the answer with as much of the polished parts as the gap allows."""
    allowed = max(gap_tolerance, before.statistics.relative_gap)
    for new_x, new_y in ((x, y), (x, None), (None, y)):
        if new_x is None and new_y is None:
            continue
        answer = judge(
            problem,
            before.x if new_x is None else new_x,
            before.row_dual if new_y is None else new_y,
        )
        if answer.statistics.relative_gap <= allowed:
            return answer
    return before


class _Phase:
    """Runs one phase after the other and counts their iterations."""

    def __init__(self, options: EngineOptions, progress: Progress, settings: Settings) -> None:
        self._options = options
        self._progress = progress
        self._settings = settings
        self.iterations = 0

    def run(self, feasibility: Problem, start: FloatArray) -> FloatArray | None:
        """Return a point within the tolerance, or None."""
        watch = UntilFeasible(self._progress, self._options.tolerance)
        found = pdlp.solve(feasibility, self._options, watch, Start(start), settings=self._settings)
        self.iterations += int(found.statistics.get("iterations", 0))
        if found.x is None:
            return None
        reached = judge(feasibility, found.x, np.zeros(feasibility.num_rows))
        return found.x if reached.statistics.relative_primal <= self._options.tolerance else None
