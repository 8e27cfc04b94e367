"""Mending an answer that misses a tolerance by little, by projections or by polishing.

An answer found on a reduced or scaled problem can miss the tolerance on the original one, most
often by its rows alone or by its reduced costs alone. Two projections by conjugate gradients
(``solvers.sparse.projection``) treat that in a few hundred products with A, where going on
with PDLP takes hundreds to tens of thousands of iterations (:func:`repaired`):

* primal: ``row_lower <= A x <= row_upper`` within the bounds of x;
* dual: the same question for y, whose rows are ``c - A'y <= 0`` where x has no lower bound and
  ``c - A'y >= 0`` where it has no upper one, within the signs that the rows' sides allow.

What comes of it counts only if all three errors, the gap too, are within the tolerance then.
``docs/repair.md`` has the figures, also of the places where it did not help.

Feasibility polishing (:func:`polish`) runs PDLP itself on the same two questions, without the
objective (``feasibility_polishing`` says why that is fast), each from what is there and judged by
its own residual alone. What it finds is adopted if it keeps the gap within its tolerance, or does
not make it worse.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers import pdlp
from solvers.core.device import find_device
from solvers.core.lp_answer import Answer, LpErrors, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.pdlp.feasibility_polishing import (
    AIM,
    UntilFeasible,
    dual_feasibility,
    without_cost,
)
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.termination import Criteria, is_optimal, to_outcome
from solvers.sparse.projection import Correction, project_on_rows

REACH = 1000.0
"""Largest residual, and gap, in tolerances, from which a projection is tried; some of the gap may
go with the violation that opened it. Of 26 answers on Netlib as many are repaired with 100 and
without a limit, two less with 10."""

GPU_FROM_NONZEROS = 200_000
"""From this size on the projections of an answer from a GPU run there: a round copies its part of
the matrix, which takes as long as a hundred iterations of a smaller one on the CPU."""

ITERATIONS, ROUNDS = 300, 10
"""Conjugate gradient iterations of a round at the most, and rounds."""


def repaired(
    problem: Problem, outcome: Outcome, options: EngineOptions, progress: Progress
) -> Outcome:
    """Project an answer's point and duals on to what they violate, where that makes it optimal.

    Parameters
    ----------
    problem : Problem
        The problem the outcome belongs to; integrality is ignored.
    outcome : Outcome
        With a point (``x`` or ``candidate``) and ``row_dual``; others are returned as they are.
    options : EngineOptions
        ``tolerance`` is that on the three relative errors of :mod:`solvers.pdlp.termination`.
        The projections of large problems run where the outcome comes from.
    progress : Progress
        Keeps time and interruption.

    Returns
    -------
    Outcome
        Optimal by :func:`solvers.pdlp.termination.judge`, with ``repair_iterations`` among its
        statistics; or the outcome given, if it was optimal before or is not now.
    """
    point = outcome.candidate if outcome.x is None else outcome.x
    if point is None or outcome.row_dual is None:
        return outcome
    if not (np.isfinite(point).all() and np.isfinite(outcome.row_dual).all()):
        return outcome
    criteria = Criteria.uniform(options.tolerance)
    before = judge(problem, point, outcome.row_dual)
    if is_optimal(before.statistics, criteria) or not _in_reach(before.statistics, criteria):
        return outcome
    x, y, spent = before.x, before.row_dual, 0
    for found, is_primal in _projections(problem, before, criteria, outcome.device, progress):
        x, y = (found.values, y) if is_primal else (x, found.values)
        spent += found.iterations
    after = judge(problem, x, y)
    if not is_optimal(after.statistics, criteria):
        return outcome
    counts = {**outcome.statistics, "repair_iterations": spent}
    made = to_outcome(after, criteria, StopReason.CONVERGED, counts, outcome.device)
    return dataclasses.replace(
        made, engine=outcome.engine, seconds=outcome.seconds, history=outcome.history
    )


def _in_reach(statistics: LpErrors, criteria: Criteria) -> bool:
    """Whether projections have a chance; False for NaN."""
    return (
        statistics.relative_primal <= REACH * criteria.primal
        and statistics.relative_dual <= REACH * criteria.dual
        and statistics.relative_gap <= REACH * criteria.gap
    )


def _projections(
    problem: Problem, before: Answer, criteria: Criteria, device: str, progress: Progress
) -> Iterator[tuple[Correction, bool]]:
    """Give the projections that are needed, each with whether it is that of x."""
    statistics = before.statistics
    large = problem.num_nonzeros >= GPU_FROM_NONZEROS
    common: dict[str, Any] = {
        "iterations": ITERATIONS,
        "rounds": ROUNDS,
        "device": find_device(device if large else "cpu"),
        "should_stop": lambda: progress.should_stop() is not None,
    }
    if statistics.relative_primal > criteria.primal:
        target = AIM * criteria.primal * (1.0 + statistics.side_norm)
        sides = (problem.lower, problem.upper, problem.row_lower, problem.row_upper)
        yield project_on_rows(problem.matrix, before.x, *sides, target=target, **common), True
    if statistics.relative_dual > criteria.dual:
        target = AIM * criteria.dual * (1.0 + statistics.cost_norm)
        columns = sp.csr_array(problem.matrix_csc.T)
        sides = _dual_sides(problem)
        yield project_on_rows(columns, before.row_dual, *sides, target=target, **common), False


def _dual_sides(problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the bounds of y (m,) and of A'y (n,), lower ones first."""
    return (
        np.where(np.isfinite(problem.row_upper), -np.inf, 0.0),
        np.where(np.isfinite(problem.row_lower), np.inf, 0.0),
        np.where(np.isneginf(problem.lower), problem.cost, -np.inf),
        np.where(np.isposinf(problem.upper), problem.cost, np.inf),
    )


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
        self._options = pdlp.where_it_ran(found, self._options)
        self.iterations += int(found.statistics.get("iterations", 0))
        if found.x is None:
            return None
        reached = judge(feasibility, found.x, np.zeros(feasibility.num_rows))
        return found.x if reached.statistics.relative_primal <= self._options.tolerance else None
