"""The main loop: windows of iterations, a check after each, restarts in between."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.pdlp.answer import Answer, to_outcome, unscaled
from solvers.pdlp.best import Best
from solvers.pdlp.certificate import find_dual_ray, find_primal_ray
from solvers.pdlp.iterate import advance, restart
from solvers.pdlp.primal_weight import next_weight, note_balance
from solvers.pdlp.restart import Epoch, restart_reason
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Statistics, measure, read
from solvers.pdlp.termination import Criteria, is_optimal, is_primal_feasible
from solvers.progress import Progress


@dataclass(eq=False)
class _Memory:
    """What the loop remembers from check to check."""

    criteria: Criteria
    best: Best
    checks: int = 0
    first_metric: float = 0.0
    previous_metric: float = float("inf")
    next_certificate: float = 0.0


def run(state: State, options: EngineOptions, progress: Progress) -> Outcome:
    """Iterate until the tolerance, a proof or a limit is reached.

    A state may be run again: it goes on where it stopped.
    """
    memory = _Memory(Criteria.uniform(options.tolerance), Best())
    statistics = read(state, measure(state))  # of the starting point
    while True:
        if not statistics.is_finite:
            return _limit(state, memory, StopReason.NUMERICAL_TROUBLE)
        memory.best.note(state, statistics, is_primal_feasible(statistics, memory.criteria))
        _tell(state, statistics, progress)
        answer = _optimal_answer(state, memory, statistics)
        if answer is not None:
            return _outcome(state, memory, answer, StopReason.CONVERGED)
        proof = _proof(state, memory)
        if proof is not None:
            return proof
        stopped = progress.should_stop() or _spent(state, options)
        if stopped is not None:
            return _limit(state, memory, stopped)
        _restart_if_due(state, memory, statistics)
        statistics = _window(state, memory, options, progress)


def _window(
    state: State, memory: _Memory, options: EngineOptions, progress: Progress
) -> Statistics:
    """Iterate to the next check and return its statistics."""
    count = state.settings.check_interval
    if options.iteration_limit is not None:
        count = min(count, options.iteration_limit - state.iterations)
    window = advance(state, count, progress)
    statistics = read(state, measure(state))
    if window.first_sums is not None:
        memory.first_metric = read(state, window.first_sums).metric
        memory.previous_metric = float("inf")
    memory.checks += 1
    return statistics


def _restart_if_due(state: State, memory: _Memory, statistics: Statistics) -> None:
    """Restart at the projected point, with a new weight, when the restart tests say so."""
    if memory.checks == 0:
        return
    state.weight = note_balance(state.weight, statistics.relative_primal, statistics.relative_dual)
    if statistics.metric_squared < 0.0:
        state.norm *= state.settings.norm_growth
    epoch = Epoch(
        first=memory.first_metric,
        previous=memory.previous_metric,
        now=statistics.metric,
        iterations=state.epoch_iterations,
        total_iterations=state.iterations,
        checks_in_all=memory.checks,
    )
    memory.previous_metric = statistics.metric
    if restart_reason(epoch, state.settings) is None:
        return
    state.weight = next_weight(
        state.weight,
        statistics.primal_distance,
        statistics.dual_distance,
        statistics.relative_primal,
        statistics.relative_dual,
        state.settings,
    )
    restart(state)


def _optimal_answer(state: State, memory: _Memory, statistics: Statistics) -> Answer | None:
    """Return the projected point if it is optimal on the original data too."""
    if not is_optimal(statistics, memory.criteria):
        return None
    answer = unscaled(state, state.x.projection, state.y.projection)
    return answer if is_optimal(answer.statistics, memory.criteria) else None


def _proof(state: State, memory: _Memory) -> Outcome | None:
    """Look for a certificate now and then; looking costs products on the host."""
    if memory.checks == 0 or state.iterations < memory.next_certificate:
        return None
    memory.next_certificate = state.iterations * state.settings.certificate_growth
    dual_ray = find_dual_ray(state)
    if dual_ray is not None:
        return _proven(state, SolutionStatus.INFEASIBLE, dual_ray=dual_ray)
    primal_ray = find_primal_ray(state)
    if primal_ray is not None:
        return _proven(state, SolutionStatus.UNBOUNDED, primal_ray=primal_ray)
    return None


def _proven(state: State, status: SolutionStatus, **rays: Any) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine="pdlp",
        device=state.problem.device.kind,
        statistics=_counts(state),
        **rays,
    )


def _limit(state: State, memory: _Memory, reason: StopReason) -> Outcome:
    """Return the best there is when the solve has to stop short of its aim."""
    if memory.best.x is None:
        return Outcome(
            SolutionStatus.NOTHING,
            reason,
            engine="pdlp",
            device=state.problem.device.kind,
            statistics=_counts(state),
        )
    answer = unscaled(state, memory.best.x, memory.best.y)
    return _outcome(state, memory, answer, reason)


def _outcome(state: State, memory: _Memory, answer: Answer, reason: StopReason) -> Outcome:
    device = state.problem.device.kind
    feasible_x = None
    objective = answer.statistics.primal_objective
    if memory.best.feasible_x is not None:
        feasible = unscaled(state, memory.best.feasible_x, memory.best.y)
        if is_primal_feasible(feasible.statistics, memory.criteria):
            feasible_x, objective = feasible.x, feasible.statistics.primal_objective
    outcome = to_outcome(answer, memory.criteria, reason, _counts(state), device, feasible_x)
    if outcome.x is feasible_x is not None:
        activity = state.problem.original.matrix @ feasible_x
        outcome = dataclasses.replace(outcome, objective=objective, row_activity=activity)
    return outcome


def _tell(state: State, statistics: Statistics, progress: Progress) -> None:
    progress.iteration(
        state.iterations,
        primal_residual=statistics.relative_primal,
        dual_residual=statistics.relative_dual,
        gap=statistics.relative_gap,
        primal_weight=state.weight.value,
    )


def _spent(state: State, options: EngineOptions) -> StopReason | None:
    limit = options.iteration_limit
    return StopReason.ITERATION_LIMIT if limit is not None and state.iterations >= limit else None


def _counts(state: State) -> dict[str, float | int | str]:
    return {
        "iterations": state.iterations,
        "restarts": state.restarts,
        "primal_weight": state.weight.value,
        "matrix_norm": state.norm,
    }
