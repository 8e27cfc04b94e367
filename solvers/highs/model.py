"""From a problem to what HiGHS can take without losing anything, and from its reply to an outcome.

HiGHS drops matrix entries of at most ``small_matrix_value``, which cannot be set below
1e-12. No coefficient of a model may vanish unseen, so rows
that hold such entries are multiplied by a power of two, which is exact, and their duals and
activities are divided again afterwards. Rows of large entries are divided in the same way: HiGHS's
tolerances are absolute, and its presolve calls feasible rows infeasible, and crashes, where
rounding exceeds them. Integer columns get the integers inside their bounds,
because HiGHS reads a bound of 0.5 on an integer as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.machine import usable_cores
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, Proof, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.highs.task import FEW_ENTRIES, FloatArray, Model, Reply, Setting

# From our options to those of HiGHS.


TIGHTEST = 1e-10
"""HiGHS takes no feasibility tolerance below this."""

SIMPLEX_TOLERANCE = 1e-7
"""Simplex gains nothing from tolerances looser than its default."""

IPM_PATIENCE = 1000
"""Interior-point iterations after which simplex takes over; most models need fewer than 100."""


def lp_settings(options: EngineOptions, *, simplex_only: bool = False) -> dict[str, Setting]:
    """Return HiGHS options for a linear program, or those that its simplex reads.

    HiGHS's tolerances are absolute and ours relative to the size of sides and costs, so a tenth
    of ours is asked for. Its simplex, interior-point and first-order codes are serial: one
    thread spares the start of the others.
    """
    algorithm = "simplex" if simplex_only else options.lp_algorithm
    tolerance = max(TIGHTEST, 0.1 * options.tolerance)
    values: dict[str, Setting] = {
        **_common(options),
        "threads": 1,
        "solver": "choose" if algorithm == "auto" else algorithm,
    }
    if not simplex_only:
        values["run_crossover"] = "on" if options.wants_vertex else "off"
        values["ipm_iteration_limit"] = IPM_PATIENCE
        values["ipm_optimality_tolerance"] = min(1e-8, max(1e-12, 0.01 * options.tolerance))
    if algorithm == "pdlp":
        # its C code prints past HiGHS's log whenever the log is on
        values.update(output_flag=False, kkt_tolerance=tolerance)
    else:
        values["primal_feasibility_tolerance"] = min(SIMPLEX_TOLERANCE, tolerance)
        values["dual_feasibility_tolerance"] = min(SIMPLEX_TOLERANCE, tolerance)
    if options.iteration_limit is not None:
        limit = min(options.iteration_limit, 2**31 - 1)
        for kind in ("simplex", "ipm", "pdlp"):
            values[f"{kind}_iteration_limit"] = limit
    return values


def mip_settings(options: EngineOptions) -> dict[str, Setting]:
    """Return HiGHS options for branch and bound.

    HiGHS measures rows and integrality of a MIP by the same absolute tolerance.
    """
    tolerance = max(TIGHTEST, min(1e-6, options.tolerance, options.integrality_tolerance))
    values: dict[str, Setting] = {
        **_common(options),
        "threads": options.threads or usable_cores(),
        "mip_rel_gap": options.rel_gap,
        "mip_abs_gap": options.abs_gap,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": min(SIMPLEX_TOLERANCE, tolerance),
        "dual_feasibility_tolerance": min(SIMPLEX_TOLERANCE, tolerance),
    }
    if options.node_limit is not None:
        values["mip_max_nodes"] = min(options.node_limit, 2**31 - 1)
    return values


def _common(options: EngineOptions) -> dict[str, Setting]:
    return {
        "output_flag": True,  # needed for the log callback; nothing goes to the console
        "log_to_console": False,
        "large_matrix_value": float("inf"),
        "infinite_bound": float("inf"),
        "infinite_cost": float("inf"),
        "random_seed": options.seed,
        "presolve": "choose" if options.presolve else "off",
    }


SMALLEST_ENTRY = 1e-12
"""Entries of at most this size are dropped by HiGHS, whatever its options say."""

LARGEST_ENTRY = 2.0**20
"""Rows with larger entries are scaled down to about this one.

Of 2,500 random models of up to 6 integer columns and 3 rows with entries up to 1e17, HiGHS 1.15.1
called 65 feasible ones infeasible and crashed on 7; with rows scaled to 2^30 10 and none, to 2^20
3 and none, to 1 11 and none. The last 3 have rows whose entries span more than a factor of 1e6.
"""

SMALLEST_SCALED_ENTRY = 1e-9
"""No entry is scaled down below this one, where HiGHS begins to drop entries."""

LARGEST_SCALED_ENTRY = 1e15
"""Entries beyond this, reached by scaling up a row, leave no digit to its tolerance."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model for HiGHS and the way back: row i was multiplied by ``row_scale[i]``."""

    model: Model
    row_scale: FloatArray | None
    empty_column: int | None

    def unscaled(self, problem: Problem) -> Model:
        """Return the model with the rows of the problem that it was prepared from."""
        return replace(
            self.model,
            value=problem.entries.data,
            row_lower=problem.row_lower,
            row_upper=problem.row_upper,
        )

    def rows_back(self, activity: FloatArray | None) -> FloatArray | None:
        """Return row activities in the units of the problem."""
        if activity is None or self.row_scale is None:
            return activity
        return np.asarray(activity / self.row_scale)

    def duals_back(self, row_dual: FloatArray | None) -> FloatArray | None:
        """Return row duals or Farkas multipliers in the units of the problem."""
        if row_dual is None or self.row_scale is None:
            return row_dual
        return np.asarray(row_dual * self.row_scale)

    def duals_in(self, row_dual: FloatArray | None) -> FloatArray | None:
        """Return row duals of the problem in the units of the model."""
        if row_dual is None or self.row_scale is None:
            return row_dual
        return np.asarray(row_dual / self.row_scale)


def prepare(problem: Problem, integer_tolerance: float = 1e-9) -> Prepared:
    """Turn a problem into arrays for HiGHS.

    ``empty_column`` of the result names an integer column that has no integer within its
    bounds; the model then is infeasible and need not be solved.

    Raises
    ------
    EngineError
        A row whose coefficients span more than 27 orders of magnitude.
    """
    lower, upper = problem.lower, problem.upper
    empty = None
    if problem.is_mip:
        lower, upper = _integer_bounds(problem, integer_tolerance)
        crossed = np.flatnonzero(lower > upper)
        empty = int(crossed[0]) if crossed.size else None
    model = _model_of(problem, lower, upper)
    scale = _row_scale(problem)
    if scale is not None:
        model = replace(
            model,
            value=model.value * scale[model.row_of_entry()],
            row_lower=model.row_lower * scale,
            row_upper=model.row_upper * scale,
        )
    return Prepared(model, scale, empty)


def as_it_stands(problem: Problem) -> Model:
    """Return a problem's arrays, for callers whom HiGHS's own limits and tolerances suit."""
    return _model_of(problem, problem.lower, problem.upper)


def _model_of(problem: Problem, lower: FloatArray, upper: FloatArray) -> Model:
    A = problem.entries
    index, start = A.short_indices()
    model = Model(
        cost=problem.cost,
        offset=problem.offset,
        lower=lower,
        upper=upper,
        row_lower=problem.row_lower,
        row_upper=problem.row_upper,
        start=start,
        index=index,
        value=A.data,
        integer=problem.integrality.astype(np.int8),
    )
    if A.nnz <= FEW_ENTRIES:
        vars(model)["few_rows"] = A.row  # the same for both, and made once
    return model


def _integer_bounds(problem: Problem, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Round the bounds of integer columns inwards, forgiving rounding errors."""
    integer = problem.integrality
    lower, upper = problem.lower.copy(), problem.upper.copy()
    lower[integer] = np.ceil(lower[integer] - tolerance)
    upper[integer] = np.floor(upper[integer] + tolerance)
    return lower, upper


def _row_scale(problem: Problem) -> FloatArray | None:
    """Return powers of two that bring every row's entries within HiGHS's limits, or None.

    As little as needed, so that the row's tolerance keeps its meaning.
    """
    smallest_entry, largest_entry = problem.entries.size_range
    if smallest_entry > SMALLEST_ENTRY and largest_entry <= LARGEST_ENTRY:
        return None
    size = np.abs(problem.entries.data)
    begins = problem.entries.indptr[:-1]
    filled = np.diff(problem.entries.indptr) > 0
    smallest, largest = np.ones(problem.num_rows), np.ones(problem.num_rows)
    smallest[filled] = np.minimum.reduceat(size, begins[filled])
    largest[filled] = np.maximum.reduceat(size, begins[filled])
    tiny = smallest <= SMALLEST_ENTRY
    shrink = _power_of_two(LARGEST_ENTRY / largest)
    shrink = np.maximum(shrink, 2.0 * _power_of_two(SMALLEST_SCALED_ENTRY / smallest))
    lift = 2.0 * _power_of_two(SMALLEST_ENTRY / np.where(tiny, smallest, 1.0))
    scale: FloatArray = np.where(tiny, lift, np.minimum(1.0, shrink))
    lost = np.flatnonzero(tiny & (largest * scale > LARGEST_SCALED_ENTRY))
    if lost.size:
        i = int(lost[0])
        raise EngineError(
            f"The coefficients of row '{problem.row_label(i)}' run from "
            f"{smallest[i]:.3g} to {largest[i]:.3g}, more than the reference engine can hold "
            "in one row; change the units of its variables or drop its tiny coefficients."
        )
    return scale


def _power_of_two(value: FloatArray) -> FloatArray:
    """Return the largest powers of two that are not greater than positive values."""
    return np.asarray(np.ldexp(1.0, np.frexp(value)[1] - 1))


def to_outcome(reply: Reply, prepared: Prepared, pool: tuple[PoolSolution, ...] = ()) -> Outcome:
    """Translate HiGHS's reply into an outcome in the units of the problem."""
    return outcome_of(
        reply.solution_status,
        reply.stop_reason,
        objective=reply.objective,
        bound=reply.bound,
        x=reply.x,
        row_activity=prepared.rows_back(reply.row_activity),
        row_dual=prepared.duals_back(reply.row_dual),
        reduced_cost=reply.reduced_cost,
        basis=reply.basis,
        primal_ray=reply.primal_ray,
        dual_ray=prepared.duals_back(reply.dual_ray),
        candidate=reply.candidate,
        message=reply.message,
        statistics=dict(reply.statistics),
        pool=pool,
    )


def outcome_of(status: SolutionStatus, reason: StopReason, **fields: object) -> Outcome:
    """Return an outcome of HiGHS's with these fields."""
    return Outcome(status, reason, proof=Proof.SEARCH, engine="highs", device="cpu", **fields)  # type: ignore[arg-type]
