"""CVXPY's linear and mixed-integer linear problems: ``problem.solve(solver="GPUHEUR")``.

CVXPY brings every such problem into one form, with the rows of the equations first,

    minimise c'x + d    subject to    A_1 x = b_1,   A_2 x <= b_2,   lower <= x <= upper,

and takes multipliers back that are those of ``A x - b``: the negative of d(objective)/d(side).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

import cvxpy.settings as s
import numpy as np
from cvxpy.error import SolverError
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers import defines, utilities
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from gpu_bridge.adapters.arrays import fits, iterations, may_be_loaded, solve_arrays, why_not_loaded
from gpu_bridge.interrupt import solving
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray

NAME = "GPUHEUR"
NESTED = "gpuheur_options"
"""Keyword of ``problem.solve`` for options whose names CVXPY keeps for itself, as ``method``."""

OF_OTHERS = ("scipy_options", "highs_options", "scip_params", "cplex_params")
"""Keywords for the same of CVXPY's other solvers, which are read as well."""

_NOT_OURS = (NESTED, *OF_OTHERS, "use_quad_obj")

_SETTLED = {
    SolutionStatus.OPTIMAL: s.OPTIMAL,
    SolutionStatus.APPROXIMATE: s.OPTIMAL_INACCURATE,
    SolutionStatus.INFEASIBLE: s.INFEASIBLE,
    SolutionStatus.UNBOUNDED: s.UNBOUNDED,
}
_WITHOUT_OPTIMUM = (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
_LIMITS = (StopReason.TIME_LIMIT, StopReason.ITERATION_LIMIT, StopReason.INTERRUPTED)


class GPUHEUR(ConicSolver):  # type: ignore[misc]
    """The solver, by its name or as an object: ``problem.solve(solver=GPUHEUR())``.

    Keywords of ``problem.solve`` that are not CVXPY's are options, by our names or those of other
    solvers. As CVXPY has a ``method`` of its own, ours is given as
    ``gpuheur_options={"method": "pdlp"}``, which takes all others, too.
    """

    MIP_CAPABLE = True
    BOUNDED_VARIABLES = True
    MI_SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = ConicSolver.SUPPORTED_CONSTRAINTS

    def name(self) -> str:
        """Return the name by which CVXPY knows the solver."""
        return NAME

    def import_solver(self) -> None:
        """Import nothing: who holds this class has the solver."""

    def cite(self, data: Any) -> str:
        """Return no citation; CVXPY prints what this returns."""
        return ""

    def apply(self, problem: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return CVXPY's arrays, and what is needed to turn the answer back."""
        data, inverse = super().apply(problem)
        x = problem.x
        data[s.BOOL_IDX] = [int(index[0]) for index in x.boolean_idx]
        data[s.INT_IDX] = [int(index[0]) for index in x.integer_idx]
        data[s.OFFSET] = inverse[s.OFFSET]
        return data, inverse

    @solving()
    def solve_via_data(
        self,
        data: dict[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: dict[str, Any],
        solver_cache: dict[str, Any] | None = None,
    ) -> Outcome:
        """Solve, from the variables' values and the last answer's basis if ``warm_start``.

        Raises
        ------
        SolverError
            No point and no proof were found, or the point misses the tolerance and
            ``load_approximate`` was not asked for; the message says why.
        OptionError, ProblemError
            For options or data that cannot be used.
        """
        began = perf_counter()
        named = {name: value for name, value in solver_opts.items() if name not in _NOT_OURS}
        nested = [solver_opts.get(name) for name in (*OF_OTHERS, NESTED)]
        options = make_options({"log": bool(verbose)}, named, *nested)
        arrays = _arrays(data)
        cache = {} if solver_cache is None else solver_cache
        start = _start(data, arrays, cache.get(NAME)) if warm_start else None
        outcome = solve_arrays(options, began, start=start, **arrays)
        cache[NAME] = outcome
        if not (may_be_loaded(outcome, options) or outcome.solution_status in _WITHOUT_OPTIMUM):
            raise SolverError(f"Solver '{NAME}' has no solution. {why_not_loaded(outcome)}")
        return outcome

    def invert(self, outcome: Outcome, inverse: dict[str, Any]) -> Solution:
        """Return the answer in CVXPY's form, with duals of linear programs."""
        status = cvxpy_status(outcome)
        attributes = {
            s.SOLVE_TIME: outcome.seconds,
            s.NUM_ITERS: iterations(outcome),
            s.EXTRA_STATS: outcome,
        }
        constraints = inverse[self.EQ_CONSTR] + inverse[self.NEQ_CONSTR]
        is_mip = outcome.problem is not None and outcome.problem.is_mip
        if status not in s.SOLUTION_PRESENT:
            failure = failure_solution(status, attributes)
            failure.dual_vars = _duals(outcome.dual_ray, constraints) or {}
            return failure
        duals = None if is_mip else outcome.row_dual
        return Solution(
            status,
            outcome.objective,
            {inverse[self.VAR_ID]: outcome.x},
            _duals(duals, constraints),
            attributes,
        )


def cvxpy_status(outcome: Outcome) -> str:
    """Return CVXPY's word for an answer that has a point or a proof."""
    if outcome.solution_status in _SETTLED:
        return str(_SETTLED[outcome.solution_status])
    return str(s.USER_LIMIT if outcome.stop_reason in _LIMITS else s.OPTIMAL_INACCURATE)


def _arrays(data: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Problem.from_arrays``."""
    size = data[s.C].size
    equations = data[ConicSolver.DIMS].zero
    lower, upper = data[s.LOWER_BOUNDS], data[s.UPPER_BOUNDS]
    lower = np.full(size, -np.inf) if lower is None else np.array(lower, dtype=np.float64)
    upper = np.full(size, np.inf) if upper is None else np.array(upper, dtype=np.float64)
    integrality = np.zeros(size, dtype=bool)
    binaries = data[s.BOOL_IDX]
    integrality[binaries + data[s.INT_IDX]] = True
    lower[binaries] = np.maximum(lower[binaries], 0.0)
    upper[binaries] = np.minimum(upper[binaries], 1.0)
    row_lower = np.array(data[s.B], dtype=np.float64)
    row_lower[equations:] = -np.inf
    return {
        "cost": data[s.C],
        "matrix": data[s.A],
        "row_lower": row_lower,
        "row_upper": data[s.B],
        "lower": lower,
        "upper": upper,
        "integrality": integrality,
        "offset": float(data[s.OFFSET]),
    }


def _start(data: dict[str, Any], arrays: dict[str, Any], last: Outcome | None) -> Start | None:
    """Start from the values that the variables have and the basis of the last answer."""
    x = utilities.stack_vals(data[s.PARAM_PROB].variables, np.nan)
    basis = None if last is None else last.basis
    if not fits(basis, arrays["row_upper"].size, x.size) or arrays["integrality"].any():
        basis = None
    known = not np.isnan(x).all()
    return Start(x=x if known else None, basis=basis) if known or basis is not None else None


def _duals(row_dual: FloatArray | None, constraints: list[Any]) -> dict[Any, Any] | None:
    if row_dual is None:
        return None
    return dict(utilities.get_dual_values(-row_dual, utilities.extract_dual_value, constraints))


def _register() -> None:
    """Let CVXPY find the solver by its name, after all that it would choose by itself."""
    defines.SOLVER_MAP_CONIC[NAME] = GPUHEUR()
    for names in (
        defines.CONIC_SOLVERS,
        defines.MI_SOLVERS,
        defines.INSTALLED_SOLVERS,
        defines.INSTALLED_CONIC_SOLVERS,
        defines.INSTALLED_MI_SOLVERS,
    ):
        if NAME not in names:
            names.append(NAME)


_register()
