"""Feasibility polishing within a long solve: where one residual is all that is left.

On some models duals and gap are within the tolerance while the rows' residual stands still decades
above it for hundreds of thousands of iterations (or the rows hold and the duals do not): the weight
that served the one is wrong for the other. Then the method without the objective finds a feasible
point near by in a tenth of the iterations, and where the gap bears the move it is an answer.
Applegate et al. ("PDLP: a practical first-order method for large-scale linear programming", 2025,
section 4.5) alternate so between steps, with an eighth of the iterations for each try; here a try
comes at one and a half times the iterations of the last, with a tenth of them, so that tries that
fail cost less than a third of a solve.

The problems of feasibility alone are a linear program without its cost, and the rows of its dual.
Without an objective the method converges to a feasible point close to the one it starts from, much
faster than to an optimum. ``repair.polish`` uses that, too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from solvers.core.lp_answer import Answer, LpErrors, Norms, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.pdlp.settings import Settings
from solvers.pdlp.start import prepare
from solvers.pdlp.state import Coefficients, State
from solvers.pdlp.termination import Criteria, is_optimal

AIM = 0.5
"""Part of the tolerance that a try, or a projection, aims at: undoing a presolve costs some."""

NEVER = 2**62
"""An iteration that never comes."""


def without_cost(problem: Problem) -> Problem:
    """Return the problem whose optimal points are the feasible ones of another."""
    return problem.relaxation().with_cost(np.zeros(problem.num_columns))


def dual_feasibility(problem: Problem) -> Problem:
    """Return the problem whose feasible points are the dual feasible y of another.

    One row per column: ``A'y`` is at most c where x has no upper bound, at least c where it has no
    lower one, and anything where it has both. One column per row, of the sign its sides allow.
    """
    cost, m = problem.cost, problem.num_rows
    return Problem(
        cost=np.zeros(m),
        matrix=problem.matrix.T,
        row_lower=np.where(np.isfinite(problem.lower), -np.inf, cost),
        row_upper=np.where(np.isfinite(problem.upper), np.inf, cost),
        lower=np.where(np.isfinite(problem.row_upper), -np.inf, 0.0),
        upper=np.where(np.isfinite(problem.row_lower), np.inf, 0.0),
        integrality=np.zeros(m, dtype=bool),
    )


class UntilFeasible(Progress):
    """Stops a solve as soon as its primal residual is small, or its caller wants it to stop."""

    def __init__(self, outer: Progress, tolerance: float) -> None:
        super().__init__(outer.time_left)
        self._outer = outer
        self._tolerance = tolerance
        self._feasible = False

    def should_stop(self) -> StopReason | None:
        """Return that nothing is left to do once the residual has reached the tolerance.

        (Not that they have converged: then the engine would take the point of least error, the gap
        among them, instead of the feasible one.)
        """
        if self._feasible:
            return StopReason.EXHAUSTED
        return self._outer.should_stop() or super().should_stop()

    @property
    def shares_gpu(self) -> bool:
        """Whether another engine is at work on the same GPU, by the caller."""
        return self._outer.shares_gpu

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Note the primal residual."""
        residual = figures.get("primal_residual")
        if isinstance(residual, float) and residual <= self._tolerance:
            self._feasible = True


Run = Callable[[State, EngineOptions, Progress], Outcome]
"""Iterates on a prepared state until a tolerance or a limit is reached."""


class PolishingSchedule:
    """Decides when to look for a feasible point near by, and looks.

    Parameters
    ----------
    settings : Settings
        ``polishing`` says when and how long.
    tolerance : float
        On the three relative errors.
    nonzeros : int
        Of the problem.
    run : callable
        The method's main loop (``loop.run``), which solves the problems of feasibility.
    """

    def __init__(self, settings: Settings, tolerance: float, nonzeros: int, run: Run) -> None:
        self._settings = settings
        self._run = run
        self._tolerance = tolerance
        decades = -math.log10(tolerance) / settings.alternation.tolerance_decades
        size = 1.0 + nonzeros / settings.polishing.entries
        self._next_try = settings.polishing.from_iterations * max(1.0, decades) * size

    def is_due(self, iterations: int, statistics: LpErrors) -> bool:
        """Whether it is time for a try: all within the tolerance but one residual, far off."""
        if iterations < self._next_try or not statistics.relative_gap <= self._tolerance:
            return False
        least = min(statistics.relative_primal, statistics.relative_dual)
        beyond = self._settings.polishing.beyond * self._tolerance
        return least <= self._tolerance and beyond < statistics.worst_residual

    def polish(
        self,
        state: State,
        answer: Answer,
        iterations: int,
        options: EngineOptions,
        progress: Progress,
    ) -> tuple[Answer | None, int]:
        """Return an answer of the whole problem if one is found, and the iterations spent.

        Parameters
        ----------
        state : State
            Of the whole problem; its coefficients are used, and nothing in it changes.
        answer : Answer
            The point and duals to start from, one of them feasible.
        iterations : int
            So far, with all scalings.
        options : EngineOptions
            Its ``iteration_limit`` is what is left.
        progress : Progress
        """
        settings = self._settings
        self._next_try = settings.polishing.growth * iterations
        budget = max(settings.restart.check_interval, round(settings.polishing.share * iterations))
        if options.iteration_limit is not None:
            budget = min(budget, options.iteration_limit)
        if budget < 1:
            return None, 0
        there = state.problem
        brief = dataclasses.replace(options, iteration_limit=budget)
        x, y = answer.x, answer.row_dual
        if answer.statistics.relative_primal > self._tolerance:
            found, spent = self._nearest_x(state, x, brief, progress)
            x = x if found is None else found
        else:
            found, spent = self._nearest_y(state, y, brief, progress)
            y = y if found is None else found
        after = judge(there.original, x, y, Norms(there.side_norm, there.cost_norm))
        optimal = is_optimal(after.statistics, Criteria.uniform(self._tolerance))
        return (after if optimal else None), spent

    def _nearest_x(
        self, state: State, x: FloatArray, options: EngineOptions, progress: Progress
    ) -> tuple[FloatArray | None, int]:
        there = state.problem
        rows = without_cost(there.original)
        return self._nearest(state, rows, x, there.side_norm, there.coefficients, options, progress)

    def _nearest_y(
        self, state: State, y: FloatArray, options: EngineOptions, progress: Progress
    ) -> tuple[FloatArray | None, int]:
        there = state.problem
        columns, layout = dual_feasibility(there.original), _transposed(there.coefficients)
        return self._nearest(state, columns, y, there.cost_norm, layout, options, progress)

    def _nearest(
        self,
        state: State,
        sought: Problem,
        point: FloatArray,
        norm: float,
        coefficients: Coefficients,
        options: EngineOptions,
        progress: Progress,
    ) -> tuple[FloatArray | None, int]:
        """Run the method on a problem of feasibility until its rows hold, if there is memory."""
        own = Norms.of(sought).sides
        aim = AIM * self._tolerance * (1.0 + norm) / (1.0 + min(own, norm))
        options = dataclasses.replace(options, tolerance=aim)
        settings = self._settings.changed(
            shrinking={"enabled": False}, certificate={"from_iterations": NEVER}
        )
        watch = UntilFeasible(progress, aim)
        device, norms, start = state.problem.device, Norms(norm, 0.0), Start(point)
        try:
            there = prepare(sought, options, device, watch, start, settings, norms, coefficients)
            outcome = self._run(there, options, watch)
        except Exception as error:
            if not device.is_out_of_memory(error):
                raise
            return None, 0
        return outcome.x, int(outcome.statistics["iterations"])


def _transposed(coefficients: Coefficients) -> Coefficients:
    """Return the coefficients of A', which are those of A the other way round."""
    return Coefficients(
        by_row=coefficients.by_column,
        by_column=coefficients.by_row,
        row_order=coefficients.column_order,
        column_order=coefficients.row_order,
    )
