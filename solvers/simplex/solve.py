"""The entry point of the simplex engine, and the stages of a solve.

Pivots are made on the scaled problem first. What is optimal there is looked at again on the problem
as it was given, where further pivots follow if it needs them, and once more with a tighter
tolerance, as far as the arithmetic bears it. Nothing is claimed but what a fresh factorisation of
the unscaled, unperturbed problem has confirmed, or a ray has proven on its data.
"""

from __future__ import annotations

import dataclasses

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.simplex.answer import to_outcome
from solvers.simplex.phases import UNLIMITED, Run, optimise, restore
from solvers.simplex.state import (
    PIVOT_TOLERANCE,
    SimplexState,
    SolveStatus,
    infeasibility,
    slack_form,
    start_state,
    state_of,
)

TIGHT_TOLERANCE = 1e-9
"""Violations that the answer should not have where a few more pivots can help it."""


def run_stages(run: Run, start: Start | None, tolerance: float) -> tuple[SolveStatus, SimplexState]:
    """Return what was found, and the state it was found in."""
    state = first_state(run, start)
    state.tolerance = min(PIVOT_TOLERANCE, tolerance)
    status = optimise(run, state, perturb=True)
    if status is not SolveStatus.OPTIMAL:
        return status, state
    found = unscaled(run, state)
    trial = copied(found)
    status = optimise(run, trial, perturb=False)
    if status is SolveStatus.TROUBLE:
        return status, found
    return status, settled(run, trial) if status is SolveStatus.OPTIMAL else trial


def first_state(run: Run, start: Start | None) -> SimplexState:
    """Make the core of the scaled problem and return the state to begin with."""
    form = slack_form(run.problem)
    run.begin(form)
    return start_state(form, start)


def unscaled(run: Run, state: SimplexState) -> SimplexState:
    """Return the state's basis on the problem as it was given, with a core for it."""
    if not state.form.is_scaled:
        return state
    form = slack_form(run.problem, scaled=False)
    run.begin_again(form)
    found = state_of(form, state.status)
    found.tolerance = state.tolerance
    restore(run, found)
    return found


def settled(run: Run, state: SimplexState) -> SimplexState:
    """Return the optimal state with smaller violations, or as it is where that does not work."""
    trial = copied(state)
    trial.tolerance = min(TIGHT_TOLERANCE, state.tolerance)
    wrong = infeasibility(trial)
    if max(wrong.primal, wrong.dual) <= trial.tolerance:
        return state
    if optimise(run, trial, perturb=False) is SolveStatus.OPTIMAL:
        return trial
    run.ray = None
    return state


def copied(state: SimplexState) -> SimplexState:
    """Return a state with arrays of its own."""
    arrays = ("basic", "status", "x", "reduced_cost", "cost", "lower", "upper", "edge_weight")
    return dataclasses.replace(state, **{name: getattr(state, name).copy() for name in arrays})


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
