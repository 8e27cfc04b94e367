"""MathOpt's models: ``solve`` for its Python objects, ``solve_proto`` for its protocol buffers.

MathOpt names variables and constraints by numbers that ascend and may have gaps, and gives values
as pairs of numbers and values. Duals of a maximisation are in its own sense, as everywhere here.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, TextIO, cast

import numpy as np
import numpy.typing as npt
from ortools.math_opt import model_parameters_pb2, model_pb2, parameters_pb2

from gpu_bridge.adapters.arrays import solve_arrays
from gpu_bridge.adapters.ortools.math_opt_result import IdArray, make_result
from gpu_bridge.interrupt import solving
from gpu_bridge.options import make_options
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError
from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import FloatArray

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


class _Messages(io.TextIOBase):
    """Hands the lines of a log to a callback of MathOpt's, which takes lists of them.

    ``failure`` is what it raised, after which it is told nothing more.
    """

    def __init__(self, callback: Callable[[list[str]], object]) -> None:
        self._callback = callback
        self._begun = ""
        self.failure: Exception | None = None

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        if lines and self.failure is None:
            try:
                self._callback(lines)
            except Exception as error:  # a log must not break a solve: the caller raises it
                self.failure = error
        return len(text)


def solve(
    model: Any,
    *,
    params: Any = None,
    model_params: Any = None,
    msg_cb: Callable[[list[str]], object] | None = None,
    **options: Any,
) -> Any:
    """Solve a ``mathopt.Model`` and return a ``mathopt.SolveResult``, as ``mathopt.solve`` does.

    Parameters
    ----------
    model : mathopt.Model
    params : mathopt.SolveParameters, optional
        Those of single solvers are passed over, as MathOpt does with other solvers' parameters.
    model_params : mathopt.ModelSolveParameters, optional
        Filters, the first solution hint, and an initial basis.
    msg_cb : callable, optional
        Called with lists of lines of the log, which then is not printed. What it raises is raised
        after the solve.
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
        msg_cb=msg_cb,
        **options,
    )
    return result.parse_solve_result(answer, model)


@solving()
def solve_proto(
    model: Any,
    params: Any = None,
    model_params: Any = None,
    *,
    msg_cb: Callable[[list[str]], object] | None = None,
    **options: Any,
) -> Any:
    """Solve a ``ModelProto`` as :func:`solve` does a model and return a ``SolveResultProto``.

    ``params`` and ``model_params`` are the protocol buffers of what it takes.
    """
    began = perf_counter()
    if not isinstance(model, model_pb2.ModelProto):
        raise ProblemError(
            f"solve_proto() takes a ModelProto, not a {type(model).__name__}; solve() takes a "
            "mathopt.Model."
        )
    if model_params is None:
        model_params = model_parameters_pb2.ModelSolveParametersProto()
    if msg_cb is not None and not callable(msg_cb):
        raise OptionError(f"'msg_cb' takes a function of lines; {msg_cb!r} is none.")
    settings = make_options({} if params is None else _parameters(params), options)
    messages = None if msg_cb is None else _Messages(msg_cb)
    streams: list[TextIO] = []
    if messages is not None:
        settings = replace(settings, log=False)
        streams = [cast("TextIO", messages)]
    columns, rows = _ids(model.variables.ids), _ids(model.linear_constraints.ids)
    start = _start(model_params, columns, rows)
    arrays = _arrays(model, columns, rows)
    outcome = solve_arrays(settings, began, start=start, streams=streams, **arrays)
    if messages is not None and messages.failure is not None:
        raise messages.failure
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
