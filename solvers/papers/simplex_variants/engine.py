"""The entry point: the paper's solver on a problem, in one of its four variants (section 3.2).

========= =========================================================================================
cpu       dense LU of every basis by LAPACK, everything on the host
naive     the same LU on the GPU by cuSOLVER in every iteration, ratio test on the host
resident  an explicit inverse on the device, rank-one updates, ratio test in one block ("GPU-RS")
graphs    iterations in a CUDA graph, x updated, ratio test over the grid, snapshot and stream
          ("GPU-RS+G")
========= =========================================================================================

The last three run on a machine without GPU as well: ``naive`` by NumPy, the others by the twins of
their kernels.

``solve(problem, variant="graphs")`` writes the problem in standard form, lets a variant make the
pivots and hands back an outcome whose status was computed anew from the last basis
(``basic_solution.py``): optimal with duals, infeasible with Farkas multipliers, unbounded with a
point and a ray. What does not hold up to that is numerical trouble, not an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.device import Device, find_device
from solvers.core.errors import OptionError
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.papers.simplex_variants.basic_solution import (
    BasicSolution,
    Pivots,
    exact_solution,
    violations,
)
from solvers.papers.simplex_variants.device_pivots import GraphsPivots, ResidentPivots
from solvers.papers.simplex_variants.drive import Drive, Ending, Found
from solvers.papers.simplex_variants.host_pivots import HostPivots
from solvers.papers.simplex_variants.standard_form import (
    NONE,
    ScaledForm,
    scaled_form,
    standard_form,
)

# What a basis says about the problem: outcomes whose claims have been computed anew.


TROUBLE = "the pivots ended in a basis whose exact solution does not bear the claim out"


ROUNDING = 1e-12
"""Elements of a ray below this part of its largest are rounding."""


def optimal_outcome(exact: BasicSolution, tolerance: float, about: dict[str, Any]) -> Outcome:
    """Return the basic solution, optimal if it is within the tolerance, primal and dual."""
    form = exact.form
    y = exact.solve_transposed(exact.basic_cost)
    reduced = exact.reduced_costs(y, form.cost)
    wrong = violations(form, exact.basic, exact.x)
    good = max(np.max(wrong, initial=0.0), np.max(-reduced, initial=0.0)) <= tolerance
    return _with_point(
        exact,
        y,
        SolutionStatus.OPTIMAL if good else SolutionStatus.NOTHING,
        StopReason.CONVERGED if good else StopReason.NUMERICAL_TROUBLE,
        about if good else {**about, "message": TROUBLE},
    )


def stopped_outcome(
    exact: BasicSolution, reason: StopReason, tolerance: float, about: dict[str, Any]
) -> Outcome:
    """Return the point a run was stopped at: feasible, or a candidate."""
    y = exact.solve_transposed(exact.basic_cost)
    worst = np.max(violations(exact.form, exact.basic, exact.x), initial=0.0)
    feasible = worst <= tolerance
    status = SolutionStatus.FEASIBLE if feasible else SolutionStatus.NOTHING
    return _with_point(exact, y, status, reason, about)


def infeasible_outcome(
    exact: BasicSolution, gradient: FloatArray, about: dict[str, Any]
) -> Outcome:
    """Return the proof by the duals of phase 1, or numerical trouble where it is none."""
    form = exact.form
    problem = form.origin.problem
    ray = form.origin.recover_duals(exact.solve_transposed(gradient) * form.row_scale)
    ray = np.where(np.abs(ray) > ROUNDING * np.max(np.abs(ray), initial=0.0), ray, 0.0)
    has_side = np.isfinite(np.where(ray > 0.0, problem.row_lower, problem.row_upper))
    ray = np.where(has_side, ray, 0.0)
    if not proves_infeasible(problem, ray):
        return _nothing(about)
    return Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=ray, **about)


def unbounded_outcome(
    exact: BasicSolution, entering: int, tolerance: float, about: dict[str, Any]
) -> Outcome:
    """Return a feasible point and the ray of the entering column, or numerical trouble."""
    form = exact.form
    column = form.matrix[:, [entering]].toarray()[:, 0]
    d = exact.solve(column)
    values = np.zeros(form.num_columns)
    own = exact.basic < form.num_columns
    values[exact.basic[own]] = np.maximum(-d[own], 0.0)
    values[entering] = 1.0
    values[form.origin.complement != NONE] = 0.0  # what has two bounds moves by rounding only
    ray = form.origin.recover_direction(values * form.column_scale)
    ray = np.where(np.abs(ray) > ROUNDING * np.max(np.abs(ray)), ray, 0.0)
    feasible = np.max(violations(form, exact.basic, exact.x), initial=0.0) <= tolerance
    if not feasible or not proves_unbounded(form.origin.problem, ray):
        return _nothing(about)
    point = stopped_outcome(exact, StopReason.CONVERGED, tolerance, about)
    return Outcome(
        SolutionStatus.UNBOUNDED,
        StopReason.CONVERGED,
        objective=-np.inf,
        x=point.x,
        row_activity=point.row_activity,
        primal_ray=ray,
        **about,
    )


def _nothing(about: dict[str, Any]) -> Outcome:
    return Outcome(
        SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, **{**about, "message": TROUBLE}
    )


def _with_point(
    exact: BasicSolution,
    y: FloatArray,
    status: SolutionStatus,
    reason: StopReason,
    about: dict[str, Any],
) -> Outcome:
    """Return an outcome with the basic point, its duals, and its basis."""
    form, origin = exact.form, exact.form.origin
    problem = origin.problem
    values = np.zeros(form.num_columns)
    own = exact.basic < form.num_columns
    values[exact.basic[own]] = exact.x[own]
    x = origin.recover_point(values * form.column_scale)
    duals = origin.recover_duals(y * form.row_scale * form.cost_scale)
    has_point = status.has_point
    objective = problem.objective_at(x)
    return Outcome(
        status,
        reason,
        objective=objective if has_point else np.nan,
        bound=objective if status is SolutionStatus.OPTIMAL else -np.inf,
        x=x if has_point else None,
        candidate=None if has_point else x,
        row_activity=problem.matrix @ x,
        row_dual=duals,
        reduced_cost=problem.cost - problem.matrix.T @ duals,
        **about,
    )


VARIANTS = ("cpu", "naive", "resident", "graphs")

INVERSES = 3
"""Dense matrices of the size of the basis that there are while an inverse is made."""


def make_pivots(variant: str, form: ScaledForm, device: Device) -> Pivots:
    """Return the pivots of a variant by its name.

    Raises
    ------
    OptionError
        There is no such variant.
    """
    if variant not in VARIANTS:
        raise OptionError(f"There is no variant '{variant}'; there are {', '.join(VARIANTS)}.")
    if variant in ("cpu", "naive"):
        return HostPivots(form, device)
    return (ResidentPivots if variant == "resident" else GraphsPivots)(form, device)


def solve(
    problem: Problem,
    options: EngineOptions | None = None,
    progress: Progress | None = None,
    *,
    variant: str = "graphs",
) -> Outcome:
    """Solve a linear program by one of the paper's variants.

    Parameters
    ----------
    problem : Problem
        Integrality is ignored.
    options : EngineOptions, optional
        Device, seed, tolerance and iteration limit are read.
    progress : Progress, optional
        Asked about time and interruption after every batch of 100 pivots.
    variant : str
        One of :data:`~solvers.papers.simplex_variants.engine.VARIANTS`.

    Returns
    -------
    Outcome
        In the minimised sense, not yet verified.

    Raises
    ------
    OptionError
        There is no such variant.
    DeviceError
        ``options.device`` asks for a GPU that is not there.
    """
    options = EngineOptions() if options is None else options
    progress = Progress() if progress is None else progress
    device = find_device("cpu" if variant == "cpu" else options.device)
    with device.activate():
        form = scaled_form(standard_form(problem))
        try:
            return _with_rows(form, device, options, progress, variant)
        except Exception as error:
            if not device.is_out_of_memory(error):
                raise
            return _too_large(form, device)


def _too_large(form: ScaledForm, device: Device) -> Outcome:
    need = 8 * form.num_rows**2 / 2**30
    message = (
        f"The inverse of a basis of {form.num_rows} rows takes {need:.1f} GiB, and as much again "
        f"while it is made, which {device} does not have; use method='pdlp' or 'highs'."
    )
    return Outcome(
        SolutionStatus.NOTHING,
        StopReason.OUT_OF_MEMORY,
        engine="simplex",
        device=device.kind,
        message=message,
    )


def _with_rows(
    form: ScaledForm,
    device: Device,
    options: EngineOptions,
    progress: Progress,
    variant: str,
) -> Outcome:
    def should_stop(iterations: int) -> StopReason | None:
        progress.iteration(iterations)
        return StopReason.INTERRUPTED if progress.abandoned else progress.should_stop()

    memory = device.memory_total if device.kind == "cpu" else device.memory_free
    if 0 < memory < INVERSES * 8 * form.num_rows**2:
        return _too_large(form, device)
    limit = np.inf if options.iteration_limit is None else options.iteration_limit
    pivots = make_pivots(variant, form, device)
    drive = Drive(form, pivots, options.seed, should_stop, limit, lambda: progress.seconds)
    found = drive.run()
    exact = exact_solution(form, found.basic)
    about: dict[str, Any] = {
        "engine": "simplex",
        "device": device.kind,
        "seconds": progress.seconds,
        "statistics": {
            "variant": variant,
            "iterations": drive.iterations,
            "inversions": pivots.inversions,
            "loop_seconds": drive.pivot_seconds,
            "rows": form.num_rows,
            "columns": form.num_columns,
        },
    }
    return _answer(found, exact, options.tolerance, about)


def _answer(found: Found, exact: BasicSolution, tolerance: float, about: dict[str, Any]) -> Outcome:
    if found.gradient is not None:
        return infeasible_outcome(exact, found.gradient, about)
    if found.ending is Ending.UNBOUNDED:
        return unbounded_outcome(exact, found.entering, tolerance, about)
    if found.ending is Ending.OPTIMAL:
        return optimal_outcome(exact, tolerance, about)
    return stopped_outcome(exact, found.reason, tolerance, about)
