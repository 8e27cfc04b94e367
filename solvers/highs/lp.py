"""Linear programs by HiGHS: simplex, interior point or its own PDLP, with every way out settled.

HiGHS accepts a solution by its own absolute tolerances on a scaled and presolved model. What
comes back here is measured again on the model as it was handed in; an answer that misses is
cleaned up by simplex without presolve, from the basis at hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.core.vectors import inner
from solvers.highs.point import (
    Point,
    held_point,
    refined_point,
    reply_with,
    statistics,
    violation,
)
from solvers.highs.rays import (
    RAY_SLOPE,
    farkas_orientation,
    keeps_rows,
    one_row_proof,
    recession_cone,
)
from solvers.highs.session import SMALLEST_KEPT, Session, Status
from solvers.highs.task import ByteArray, Channel, FloatArray, Model, Quiet, Reply, Task

SOLVED = (Status.kOptimal, Status.kModelEmpty)
UNCLEAR = (Status.kUnbounded, Status.kUnboundedOrInfeasible)
STUCK = (
    Status.kUnknown,
    Status.kSolveError,
    Status.kPresolveError,
    Status.kPostsolveError,
    Status.kNotset,
)
LIMITS = {
    Status.kTimeLimit: StopReason.TIME_LIMIT,
    Status.kInterrupt: StopReason.INTERRUPTED,
    Status.kIterationLimit: StopReason.ITERATION_LIMIT,
    Status.kMemoryLimit: StopReason.OUT_OF_MEMORY,
}

FEASIBLE_POINT = 2
"""HiGHS's number for a primal or dual point that is feasible."""


def solve_lp(task: Task, channel: Channel) -> Reply:
    """Solve a linear task and say honestly what came out.

    Raises
    ------
    EngineError
        HiGHS refuses the model or fails without an answer.
    """
    session = begin(task, channel)
    return settle(session, session.run(), task, channel)


def begin(task: Task, channel: Channel) -> Session:
    """Return a session with a linear task's model and start, ready to run."""
    session = Session(task.model, task.settings, channel)
    give_start(session, task)
    return session


def plain_optimum(session: Session, status: Any, task: Task) -> Reply | None:
    """Return the basic point after a run that says it is optimal, not measured; None without one.

    Whoever takes it measures it, and for a small model that is a tenth of the work.
    """
    if status not in SOLVED or task.settings.get("solver") in ("ipm", "pdlp"):
        return None
    x, y = session.solution()
    basis = session.basis()
    if x is None or y is None or basis is None:
        return None
    return Reply(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=task.model.objective_at(x),
        x=x,
        row_dual=y,
        basis=basis,
        statistics=statistics(session),
    )


def settle(session: Session, status: Any, task: Task, channel: Channel) -> Reply:
    """Return the reply after a session's first run, whatever else that takes."""
    if _needs_simplex(task, status):
        status = start_afresh(session, status)
    return finish(session, status, task, channel)


def _needs_simplex(task: Task, status: Any) -> bool:
    """Whether a method without a basis came to an end that only simplex can vouch for.

    PDLP's certificates are as good as its tolerance; HiGHS's interior point has called small
    feasible models infeasible, and iterates on some unbounded ones until its limit.
    """
    if task.settings.get("solver") not in ("ipm", "pdlp"):
        return False
    own_limit = status == Status.kIterationLimit and "simplex_iteration_limit" not in task.settings
    return bool(own_limit or status == Status.kInfeasible or status in UNCLEAR)


def finish(session: Session, status: Any, task: Task, channel: Channel) -> Reply:
    """Turn HiGHS's status after a run into a reply, cleaning up where it falls short."""
    point = held_point(session) if status in SOLVED else Point()
    first_order = task.settings.get("solver") == "pdlp"
    inexact = status in SOLVED and not point.exact and point.basis is not None
    if task.crossover and (inexact or (status in STUCK and not first_order)):
        cleaned = clean_up(session, status) if inexact else start_afresh(session, status)
        if cleaned in SOLVED:
            status, point = cleaned, refined_point(session)
        elif point.error > task.tolerance:
            status, point = cleaned, Point()
    ray = farkas_ray(session, task) if status == Status.kInfeasible else None
    if status == Status.kInfeasible and ray is None and is_refuted(session, task):
        status, point = Status.kOptimal, refined_point(session)
    # HiGHS's presolve calls some unbounded models infeasible, and its simplex ends on others
    # without a word: where there is no proof, ask again.
    unproven = (status == Status.kInfeasible and ray is None) or (
        status in STUCK and not first_order
    )
    if status in UNCLEAR or (unproven and task.model.may_be_unbounded):
        bare = replace(task, x=None, row_dual=None, basis=None)
        return settle_unbounded(bare, channel)
    if status == Status.kInfeasible:
        return infeasible(session, ray)
    if status in SOLVED:
        # without a vertex, HiGHS's own relative measures are those that were asked for
        if point.error <= task.tolerance or not task.crossover:
            return reply_with(session, point, SolutionStatus.OPTIMAL, StopReason.CONVERGED)
        # what keeps duals from their signs may be a column that improves for ever by very little
        ray = recession_ray(task, channel) if task.model.may_be_unbounded else None
        if ray is not None:
            unbounded = reply_with(session, point, SolutionStatus.UNBOUNDED, StopReason.CONVERGED)
            return replace(unbounded, bound=-np.inf, primal_ray=ray)
        reason = session.stop_reason(StopReason.NUMERICAL_TROUBLE)
        return reply_with(session, point, SolutionStatus.FEASIBLE, reason)
    if status in LIMITS:
        feasible = session.highs.getInfo().primal_solution_status == FEASIBLE_POINT
        found = SolutionStatus.FEASIBLE if feasible else SolutionStatus.NOTHING
        reason = session.stop_reason(LIMITS[status])
        return reply_with(session, held_point(session), found, reason)
    if status in STUCK:
        reason = session.stop_reason(StopReason.NUMERICAL_TROUBLE)
        reply = reply_with(session, held_point(session), SolutionStatus.NOTHING, reason)
        return replace(reply, message=f"The reference engine broke down{session.reasons()}")
    raise EngineError(f"The reference engine stopped with status {status}{session.reasons()}")


def infeasible(session: Session, ray: FloatArray | None) -> Reply:
    """Return HiGHS's claim of infeasibility, unless its multipliers separate by rounding only."""
    if ray is None and session.dual_ray() is not None:
        reason = session.stop_reason(StopReason.NUMERICAL_TROUBLE)
        reply = reply_with(session, held_point(session), SolutionStatus.NOTHING, reason)
        return replace(reply, message="What should prove infeasibility is rounding.")
    return reply_with(
        session, Point(), SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=ray
    )


def give_start(session: Session, task: Task) -> None:
    """Hand over a basis, or build one from a full point; HiGHS then skips presolve.

    PDLP and interior point take no basis, but PDLP takes a point with duals.
    """
    solver = task.settings.get("solver")
    if task.basis is not None and solver != "pdlp":
        session.set_basis(task.basis)
    elif task.x is not None and np.isfinite(task.x).all():
        if solver == "pdlp":
            session.set_point(task.x, task.row_dual)
        else:
            session.set_basis(basis_near(task.model, task.x))


def basis_near(model: Model, x: FloatArray) -> Basis:
    """Guess a basis from a point: what lies on a side is nonbasic there, the rest basic."""
    return Basis(
        _statuses(x, model.lower, model.upper),
        _statuses(model.activity(x), model.row_lower, model.row_upper),
    )


def clean_up(session: Session, status: Any) -> Any:
    """Run simplex without presolve from the basis at hand; keep ``status`` if time is up."""
    if session.channel.stop() is not None:
        return status
    session.set("solver", "simplex")
    session.set("presolve", "off")
    return session.run()


def start_afresh(session: Session, status: Any) -> Any:
    """Run simplex without presolve from the slack basis; keep ``status`` if time is up."""
    session.highs.clearSolver()
    return clean_up(session, status)


def farkas_ray(session: Session, task: Task) -> FloatArray | None:
    """Return Farkas multipliers (m,), solving again without presolve where that is asked for."""
    if not task.model.num_rows:
        return None
    simple = one_row_proof(task.model)
    if simple is not None:
        return simple
    ray = session.dual_ray()
    if ray is None and task.want_ray and clean_up(session, Status.kUnknown) == Status.kInfeasible:
        ray = session.dual_ray()
    return None if ray is None else farkas_orientation(session.model, ray)


def is_refuted(session: Session, task: Task) -> bool:
    """Whether simplex, asked for Farkas multipliers, ended with a point that keeps all sides.

    HiGHS's presolve measures absolutely, so that a model of large numbers and small tolerances may
    be infeasible to it for rounding alone.
    """
    x, _ = session.solution()
    if session.highs.getModelStatus() not in SOLVED or x is None or not np.isfinite(x).all():
        return False
    model = session.model
    error = violation(model.activity(x), model.row_lower, model.row_upper)
    return max(error, violation(x, model.lower, model.upper)) <= task.tolerance


def settle_unbounded(task: Task, channel: Channel) -> Reply:
    """Tell unbounded from infeasible, with a proof of either.

    HiGHS's presolve may say only "unbounded or infeasible", and what it calls unbounded need not
    be feasible. Two questions decide: is there any feasible point, and is there a direction that
    keeps every bound for ever and improves?
    """
    model = task.model
    costless = replace(model, cost=np.zeros(model.num_columns), offset=0.0)
    reply = solve_lp(replace(task, model=costless), Quiet(channel))
    if reply.solution_status is not SolutionStatus.OPTIMAL or reply.x is None:
        return replace(reply, x=None, objective=np.nan, bound=-np.inf)
    ray = recession_ray(task, channel)
    found = Reply(
        SolutionStatus.UNBOUNDED,
        StopReason.CONVERGED,
        objective=model.objective_at(reply.x),
        x=reply.x,
        row_activity=reply.row_activity,
        primal_ray=ray,
        statistics=reply.statistics,
    )
    if ray is not None:
        return found
    stop = channel.stop()
    reason = StopReason.NUMERICAL_TROUBLE if stop is None else stop
    return replace(found, solution_status=SolutionStatus.FEASIBLE, stop_reason=reason)


def recession_ray(task: Task, channel: Channel) -> FloatArray | None:
    """Return a direction (n,) in which the model improves for ever, or None if there is none.

    Columns are scaled by their entries first, and by their costs where that finds none: one whose
    cost dwarfs the others leaves these below HiGHS's tolerance.
    """
    for by_cost in (False, True):
        cone, scale = recession_cone(task.model, by_cost=by_cost)
        # HiGHS would drop them; ``keeps_rows`` has them all
        visible = replace(task, model=cone.without_traces(SMALLEST_KEPT), crossover=True)
        reply = solve_lp(visible, Quiet(channel))
        if reply.solution_status is not SolutionStatus.OPTIMAL or reply.x is None:
            continue
        direction = np.clip(reply.x, cone.lower, cone.upper)
        improves = inner(cone.cost, direction) < -RAY_SLOPE
        if improves and keeps_rows(cone, direction):
            return direction * scale
    return None


def _statuses(values: FloatArray, low: FloatArray, high: FloatArray) -> ByteArray:
    near = 1e-6 * np.maximum(1.0, np.abs(values))
    statuses = np.ones(values.size, dtype=np.int8)
    statuses[np.abs(values - high) <= near] = 2
    statuses[np.abs(values - low) <= near] = 0
    return statuses
