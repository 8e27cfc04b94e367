"""An outcome as MathOpt's ``SolveResultProto``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.math_opt import result_pb2, solution_pb2

from gpu_bridge.adapters.arrays import explanation, may_be_loaded, why_not_loaded
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from gpu_bridge.solution_pool import pool_solutions
from solvers.core.outcome import BasisStatus

IdArray = npt.NDArray[np.int64]

_REASONS = {
    SolutionStatus.OPTIMAL: result_pb2.TERMINATION_REASON_OPTIMAL,
    SolutionStatus.FEASIBLE: result_pb2.TERMINATION_REASON_FEASIBLE,
    SolutionStatus.APPROXIMATE: result_pb2.TERMINATION_REASON_IMPRECISE,
    SolutionStatus.INFEASIBLE: result_pb2.TERMINATION_REASON_INFEASIBLE,
    SolutionStatus.UNBOUNDED: result_pb2.TERMINATION_REASON_UNBOUNDED,
    SolutionStatus.NOTHING: result_pb2.TERMINATION_REASON_NO_SOLUTION_FOUND,
}
_LIMITS = {
    StopReason.CONVERGED: result_pb2.LIMIT_UNDETERMINED,
    StopReason.TIME_LIMIT: result_pb2.LIMIT_TIME,
    StopReason.ITERATION_LIMIT: result_pb2.LIMIT_ITERATION,
    StopReason.INTERRUPTED: result_pb2.LIMIT_INTERRUPTED,
    StopReason.EXHAUSTED: result_pb2.LIMIT_OTHER,
    StopReason.NUMERICAL_TROUBLE: result_pb2.LIMIT_SLOW_PROGRESS,
    StopReason.OUT_OF_MEMORY: result_pb2.LIMIT_MEMORY,
}
_FEASIBLE = result_pb2.FEASIBILITY_STATUS_FEASIBLE
_INFEASIBLE = result_pb2.FEASIBILITY_STATUS_INFEASIBLE
_UNDETERMINED = result_pb2.FEASIBILITY_STATUS_UNDETERMINED
_TO_BASIS = {
    BasisStatus.LOWER: solution_pb2.BASIS_STATUS_AT_LOWER_BOUND,
    BasisStatus.BASIC: solution_pb2.BASIS_STATUS_BASIC,
    BasisStatus.UPPER: solution_pb2.BASIS_STATUS_AT_UPPER_BOUND,
    BasisStatus.ZERO: solution_pb2.BASIS_STATUS_FREE,
    BasisStatus.NONBASIC: solution_pb2.BASIS_STATUS_FREE,
}


def make_result(
    outcome: Outcome,
    options: Options,
    columns: IdArray,
    rows: IdArray,
    maximize: bool,
    filters: Any,
) -> Any:
    """Return a ``SolveResultProto``.

    Parameters
    ----------
    options : Options
        They say whether an approximate point is wanted.
    columns, rows : (n,), (m,) arrays of int
        MathOpt's numbers of the variables and constraints.
    filters : ModelSolveParametersProto
        Which values are wanted.
    """
    result = result_pb2.SolveResultProto()
    loaded = may_be_loaded(outcome, options)
    _terminate(result.termination, outcome, loaded, maximize)
    _count(result.solve_stats, outcome)
    if loaded and outcome.problem is not None:
        _add_solutions(result, outcome, columns, rows, filters)
    if outcome.primal_ray is not None:
        ray = result.primal_rays.add()
        _fill(ray.variable_values, columns, outcome.primal_ray, filters.variable_values_filter)
    if outcome.dual_ray is not None and outcome.problem is not None:
        y = 0.0 + (-outcome.dual_ray if maximize else outcome.dual_ray)  # no negative zeros
        z = -outcome.problem.entries.transposed_times(y)
        dual_ray = result.dual_rays.add()
        _fill(dual_ray.dual_values, rows, y, filters.dual_values_filter)
        _fill(dual_ray.reduced_costs, columns, z, filters.reduced_costs_filter)
    return result


def _terminate(termination: Any, outcome: Outcome, loaded: bool, maximize: bool) -> None:
    """Say why the solve ended, what is known of the problem, and the bounds."""
    status = outcome.solution_status
    termination.reason = _REASONS[status]
    if status is SolutionStatus.NOTHING and outcome.stop_reason is StopReason.NUMERICAL_TROUBLE:
        termination.reason = result_pb2.TERMINATION_REASON_NUMERICAL_ERROR
    elif status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING):
        termination.limit = _LIMITS[outcome.stop_reason]
    termination.detail = explanation(outcome) if loaded else why_not_loaded(outcome)
    worst = -np.inf if maximize else np.inf
    is_known = np.isfinite(outcome.bound)
    bounds, problem = termination.objective_bounds, termination.problem_status
    bounds.primal_bound = outcome.objective if status.has_point else worst
    bounds.dual_bound = outcome.bound if is_known else -worst
    problem.primal_status = _FEASIBLE if status.has_point else _UNDETERMINED
    problem.dual_status = _FEASIBLE if is_known else _UNDETERMINED
    if status is SolutionStatus.INFEASIBLE:
        problem.primal_status, problem.dual_status = _INFEASIBLE, _UNDETERMINED
        bounds.dual_bound = -worst
    elif status is SolutionStatus.UNBOUNDED:
        problem.primal_status, problem.dual_status = _FEASIBLE, _INFEASIBLE
        bounds.primal_bound = bounds.dual_bound = -worst


def _count(stats: Any, outcome: Outcome) -> None:
    counts = outcome.statistics
    stats.solve_time.FromTimedelta(timedelta(seconds=outcome.seconds))
    stats.simplex_iterations = int(counts.get("simplex_iterations", 0))
    stats.barrier_iterations = int(counts.get("ipm_iterations", 0))
    stats.first_order_iterations = sum(
        int(counts.get(name, 0)) for name in ("pdlp_iterations", "iterations")
    )
    stats.node_count = int(counts.get("nodes", 0))


def _add_solutions(
    result: Any, outcome: Outcome, columns: IdArray, rows: IdArray, filters: Any
) -> None:
    """Add the best point, with duals and basis of a linear program, and the others of the pool."""
    assert outcome.problem is not None
    verified = outcome.solution_status.has_point
    points = [(outcome.x, outcome.objective)]
    points += [(entry.x, entry.objective) for entry in pool_solutions(outcome)[1:]]
    for x, objective in points:
        point = result.solutions.add().primal_solution
        point.objective_value = objective
        point.feasibility_status = _solution_status(verified)
        _fill(point.variable_values, columns, x, filters.variable_values_filter)
    if outcome.problem.is_mip:
        return
    best = result.solutions[0]
    if outcome.row_dual is not None and outcome.reduced_cost is not None:
        dual = best.dual_solution
        _fill(dual.dual_values, rows, outcome.row_dual, filters.dual_values_filter)
        _fill(dual.reduced_costs, columns, outcome.reduced_cost, filters.reduced_costs_filter)
        dual.feasibility_status = _solution_status(
            outcome.solution_status is SolutionStatus.OPTIMAL
        )
        if np.isfinite(outcome.bound):
            dual.objective_value = outcome.bound
    if outcome.basis is not None:
        _fill_basis(best.basis, outcome, columns, rows)


def _solution_status(is_feasible: bool) -> int:
    if is_feasible:
        return int(solution_pb2.SOLUTION_STATUS_FEASIBLE)
    return int(solution_pb2.SOLUTION_STATUS_UNDETERMINED)


def _fill_basis(basis: Any, outcome: Outcome, columns: IdArray, rows: IdArray) -> None:
    assert outcome.basis is not None
    assert outcome.problem is not None
    problem = outcome.problem
    fixed_columns = problem.lower == problem.upper
    fixed_rows = problem.row_lower == problem.row_upper
    column_status, row_status = outcome.basis.column_status, outcome.basis.row_status
    for vector, ids, statuses, is_fixed in (
        (basis.variable_status, columns, column_status, fixed_columns),
        (basis.constraint_status, rows, row_status, fixed_rows),
    ):
        words = [_TO_BASIS[BasisStatus(status)] for status in statuses.tolist()]
        fixed = is_fixed & (statuses != BasisStatus.BASIC)
        for place in np.flatnonzero(fixed):
            words[place] = solution_pb2.BASIS_STATUS_FIXED_VALUE
        vector.ids.extend(ids.tolist())
        vector.values.extend(words)
    basis.basic_dual_feasibility = _solution_status(
        outcome.solution_status is SolutionStatus.OPTIMAL
    )


def _fill(vector: Any, ids: IdArray, values: Any, wanted: Any) -> None:
    """Write values by their numbers, as far as a filter lets them through."""
    kept = np.ones(ids.size, dtype=bool)
    if wanted.skip_zero_values:
        kept &= values != 0
    if wanted.filter_by_ids:
        kept &= np.isin(ids, np.array(wanted.filtered_ids, dtype=np.int64))
    vector.ids.extend(ids[kept].tolist())
    vector.values.extend(values[kept].tolist())
