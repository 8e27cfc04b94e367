"""Branch and bound by HiGHS, with every way out settled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.errors import EngineError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.highs.lp import FEASIBLE_POINT, LIMITS, SOLVED, STUCK, UNCLEAR, recession_ray
from solvers.highs.session import Session, Status
from solvers.highs.task import Channel, FloatArray, Model, PointsOnly, Quiet, Reply, Task

# Starts of branch and bound, completed where some integer columns have no value.
#
# HiGHS takes partial starts, too: it searches the model with the known integers fixed, and goes on
# with what it has found. But its callbacks tell the bounds of that search like those of the model,
# and a point of it would pass for proven optimal. So that search is a session of its own here,
# whose points count and whose bounds do not.


COMPLETION_NODES = 500
"""Nodes that completing a start may take, as many as HiGHS allows itself."""

COMPLETION_SHARE = 0.1
"""Part of the time left that it may take: branch and bound waits."""


def give_start(session: Session, task: Task) -> None:
    """Offer the start of a task, completed if need be, to a session that has its model.

    One that HiGHS cannot use, or that nothing completes, is no reason to fail.
    """
    if task.x is None:
        return
    model, known = session.model, np.isfinite(task.x)
    values = _fitting(model, task.x)
    integer = model.integer.astype(bool)
    if (integer & ~known).any():
        if not (integer & known).any():
            return
        completed = _completed(task, values, integer & known, session.channel)
        if completed is None:
            return
        values, known = completed, np.ones(known.size, dtype=bool)
    columns = np.flatnonzero(known).astype(np.int32)
    if columns.size:
        session.highs.setSolution(columns.size, columns, values[columns])


def _fitting(model: Model, x: FloatArray) -> FloatArray:
    """Return the values with integers whole and all of them within bounds; NaN stays."""
    integer = model.integer.astype(bool)
    return np.clip(np.where(integer, np.round(x), x), model.lower, model.upper)


def _completed(
    task: Task, values: FloatArray, fixed: npt.NDArray[np.bool_], channel: Channel
) -> FloatArray | None:
    """Return the best point (n,) found with these columns fixed; None without one."""
    model = task.model
    part = replace(
        model,
        lower=np.where(fixed, values, model.lower),
        upper=np.where(fixed, values, model.upper),
    )
    channel.log(
        f"The start has {np.count_nonzero(fixed)} of {np.count_nonzero(model.integer)} integer "
        "columns; the others are searched first."
    )
    settings = {**task.settings, "mip_max_nodes": COMPLETION_NODES}
    session = Session(part, settings, PointsOnly(channel, COMPLETION_SHARE))
    session.run()
    x, _ = session.solution()
    return x if session.highs.getInfo().primal_solution_status == FEASIBLE_POINT else None


LIMITS_OF_SEARCH = {**LIMITS, Status.kSolutionLimit: StopReason.ITERATION_LIMIT}


def solve_mip(task: Task, channel: Channel) -> Reply:
    """Solve a mixed-integer task and say honestly what came out.

    Raises
    ------
    EngineError
        HiGHS refuses the model or fails without an answer.
    """
    session = Session(task.model, task.settings, channel)
    give_start(session, task)
    status = session.run()
    counts = _statistics(session)
    # HiGHS's presolve calls some unbounded models infeasible: then feasibility is asked alone.
    by_presolve = status == Status.kInfeasible and counts["nodes"] == 0
    if status in UNCLEAR or (by_presolve and task.model.may_be_unbounded):
        return _settle_unbounded(task, channel)
    if status == Status.kInfeasible:
        return Reply(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, statistics=counts)
    return _or_unbounded(_with_point(session, status), task, channel)


def _with_point(session: Session, status: Any) -> Reply:
    info = session.highs.getInfo()
    x, _ = session.solution()
    bound = float(info.mip_dual_bound)
    has_point = x is not None and info.primal_solution_status == FEASIBLE_POINT
    statistics = _statistics(session)
    if status in SOLVED and has_point:
        found, reason = SolutionStatus.OPTIMAL, StopReason.CONVERGED
    elif status in LIMITS_OF_SEARCH:
        found = SolutionStatus.FEASIBLE if has_point else SolutionStatus.NOTHING
        reason = session.stop_reason(LIMITS_OF_SEARCH[status])
    elif status in STUCK:
        found = SolutionStatus.FEASIBLE if has_point else SolutionStatus.NOTHING
        reason = session.stop_reason(StopReason.NUMERICAL_TROUBLE)
        bound = -np.inf  # what it rests on may be what broke
    else:
        raise EngineError(f"The reference engine stopped with status {status}{session.reasons()}")
    message = f"The reference engine broke down{session.reasons()}" if status in STUCK else ""
    reply = Reply(found, reason, bound=bound, message=message, statistics=statistics)
    if not has_point or x is None:
        return reply
    x = whole(session, x)
    model = session.model
    objective = model.objective_at(x)
    return replace(reply, x=x, objective=objective, row_activity=model.activity(x))


def whole(session: Session, x: FloatArray) -> FloatArray:
    """Round the integer columns of ``x`` exactly if the rows hold no worse for it."""
    model = session.model
    integer = model.integer.astype(bool)
    rounded = x.copy()
    rounded[integer] = np.round(x[integer])
    if np.array_equal(rounded, x):
        return x
    before, after = _violation(session, x), _violation(session, rounded)
    return rounded if after <= max(before, 1e-9) else x


def _violation(session: Session, x: FloatArray) -> float:
    model = session.model
    activity = model.activity(x)
    size = np.maximum(1.0, np.abs(activity))
    outside = np.maximum(model.row_lower - activity, activity - model.row_upper) / size
    return float(np.max(outside, initial=0.0))


def _or_unbounded(reply: Reply, task: Task, channel: Channel) -> Reply:
    """Take an optimum back where the relaxation has a direction of endless improvement.

    Without presolve HiGHS can stop at a first point of such a model and call it optimal.
    """
    if reply.solution_status is not SolutionStatus.OPTIMAL or not task.model.may_be_unbounded:
        return reply
    ray = recession_ray(_relaxed(task), channel)
    if ray is None:
        return reply
    return replace(reply, solution_status=SolutionStatus.UNBOUNDED, bound=-np.inf, primal_ray=ray)


def _settle_unbounded(task: Task, channel: Channel) -> Reply:
    """Tell unbounded from infeasible by solving for any feasible point.

    With rational data a feasible MIP whose relaxation is unbounded is unbounded itself
    (Meyer, "On the existence of optimal solutions to integer and mixed-integer programming
    problems", 1974).
    """
    model = task.model
    feasibility = replace(model, cost=np.zeros(model.num_columns), offset=0.0)
    session = Session(feasibility, task.settings, Quiet(channel))
    status = session.run()
    if status == Status.kInfeasible:
        return Reply(SolutionStatus.INFEASIBLE, StopReason.CONVERGED)
    reply = _with_point(session, status)
    if reply.x is None:
        return Reply(SolutionStatus.NOTHING, reply.stop_reason, statistics=reply.statistics)
    found = replace(
        reply,
        solution_status=SolutionStatus.UNBOUNDED,
        stop_reason=StopReason.CONVERGED,
        objective=model.objective_at(reply.x),
        bound=-np.inf,
        primal_ray=recession_ray(_relaxed(task), channel),
    )
    if found.primal_ray is not None:
        return found
    reason = session.stop_reason(StopReason.NUMERICAL_TROUBLE)
    return replace(found, solution_status=SolutionStatus.FEASIBLE, stop_reason=reason)


def _relaxed(task: Task) -> Task:
    """Return the linear relaxation, without a start; threads must stay as they are."""
    model = replace(task.model, integer=np.zeros(task.model.num_columns, dtype=np.int8))
    return Task(model, task.settings, tolerance=task.tolerance)


def _statistics(session: Session) -> dict[str, float | int | str]:
    info = session.highs.getInfo()
    return {
        "nodes": max(0, int(info.mip_node_count)),
        "simplex_iterations": max(0, int(info.simplex_iteration_count)),
    }
