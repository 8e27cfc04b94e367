"""Linear programs by HiGHS: simplex, interior point or its own PDLP, with every way out settled.

HiGHS accepts a solution by its own absolute tolerances on a scaled and presolved model. What
comes back here is measured again on the model as it was handed in; an answer that misses is
cleaned up by simplex without presolve, from the basis at hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solvers.errors import EngineError
from solvers.highs.channel import Channel, Quiet
from solvers.highs.measure import dual_objective, lp_errors
from solvers.highs.session import Session, Status
from solvers.highs.task import Ending, Finding, FloatArray, Model, Reply, Task

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
    Status.kTimeLimit: Ending.TIME_LIMIT,
    Status.kInterrupt: Ending.INTERRUPTED,
    Status.kIterationLimit: Ending.ITERATION_LIMIT,
    Status.kMemoryLimit: Ending.OUT_OF_MEMORY,
}


RAY_SLOPE = 1e-7
"""A ray within [-1, 1] must improve the objective, scaled to size one, by more than this."""


def solve_lp(task: Task, channel: Channel) -> Reply:
    """Solve a linear task and say honestly what came out.

    Raises
    ------
    EngineError
        HiGHS refuses the model or fails without an answer.
    """
    session = Session(task.model, task.settings, channel)
    give_start(session, task)
    return finish(session, session.run(), task, channel)


def finish(session: Session, status: Any, task: Task, channel: Channel) -> Reply:
    """Turn HiGHS's status after a run into a reply, cleaning up where it falls short."""
    if status in STUCK or (status in SOLVED and not _good(session, task)):
        status = clean_up(session, status)
    if status in UNCLEAR:
        bare = replace(task, x=None, row_dual=None, column_status=None, row_status=None)
        return settle_unbounded(bare, channel)
    if status == Status.kInfeasible:
        ray = farkas_ray(session, task)
        return Reply(
            Finding.INFEASIBLE, Ending.CONVERGED, dual_ray=ray, statistics=statistics(session)
        )
    if status in SOLVED:
        good = _good(session, task)
        ending = Ending.CONVERGED if good else session.ending(Ending.NUMERICAL_TROUBLE)
        return _with_point(session, Finding.OPTIMAL if good else Finding.FEASIBLE, ending)
    if status in LIMITS:
        feasible = session.highs.getInfo().primal_solution_status == 2
        finding = Finding.FEASIBLE if feasible else Finding.NOTHING
        return _with_point(session, finding, session.ending(LIMITS[status]))
    if status in STUCK:
        return _with_point(session, Finding.NOTHING, session.ending(Ending.NUMERICAL_TROUBLE))
    raise EngineError(f"The reference engine stopped with status {status}{session.reasons()}")


def give_start(session: Session, task: Task) -> None:
    """Hand over a basis, or build one from a full point; HiGHS then skips presolve."""
    if task.column_status is not None and task.row_status is not None:
        session.set_basis(task.column_status, task.row_status, alien=True)
    elif task.x is not None and np.isfinite(task.x).all():
        session.set_basis(*statuses_near(task.model, task.x), alien=True)


def statuses_near(model: Model, x: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Guess a basis from a point: what lies on a side is nonbasic there, the rest basic."""
    return (
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


def farkas_ray(session: Session, task: Task) -> FloatArray | None:
    """Return Farkas multipliers (m,), solving again without presolve where that is asked for."""
    ray = session.dual_ray()
    if ray is None and task.want_ray and clean_up(session, Status.kUnknown) == Status.kInfeasible:
        ray = session.dual_ray()
    return None if ray is None else farkas_orientation(session.model, ray)


def farkas_orientation(model: Model, ray: FloatArray) -> FloatArray | None:
    """Return the ray or its negative, whichever separates; None if neither does."""
    for y in (ray, -ray):
        demand = dual_objective(model.row_lower, model.row_upper, y)
        reach = -dual_objective(model.lower, model.upper, model.reduced_cost(y) - model.cost)
        if demand > reach:
            return y
    return None


def statistics(session: Session) -> dict[str, float | int | str]:
    """Return HiGHS's counts under our names."""
    info = session.highs.getInfo()
    counts = {
        "simplex_iterations": info.simplex_iteration_count,
        "ipm_iterations": info.ipm_iteration_count,
        "pdlp_iterations": info.pdlp_iteration_count,
        "crossover_iterations": info.crossover_iteration_count,
    }
    used: dict[str, float | int | str] = {k: int(v) for k, v in counts.items() if v > 0}
    used.setdefault("simplex_iterations", 0)
    return used


def _with_point(session: Session, finding: Finding, ending: Ending) -> Reply:
    model = session.model
    x, y = session.solution()
    reply = Reply(finding, ending, statistics=statistics(session))
    if y is not None:
        reply = replace(
            reply, row_dual=y, reduced_cost=model.reduced_cost(y), bound=_bound(session, y)
        )
    basis = session.basis()
    if basis is not None:
        reply = replace(reply, column_status=basis[0], row_status=basis[1])
    if x is None or not np.isfinite(x).all():
        return replace(reply, finding=Finding.NOTHING)
    if finding is Finding.NOTHING:
        return replace(reply, candidate=x)
    objective = float(model.cost @ x) + model.offset
    bound = objective if finding is Finding.OPTIMAL else min(reply.bound, objective)
    return replace(reply, x=x, row_activity=model.activity(x), objective=objective, bound=bound)


def _good(session: Session, task: Task) -> bool:
    x, y = session.solution()
    if x is None or y is None:
        return session.model.num_rows == 0 and x is not None
    return lp_errors(session.model, x, y) <= task.tolerance


def _bound(session: Session, y: FloatArray) -> float:
    """Return the dual objective if HiGHS holds a dual feasible point."""
    if session.highs.getInfo().dual_solution_status != 2:
        return -np.inf
    model = session.model
    z = model.reduced_cost(y)
    z[np.isneginf(model.lower) & (z > 0)] = 0.0
    z[np.isposinf(model.upper) & (z < 0)] = 0.0
    value = dual_objective(model.row_lower, model.row_upper, y)
    return value + dual_objective(model.lower, model.upper, z) + model.offset


def settle_unbounded(task: Task, channel: Channel) -> Reply:
    """Tell unbounded from infeasible, with a proof of either.

    HiGHS's presolve may say only "unbounded or infeasible", and what it calls unbounded need not
    be feasible. Two questions decide: is there any feasible point, and is there a direction that
    keeps every bound for ever and improves?
    """
    model = task.model
    costless = replace(model, cost=np.zeros(model.num_columns), offset=0.0)
    reply = solve_lp(replace(task, model=costless), Quiet(channel))
    if reply.finding is not Finding.OPTIMAL or reply.x is None:
        return replace(reply, x=None, objective=np.nan, bound=-np.inf)
    ray = recession_ray(task, channel)
    found = Reply(
        Finding.UNBOUNDED,
        Ending.CONVERGED,
        objective=float(model.cost @ reply.x) + model.offset,
        x=reply.x,
        row_activity=reply.row_activity,
        primal_ray=ray,
        statistics=reply.statistics,
    )
    if ray is not None:
        return found
    stop = channel.stop()
    ending = Ending.NUMERICAL_TROUBLE if stop is None else stop
    return replace(found, finding=Finding.FEASIBLE, ending=ending)


def recession_ray(task: Task, channel: Channel) -> FloatArray | None:
    """Return a direction d (n,) in which the model improves for ever, or None if there is none.

    Minimises c'd over the recession cone cut by the box [-1, 1], which always has an optimum;
    it is negative exactly when there is such a direction.
    """
    model = task.model
    free_below, free_above = np.isneginf(model.lower), np.isposinf(model.upper)
    size = float(np.max(np.abs(model.cost), initial=0.0)) or 1.0
    cone = replace(
        model,
        cost=model.cost / size,
        offset=0.0,
        lower=np.where(free_below, -1.0, 0.0),
        upper=np.where(free_above, 1.0, 0.0),
        row_lower=np.where(np.isneginf(model.row_lower), -np.inf, 0.0),
        row_upper=np.where(np.isposinf(model.row_upper), np.inf, 0.0),
    )
    reply = solve_lp(replace(task, model=cone), Quiet(channel))
    improves = reply.finding is Finding.OPTIMAL and reply.objective < -RAY_SLOPE
    return reply.x if improves else None


def _statuses(values: FloatArray, low: FloatArray, high: FloatArray) -> np.ndarray:
    near = 1e-6 * np.maximum(1.0, np.abs(values))
    statuses = np.ones(values.size, dtype=np.int8)
    statuses[np.abs(values - high) <= near] = 2
    statuses[np.abs(values - low) <= near] = 0
    return statuses
