"""Mending an answer that misses a tolerance by little: projections instead of more iterations.

An answer found on a reduced or scaled problem can miss the tolerance on the original one, most
often by its rows alone or by its reduced costs alone. Two projections by conjugate gradients
(``solvers.linalg.least_squares``) treat that in a few hundred products with A, where going on
with PDLP takes hundreds to tens of thousands of iterations:

* primal: ``row_lower <= A x <= row_upper`` within the bounds of x;
* dual: the same question for y, whose rows are ``c - A'y <= 0`` where x has no lower bound and
  ``c - A'y >= 0`` where it has no upper one, within the signs that the rows' sides allow.

What comes of it counts only if all three errors, the gap too, are within the tolerance then.
``docs/conjugate-gradients.md`` has the figures, also of the places where it did not help.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import find_device
from solvers.core.lp_answer import Answer, LpErrors, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.linalg.least_squares import Correction, project_on_rows
from solvers.pdlp.answer import to_outcome
from solvers.pdlp.termination import Criteria, is_optimal

TARGET = 0.5
"""Part of the tolerance that a projection aims at."""

REACH = 1000.0
"""Largest residual, in tolerances, from which a projection is tried."""

GAP_REACH = 100.0
"""Largest gap, in tolerances: some of it may go with the violation that opened it."""

GPU_FROM_NONZEROS = 200_000
"""From this size on the projections of an answer from a GPU run there: a round copies its part of
the matrix, which takes as long as a hundred iterations of a smaller one on the CPU."""

ITERATIONS = 300
ROUNDS = 10
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
        Optimal by :func:`solvers.pdlp.answer.judge`, with ``repair_iterations`` among its
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
        and statistics.relative_gap <= GAP_REACH * criteria.gap
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
        target = TARGET * criteria.primal * (1.0 + statistics.side_norm)
        sides = (problem.lower, problem.upper, problem.row_lower, problem.row_upper)
        yield project_on_rows(problem.matrix, before.x, *sides, target=target, **common), True
    if statistics.relative_dual > criteria.dual:
        target = TARGET * criteria.dual * (1.0 + statistics.cost_norm)
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
