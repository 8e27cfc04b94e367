"""``milp`` and ``linprog`` with the arguments and results of those in ``scipy.optimize``.

    from gpu_bridge.adapters.scipy import linprog, milp

Marginals are d(objective)/d(side), as in SciPy. ``message`` says in sentences what the answer is,
and which constraints of an infeasible model contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult

from gpu_bridge.adapters.arrays import (
    explanation,
    iterations,
    may_be_loaded,
    solve_arrays,
    why_not_loaded,
)
from gpu_bridge.interrupt import solving
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError
from solvers.core.outcome import BasisStatus, Start
from solvers.core.problem import BoolArray, FloatArray

SCIPY_METHODS = {
    "highs-ds": {"method": "highs", "lp_algorithm": "simplex"},
    "highs-ipm": {"method": "highs", "lp_algorithm": "ipm"},
}
"""SciPy's methods that the option ``method`` has another name for."""

_SETTLED = {
    SolutionStatus.OPTIMAL: 0,
    SolutionStatus.INFEASIBLE: 2,
    SolutionStatus.UNBOUNDED: 3,
    SolutionStatus.APPROXIMATE: 4,
}
_LIMITS = (StopReason.TIME_LIMIT, StopReason.ITERATION_LIMIT)


@solving()
def milp(
    c: npt.ArrayLike,
    *,
    integrality: npt.ArrayLike | None = None,
    bounds: Any = None,
    constraints: Any = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """Minimise ``c @ x`` over a mixed-integer linear set, as ``scipy.optimize.milp`` does.

    Parameters
    ----------
    c : (n,) array
        Objective coefficients.
    integrality : (n,) array of int, optional
        1 where the variable is integer, 0 where not.
    bounds : scipy.optimize.Bounds, optional
        Of the variables; without them ``0 <= x``.
    constraints : LinearConstraint, or a sequence of them or of what makes one, optional
        Matrices may be sparse.
    options : mapping, optional
        SciPy's ``disp``, ``node_limit``, ``presolve``, ``time_limit`` and ``mip_rel_gap``, and all
        names of the option table.

    Returns
    -------
    OptimizeResult
        SciPy's fields. A point that is feasible and not proven optimal is in ``x``, with status 1
        after a limit and 4 otherwise.

    Raises
    ------
    OptionError, ProblemError, UnsupportedModelError
        For input that cannot be used; the message names the culprit and the fix.
    """
    began = perf_counter()
    settings = _settings(options)
    cost = _cost(c)
    lower, upper = _bounds_object(bounds, cost.size)
    matrix, row_lower, row_upper = _stacked(_as_constraints(constraints), cost.size)
    outcome = solve_arrays(
        settings,
        began,
        cost=cost,
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=lower,
        upper=upper,
        integrality=_integrality(integrality, cost.size),
    )
    x = outcome.x if may_be_loaded(outcome, settings) else None
    return OptimizeResult({**_about(outcome, x), **_about_search(outcome)})


@solving()
def linprog(
    c: npt.ArrayLike,
    A_ub: Any = None,
    b_ub: npt.ArrayLike | None = None,
    A_eq: Any = None,
    b_eq: npt.ArrayLike | None = None,
    bounds: Any = (0, None),
    method: str = "auto",
    callback: None = None,
    options: Mapping[str, Any] | None = None,
    x0: npt.ArrayLike | None = None,
    integrality: npt.ArrayLike | None = None,
) -> OptimizeResult:
    """Minimise ``c @ x`` under linear constraints, as ``scipy.optimize.linprog`` does.

    Parameters
    ----------
    c : (n,) array
        Objective coefficients.
    A_ub, b_ub : (k, n) matrix and (k,) array, optional
        ``A_ub @ x <= b_ub``; the matrix may be sparse.
    A_eq, b_eq : (l, n) matrix and (l,) array, optional
        ``A_eq @ x == b_eq``.
    bounds : sequence of (low, high), one such pair, or scipy.optimize.Bounds
        Of the variables, None for no bound.
    method : str
        That of the option table, or SciPy's ``highs``, ``highs-ds`` or ``highs-ipm``.
    callback : None
        Is in SciPy's signature, whose HiGHS methods take none either.
    options : mapping, optional
        SciPy's ``disp``, ``maxiter``, ``presolve``, ``time_limit``, ``mip_rel_gap`` and feasibility
        tolerances, and all names of the option table.
    x0 : (n,) array, optional
        A point to start from; NaN where it is unknown.
    integrality : int or (n,) array of int, optional
        1 where the variable is integer, 0 where not.

    Returns
    -------
    OptimizeResult
        SciPy's fields; ``marginals`` are None for mixed-integer models and without a point.

    Raises
    ------
    OptionError, ProblemError, UnsupportedModelError
        For input that cannot be used; the message names the culprit and the fix.
    """
    began = perf_counter()
    if callback is not None:
        raise OptionError(
            "linprog() takes no callback; gpu_bridge.solve(..., on_solution=...) tells of points."
        )
    settings = _settings(options, method)
    cost = _cost(c)
    lower, upper = _bounds(bounds, cost.size)
    inequalities = _side("ub", A_ub, b_ub, cost.size)
    equations = _side("eq", A_eq, b_eq, cost.size)
    count = inequalities[1].size
    row_lower = np.concatenate([np.full(count, -np.inf), equations[1]])
    outcome = solve_arrays(
        settings,
        began,
        start=None if x0 is None else Start(x=_vector("x0", x0, cost.size)),
        cost=cost,
        matrix=_on_top(inequalities[0], equations[0]),
        row_lower=row_lower,
        row_upper=np.concatenate([inequalities[1], equations[1]]),
        lower=lower,
        upper=upper,
        integrality=_integrality(integrality, cost.size),
    )
    x = outcome.x if may_be_loaded(outcome, settings) else None
    result = _about(outcome, x)
    slack = None if x is None else inequalities[1] - inequalities[0] @ x
    con = None if x is None else equations[1] - equations[0] @ x
    is_mip = outcome.problem is not None and outcome.problem.is_mip
    y = None if x is None or is_mip else outcome.row_dual
    z = None if x is None or is_mip else _reduced_cost(outcome)
    result.update(
        slack=slack,
        con=con,
        ineqlin=_sensitivity(slack, None if y is None else y[:count]),
        eqlin=_sensitivity(con, None if y is None else y[count:]),
        lower=_sensitivity(
            None if x is None else x - lower, None if z is None else np.maximum(z, 0.0)
        ),
        upper=_sensitivity(
            None if x is None else upper - x, None if z is None else np.minimum(z, 0.0)
        ),
        nit=iterations(outcome),
        crossover_nit=int(outcome.statistics.get("crossover_iterations", 0)),
    )
    if integrality is not None:
        result.update(_about_search(outcome))
    return OptimizeResult(result)


def scipy_status(outcome: Outcome) -> int:
    """Return SciPy's number: 0 optimal, 1 a limit, 2 infeasible, 3 unbounded, 4 anything else."""
    limit = 1 if outcome.stop_reason in _LIMITS else 4
    return _SETTLED.get(outcome.solution_status, limit)


def _about(outcome: Outcome, x: FloatArray | None) -> dict[str, Any]:
    status = scipy_status(outcome)
    without = x is None and status not in (2, 3)
    return {
        "x": x,
        "fun": None if x is None else outcome.objective,
        "status": status,
        "success": status == 0,
        "message": why_not_loaded(outcome) if without else explanation(outcome),
    }


def _about_search(outcome: Outcome) -> dict[str, Any]:
    has_bound = np.isfinite(outcome.bound)
    return {
        "mip_node_count": int(outcome.statistics.get("nodes", 0)),
        "mip_dual_bound": outcome.bound if has_bound else None,
        "mip_gap": outcome.gap if np.isfinite(outcome.gap) else None,
    }


def _reduced_cost(outcome: Outcome) -> FloatArray | None:
    """Return the reduced costs, free of rounding where a basis says that they are zero."""
    if outcome.reduced_cost is None or outcome.basis is None:
        return outcome.reduced_cost
    basic = outcome.basis.column_status == BasisStatus.BASIC
    return np.where(basic, 0.0, outcome.reduced_cost)


def _sensitivity(residual: FloatArray | None, marginals: FloatArray | None) -> OptimizeResult:
    return OptimizeResult({"residual": residual, "marginals": marginals})


def _settings(given: Mapping[str, Any] | None, method: str = "auto") -> Options:
    values = {name: value for name, value in (given or {}).items() if value is not None}
    return make_options(SCIPY_METHODS.get(method, {"method": method}), values)


def _cost(c: npt.ArrayLike) -> FloatArray:
    cost = _numbers("c", c)
    if cost.ndim != 1:
        raise ProblemError(f"'c' must have one dimension; its shape is {np.shape(c)}.")
    return cost


def _vector(name: str, values: npt.ArrayLike, size: int) -> FloatArray:
    array = _numbers(name, values)
    if array.shape != (size,):
        raise ProblemError(f"'{name}' has shape {np.shape(values)}; it must be ({size},).")
    return array


def _numbers(name: str, values: Any) -> FloatArray:
    """Return a vector of at least one dimension, as SciPy reads one."""
    if sp.issparse(values):
        raise ProblemError(f"'{name}' must be a dense array; a sparse one was given.")
    try:
        return np.atleast_1d(np.squeeze(np.asarray(values, dtype=np.float64)))
    except (TypeError, ValueError) as error:
        raise ProblemError(f"'{name}' is not an array of numbers: {error}.") from error


def _side(
    name: str, matrix: Any, values: npt.ArrayLike | None, size: int
) -> tuple[Any, FloatArray]:
    """Return the matrix and the right sides of ``linprog``'s inequalities or equations."""
    if matrix is None and values is None:
        return np.zeros((0, size)), np.zeros(0)
    if matrix is None or values is None:
        raise ProblemError(f"'A_{name}' and 'b_{name}' belong together; one of them is None.")
    if not sp.issparse(matrix):
        matrix = _table(name, matrix, size)
    elif matrix.shape[1] != size:
        raise ProblemError(f"'A_{name}' has {matrix.shape[1]} columns; 'c' has {size} entries.")
    return matrix, _vector(f"b_{name}", values, matrix.shape[0])


def _table(name: str, matrix: Any, size: int) -> FloatArray:
    try:
        table = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ProblemError(f"'A_{name}' is not a matrix of numbers: {error}.") from error
    if table.size == 0:
        return np.zeros((0, size))
    if table.ndim != 2 or table.shape[1] != size:
        raise ProblemError(f"'A_{name}' has shape {table.shape}; 'c' has {size} entries.")
    return table


def _on_top(first: Any, second: Any) -> Any:
    """Return one matrix above the other; a single one as it is."""
    if not first.shape[0] or not second.shape[0]:
        return second if not first.shape[0] else first
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([first, second], format="csr")
    return np.vstack([first, second])


def _bounds(bounds: Any, size: int) -> tuple[FloatArray, FloatArray]:
    """Return ``linprog``'s bounds as arrays (n,)."""
    if isinstance(bounds, Bounds):
        return _bounds_object(bounds, size)
    pairs = np.array((0.0, np.nan) if bounds is None else bounds, dtype=np.float64)  # None is NaN
    if not pairs.size:
        pairs = np.array((0.0, np.nan))
    if pairs.shape not in ((2,), (1, 2), (size, 2)):
        raise ProblemError(
            f"'bounds' must be one pair (low, high) or {size} of them; its shape is {pairs.shape}."
        )
    pairs = np.broadcast_to(pairs, (size, 2))
    lower, upper = pairs[:, 0], pairs[:, 1]
    return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)


def _bounds_object(bounds: Any, size: int) -> tuple[FloatArray, FloatArray]:
    """Return ``milp``'s bounds as arrays (n,)."""
    if bounds is None:
        return np.zeros(size), np.full(size, np.inf)
    if not isinstance(bounds, Bounds):
        try:
            bounds = Bounds(*bounds)
        except TypeError as error:
            raise ProblemError(
                "'bounds' must be a scipy.optimize.Bounds, or the lower and the upper bounds; "
                f"{error}."
            ) from error
    try:
        lower = np.broadcast_to(np.asarray(bounds.lb, dtype=np.float64), (size,))
        upper = np.broadcast_to(np.asarray(bounds.ub, dtype=np.float64), (size,))
    except ValueError as error:
        raise ProblemError(f"'bounds' do not fit the {size} entries of 'c': {error}.") from error
    return lower, upper


def _as_constraints(given: Any) -> list[LinearConstraint]:
    """Return the constraints of a call of ``milp``: one, what makes one, or several of these."""
    if given is None:
        return []
    if isinstance(given, LinearConstraint):
        return [given]
    try:
        items = list(given)
    except TypeError as error:
        raise ProblemError(f"'constraints' must be LinearConstraints; {error}.") from error
    if len(items) == 3:
        try:
            return [LinearConstraint(*items)]
        except (TypeError, ValueError):
            pass  # three constraints
    return [_as_constraint(number, item) for number, item in enumerate(items)]


def _as_constraint(number: int, item: Any) -> LinearConstraint:
    if isinstance(item, LinearConstraint):
        return item
    try:
        return LinearConstraint(*item)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"Constraint {number} makes no scipy.optimize.LinearConstraint: {error}."
        ) from error


def _stacked(constraints: Sequence[LinearConstraint], size: int) -> tuple[Any, Any, Any]:
    """Return all constraints as one matrix (m, n) with its sides (m,)."""
    matrix, lows, highs = np.zeros((0, size)), [np.zeros(0)], [np.zeros(0)]
    for number, constraint in enumerate(constraints):
        A = constraint.A if sp.issparse(constraint.A) else np.atleast_2d(constraint.A)
        if A.shape[1] != size:
            raise ProblemError(
                f"Constraint {number} has {A.shape[1]} columns; 'c' has {size} entries."
            )
        matrix = _on_top(matrix, A)
        lows.append(np.broadcast_to(constraint.lb, A.shape[0]))
        highs.append(np.broadcast_to(constraint.ub, A.shape[0]))
    return matrix, np.concatenate(lows), np.concatenate(highs)


def _integrality(given: npt.ArrayLike | None, size: int) -> BoolArray:
    kinds = _numbers("integrality", 0 if given is None else given)
    if kinds.size == 1:
        kinds = np.full(size, kinds[0])
    kinds = _vector("integrality", kinds, size)
    strange = np.flatnonzero(~np.isin(kinds, (0, 1)))
    if strange.size:
        j = int(strange[0])
        raise UnsupportedModelError(
            f"Variable {j} has integrality {kinds[j]:g}; gpu-bridge knows 0 (continuous) and 1 "
            "(integer). A semi-continuous variable needs a binary one: low*z <= x <= high*z."
        )
    return kinds.astype(bool)
