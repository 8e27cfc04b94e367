"""The entry point of the simplex engine."""

from __future__ import annotations

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.simplex.answer import to_outcome
from solvers.simplex.driver import run_stages
from solvers.simplex.run import UNLIMITED, Run
from solvers.simplex.status import SolveStatus


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a linear program by the simplex method, with a dense inverse that stays on the device.

    Parameters
    ----------
    problem : Problem
        Its integrality is ignored.
    options : EngineOptions
        ``tolerance``, ``iteration_limit``, ``seed`` and ``device`` are read.
    progress : Progress
        Keeps the time limit; told of iterations.
    start : Start, optional
        ``basis``, with any number of basic variables, or ``x`` to guess one from.

    Returns
    -------
    Outcome
        In the minimised sense, with a basis. Unbounded comes with a feasible ``x`` and a
        ``primal_ray``, infeasible with a ``dual_ray``, both proven on ``problem``.

    Raises
    ------
    DeviceError
        The inverse of a basis does not fit the device.
    """
    stopped = progress.should_stop()
    if stopped is not None:
        return Outcome(SolutionStatus.NOTHING, stopped, engine="simplex")
    limit = UNLIMITED if options.iteration_limit is None else options.iteration_limit
    run = Run(problem, progress, options.device, limit, options.seed)
    status, state = run_stages(run, start, options.tolerance)
    reason = run.stop_reason or StopReason.NUMERICAL_TROUBLE
    return to_outcome(
        problem,
        state,
        status,
        reason,
        tolerance=options.tolerance,
        ray=run.ray if status in (SolveStatus.INFEASIBLE, SolveStatus.UNBOUNDED) else None,
        statistics=run.statistics(),
        device=options.device,
    )
