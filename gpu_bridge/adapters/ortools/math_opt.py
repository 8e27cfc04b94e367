"""MathOpt's models: ``solve`` for its Python objects, ``solve_proto`` for its protocol buffers.

MathOpt names variables and constraints by numbers that ascend and may have gaps, and gives values
as pairs of numbers and values. Duals of a maximisation are in its own sense, as everywhere here.
"""

from __future__ import annotations

from datetime import timedelta
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.math_opt import (
    model_parameters_pb2,
    model_pb2,
    parameters_pb2,
    result_pb2,
    solution_pb2,
)

from gpu_bridge.adapters.arrays import explanation, may_be_loaded, solve_arrays, why_not_loaded
from gpu_bridge.interrupt import solving
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from gpu_bridge.solution_pool import pool_solutions
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows

# An outcome as MathOpt's ``SolveResultProto``.


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
    outcome : Outcome
    options : Options
        They say whether an approximate point is wanted.
    columns, rows : (n,), (m,) arrays of int
        MathOpt's numbers of the variables and constraints.
    maximize : bool
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


COMMON = {
    "iteration_limit": "iteration_limit",
    "node_limit": "node_limit",
    "threads": "threads",
    "random_seed": "seed",
    "absolute_gap_tolerance": "abs_gap",
    "relative_gap_tolerance": "rel_gap",
    "solution_pool_size": "pool_size",
}
"""MathOpt's parameters and the options that they set."""

ABSENT = {
    "cutoff_limit": "state a constraint on the objective instead",
    "objective_limit": "gpu_bridge.solve(..., on_solution=...) ends a solve at a point",
    "best_bound_limit": "time_limit and node_limit are the limits there are",
    "solution_limit": "gpu_bridge.solve(..., on_solution=...) ends a solve at a point",
    "cuts": "branch and bound decides on cuts",
    "heuristics": "the option method='highs' leaves our heuristics out",
    "scaling": "engines scale by themselves",
}
"""MathOpt's parameters without an option, and what to do instead."""

ALGORITHMS = {
    parameters_pb2.LP_ALGORITHM_PRIMAL_SIMPLEX: {"lp_algorithm": "simplex"},
    parameters_pb2.LP_ALGORITHM_DUAL_SIMPLEX: {"lp_algorithm": "simplex"},
    parameters_pb2.LP_ALGORITHM_BARRIER: {"lp_algorithm": "ipm"},
    parameters_pb2.LP_ALGORITHM_FIRST_ORDER: {"method": "pdlp"},
}

UNSUPPORTED = (
    *("auxiliary_objectives", "quadratic_constraints", "second_order_cone_constraints"),
    *("sos1_constraints", "sos2_constraints", "indicator_constraints"),
)

_FROM_BASIS = {
    1: BasisStatus.ZERO,
    2: BasisStatus.LOWER,
    3: BasisStatus.UPPER,
    4: BasisStatus.LOWER,
    5: BasisStatus.BASIC,
}
"""MathOpt's basis statuses (free, at lower, at upper, fixed, basic) in ours."""


def solve(model: Any, *, params: Any = None, model_params: Any = None, **options: Any) -> Any:
    """Solve a ``mathopt.Model`` and return a ``mathopt.SolveResult``, as ``mathopt.solve`` does.

    Parameters
    ----------
    model : mathopt.Model
    params : mathopt.SolveParameters, optional
        Those of single solvers are passed over, as MathOpt does with other solvers' parameters.
    model_params : mathopt.ModelSolveParameters, optional
        Filters, the first solution hint, and an initial basis.
    **options
        Options by our names or those of other solvers, before those in ``params``.

    Raises
    ------
    UnsupportedModelError
        The model has parts that are not linear, or several objectives.
    OptionError, ProblemError
        For options or data that cannot be used.
    """
    from ortools.math_opt.python import result

    answer = solve_proto(
        model.export_model(),
        None if params is None else params.to_proto(),
        None if model_params is None else model_params.to_proto(),
        **options,
    )
    return result.parse_solve_result(answer, model)


@solving()
def solve_proto(model: Any, params: Any = None, model_params: Any = None, **options: Any) -> Any:
    """Solve a ``ModelProto`` and return a ``SolveResultProto``; see :func:`solve`.

    Parameters
    ----------
    model : ModelProto
    params : SolveParametersProto, optional
    model_params : ModelSolveParametersProto, optional
    **options
        Options by our names or those of other solvers, before those in ``params``.

    Raises
    ------
    UnsupportedModelError, OptionError, ProblemError
        As :func:`solve`.
    """
    began = perf_counter()
    if not isinstance(model, model_pb2.ModelProto):
        raise ProblemError(
            f"solve_proto() takes a ModelProto, not a {type(model).__name__}; solve() takes a "
            "mathopt.Model."
        )
    if model_params is None:
        model_params = model_parameters_pb2.ModelSolveParametersProto()
    settings = make_options({} if params is None else _parameters(params), options)
    columns, rows = _ids(model.variables.ids), _ids(model.linear_constraints.ids)
    start = _start(model_params, columns, rows)
    outcome = solve_arrays(settings, began, start=start, **_arrays(model, columns, rows))
    return make_result(outcome, settings, columns, rows, model.objective.maximize, model_params)


def _parameters(params: Any) -> dict[str, Any]:
    """Return parameters that are given as options."""
    options: dict[str, Any] = {"log": params.enable_output}
    given = {item.name: value for item, value in params.ListFields()}
    for name, hint in ABSENT.items():
        if given.get(name):
            raise OptionError(f"MathOpt's parameter '{name}' has no counterpart here; {hint}.")
    options.update((ours, given[name]) for name, ours in COMMON.items() if name in given)
    if "time_limit" in given:
        options["time_limit"] = params.time_limit.ToTimedelta().total_seconds()
    options.update(ALGORITHMS.get(params.lp_algorithm, {}))
    if params.presolve:
        options["presolve"] = params.presolve != parameters_pb2.EMPHASIS_OFF
    return options


def _arrays(model: Any, columns: IdArray, rows: IdArray) -> dict[str, Any]:
    """Return the arguments of ``Problem.from_arrays``."""
    for part in UNSUPPORTED:
        if len(getattr(model, part)):
            raise UnsupportedModelError(f"The model has {part}, which no engine here takes.")
    objective, matrix = model.objective, model.linear_constraint_matrix
    if objective.quadratic_coefficients.coefficients:
        raise UnsupportedModelError("The objective is quadratic; engines here take linear ones.")
    variables, constraints = model.variables, model.linear_constraints
    return {
        "cost": _dense(objective.linear_coefficients, columns, 0.0),
        "matrix": SparseRows.of_entries(
            np.array(matrix.coefficients, dtype=np.float64),
            _places(matrix.row_ids, rows),
            _places(matrix.column_ids, columns),
            (rows.size, columns.size),
        ),
        "row_lower": np.array(constraints.lower_bounds, dtype=np.float64),
        "row_upper": np.array(constraints.upper_bounds, dtype=np.float64),
        "lower": np.array(variables.lower_bounds, dtype=np.float64),
        "upper": np.array(variables.upper_bounds, dtype=np.float64),
        "integrality": np.array(variables.integers, dtype=bool),
        "offset": objective.offset,
        "maximize": objective.maximize,
        "name": model.name,
        "column_names": _names(variables.names, columns, "c"),
        "row_names": _names(constraints.names, rows, "r"),
    }


def _start(model_params: Any, columns: IdArray, rows: IdArray) -> Start | None:
    x = basis = None
    if len(model_params.solution_hints):
        x = _dense(model_params.solution_hints[0].variable_values, columns, np.nan)
    if model_params.HasField("initial_basis"):
        given = model_params.initial_basis
        basis = Basis(
            _statuses(given.variable_status, columns), _statuses(given.constraint_status, rows)
        )
    return None if x is None and basis is None else Start(x=x, basis=basis)


def _statuses(vector: Any, ids: IdArray) -> npt.NDArray[np.int8]:
    statuses = np.full(ids.size, int(BasisStatus.NONBASIC), dtype=np.int8)
    statuses[_places(vector.ids, ids)] = [int(_FROM_BASIS[value]) for value in vector.values]
    return statuses


def _ids(values: Any) -> IdArray:
    return np.array(values, dtype=np.int64)


def _places(wanted: Any, ids: IdArray) -> IdArray:
    """Return where numbers stand among the ascending ``ids``.

    Raises
    ------
    ProblemError
        One of them does not.
    """
    sought = _ids(wanted)
    places = np.searchsorted(ids, sought)
    absent = places >= ids.size
    absent[~absent] = ids[places[~absent]] != sought[~absent]
    if absent.any():
        raise ProblemError(f"The model has no variable or constraint {sought[absent][0]}.")
    return places


def _dense(vector: Any, ids: IdArray, elsewhere: float) -> FloatArray:
    array = np.full(ids.size, elsewhere)
    array[_places(vector.ids, ids)] = np.array(vector.values, dtype=np.float64)
    return array


def _names(names: Any, ids: IdArray, letter: str) -> list[str]:
    given = list(names) or [""] * ids.size
    return [name or f"{letter}{number}" for name, number in zip(given, ids, strict=True)]
