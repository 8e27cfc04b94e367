"""The model of ``ModelBuilder`` and ``pywraplp``, ``MPModelProto``, and its response."""

from __future__ import annotations

from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np
from ortools.linear_solver import linear_solver_pb2 as pb

from gpu_bridge.adapters.arrays import explanation, may_be_loaded, solve_arrays, why_not_loaded
from gpu_bridge.interrupt import solving
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from gpu_bridge.solution_pool import pool_solutions
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError
from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray

_SETTLED = {
    SolutionStatus.OPTIMAL: pb.MPSOLVER_OPTIMAL,
    SolutionStatus.FEASIBLE: pb.MPSOLVER_FEASIBLE,
    SolutionStatus.INFEASIBLE: pb.MPSOLVER_INFEASIBLE,
    SolutionStatus.UNBOUNDED: pb.MPSOLVER_UNBOUNDED,
}
_STOPPED = {
    StopReason.INTERRUPTED: pb.MPSOLVER_CANCELLED_BY_USER,
    StopReason.NUMERICAL_TROUBLE: pb.MPSOLVER_ABNORMAL,
    StopReason.OUT_OF_MEMORY: pb.MPSOLVER_ABNORMAL,
}


@solving()
def solve_mp_model(model: Any, **options: Any) -> Any:
    """Solve an ``MPModelProto`` or ``MPModelRequest`` and return an ``MPSolutionResponse``.

    Parameters
    ----------
    model : MPModelProto or MPModelRequest
        A request's time limit, wish for output, and number of additional solutions are options of
        this solve; its solver type is not looked at. A model's solution hint is the start.
    **options
        Options by our names or those of other solvers, before those of a request.

    Returns
    -------
    MPSolutionResponse
        Duals and reduced costs are there for linear programs; ``status_str`` has the answer in
        sentences.

    Raises
    ------
    UnsupportedModelError
        The model has a quadratic objective or general constraints.
    OptionError, ProblemError
        For options or data that cannot be used.
    """
    began = perf_counter()
    of_request, model = _read_request(model)
    settings = make_options(of_request, options)
    outcome = solve_arrays(settings, began, start=_hint(model), **_arrays(model))
    return _response(outcome, settings, additional=of_request.get("pool_size", 1) - 1)


def _read_request(given: Any) -> tuple[dict[str, Any], Any]:
    """Return the options of a request, and the model."""
    if isinstance(given, pb.MPModelProto):
        return {}, given
    if not isinstance(given, pb.MPModelRequest):
        raise ProblemError(
            f"solve_mp_model() takes an MPModelProto or MPModelRequest, not a "
            f"{type(given).__name__}; a ModelBuilder's is its export_to_proto()."
        )
    if given.HasField("model_delta"):
        raise UnsupportedModelError("The request has a 'model_delta'; give the model itself.")
    tuned = given.solver_specific_parameters
    if tuned and not given.ignore_solver_specific_parameters_failure:
        raise OptionError(
            f"The request has 'solver_specific_parameters', {tuned!r}; give options as keywords."
        )
    options: dict[str, Any] = {"log": given.enable_internal_solver_output}
    if given.HasField("solver_time_limit_seconds"):
        options["time_limit"] = given.solver_time_limit_seconds
    if given.populate_additional_solutions_up_to:
        options["pool_size"] = given.populate_additional_solutions_up_to + 1
    return options, given.model


def _arrays(model: Any) -> dict[str, Any]:
    """Return the arguments of ``Problem.from_arrays``."""
    if model.HasField("quadratic_objective") and model.quadratic_objective.coefficient:
        raise UnsupportedModelError("The model has a quadratic objective; ours are linear.")
    for constraint in model.general_constraint:
        kind = constraint.WhichOneof("general_constraint")
        raise UnsupportedModelError(
            f"General constraint '{constraint.name}' is a {kind}; write it with linear constraints."
        )
    variables, constraints = model.variable, model.constraint
    lengths = np.fromiter((len(row.var_index) for row in constraints), np.int64, len(constraints))
    size = int(lengths.sum())
    given = sum(len(row.coefficient) for row in constraints)
    if given != size:
        raise ProblemError(f"The constraints have {size} indices and {given} coefficients.")
    places = np.fromiter(chain.from_iterable(r.var_index for r in constraints), np.int32, size)
    factors = np.fromiter(chain.from_iterable(r.coefficient for r in constraints), float, size)
    if size and not 0 <= places.min() <= places.max() < len(variables):
        raise ProblemError(
            f"A constraint has the variable {places.max()}; the model has {len(variables)}."
        )
    row = np.repeat(np.arange(len(constraints)), lengths)
    shape = len(constraints), len(variables)
    return {
        "cost": [variable.objective_coefficient for variable in variables],
        "matrix": SparseRows.of_entries(factors, row, places, shape),
        "row_lower": [constraint.lower_bound for constraint in constraints],
        "row_upper": [constraint.upper_bound for constraint in constraints],
        "lower": [variable.lower_bound for variable in variables],
        "upper": [variable.upper_bound for variable in variables],
        "integrality": [variable.is_integer for variable in variables],
        "offset": model.objective_offset,
        "maximize": model.maximize,
        "name": model.name,
        "column_names": [v.name or f"c{j}" for j, v in enumerate(variables)],
        "row_names": [c.name or f"r{i}" for i, c in enumerate(constraints)],
    }


def _hint(model: Any) -> Start | None:
    places = list(model.solution_hint.var_index)
    if not places:
        return None
    if not 0 <= min(places) <= max(places) < len(model.variable):
        raise ProblemError(f"The solution hint has the variable {max(places)}, which is absent.")
    x: FloatArray = np.full(len(model.variable), np.nan)
    x[places] = list(model.solution_hint.var_value)
    return Start(x=x)


def _response(outcome: Outcome, options: Options, *, additional: int) -> Any:
    response = pb.MPSolutionResponse()
    loaded = may_be_loaded(outcome, options)
    response.status = mp_status(outcome, has_values=loaded)
    response.status_str = explanation(outcome) if loaded else why_not_loaded(outcome)
    response.solve_info.solve_wall_time_seconds = outcome.seconds
    if np.isfinite(outcome.bound):
        response.best_objective_bound = outcome.bound
    if not loaded or outcome.x is None or outcome.problem is None:
        return response
    response.objective_value = outcome.objective
    response.variable_value.extend(outcome.x.tolist())
    if outcome.problem.is_mip:
        for entry in pool_solutions(outcome)[1 : additional + 1]:
            response.additional_solutions.add(
                objective_value=entry.objective, variable_value=entry.x.tolist()
            )
        return response
    if outcome.row_dual is not None:
        response.dual_value.extend(outcome.row_dual.tolist())
    if outcome.reduced_cost is not None:
        response.reduced_cost.extend(outcome.reduced_cost.tolist())
    return response


def mp_status(outcome: Outcome, *, has_values: bool) -> int:
    """Return the status of a response; an approximate point is *feasible* only if it is loaded."""
    if outcome.solution_status in _SETTLED:
        return int(_SETTLED[outcome.solution_status])
    if outcome.solution_status is SolutionStatus.APPROXIMATE:
        return int(pb.MPSOLVER_FEASIBLE if has_values else pb.MPSOLVER_ABNORMAL)
    return int(_STOPPED.get(outcome.stop_reason, pb.MPSOLVER_NOT_SOLVED))
