"""The one place that looks at what a task asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from highspy import _core

from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.highs.lp import basis_near, finish, settle, solve_lp
from solvers.highs.mip import solve_mip
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, Channel, FloatArray, Model, Quiet, Reply, Task, Work

# Rows and bounds of an infeasible linear program that contradict each other.
#
# HiGHS finds an irreducible infeasible subsystem by an elastic filter and deletion (Chinneck,
# *Feasibility and Infeasibility in Optimization*, 2008). It fails on some models, and then the
# support of a Farkas proof serves, which contradicts itself just as well but may hold more than is
# needed. Whatever is found is solved on its own before anybody hears of it.


CORE: Any = _core  # its stub file misses these constants
STRATEGY = int(CORE.kIisStrategyFromLp) | int(CORE.kIisStrategyIrreducible)
IRREDUCIBLE = 3
"""HiGHS's number for a subsystem that it has proved irreducible."""

NEITHER, LOWER, UPPER, BOTH = 0, 1, 2, 3
"""Which sides of a row or column take part."""

SIDES = {
    int(CORE.kIisBoundStatusLower): LOWER,
    int(CORE.kIisBoundStatusUpper): UPPER,
    int(CORE.kIisBoundStatusBoxed): BOTH,
}
SUPPORT = 1e-9
"""Smaller Farkas multipliers, of which the largest is one, are rounding."""


def find_conflict(task: Task, channel: Channel) -> Reply:
    """Return INFEASIBLE with ``row_sides`` and ``column_sides``, or what else the model is.

    The sides are those of :data:`NEITHER` to :data:`BOTH`, one per row (m,) and column (n,).
    """
    n = task.model.num_columns
    costless = replace(task.model, cost=np.zeros(n), integer=np.zeros(n, dtype=np.int8))
    question = replace(task, model=costless, want_ray=True)
    quiet = Quiet(channel)
    answer = solve_lp(question, quiet)
    if answer.solution_status is not SolutionStatus.INFEASIBLE:
        return Reply(answer.solution_status, answer.stop_reason)
    found = _subsystem(question, quiet)
    if found is not None and _contradicts(question, found[0], found[1], quiet):
        return replace(answer, row_sides=found[0], column_sides=found[1], minimal=found[2])
    if answer.dual_ray is not None:
        rows, columns = _support(costless, answer.dual_ray)
        if _contradicts(question, rows, columns, quiet):
            return replace(answer, row_sides=rows, column_sides=columns)
    return replace(answer, stop_reason=channel.stop() or StopReason.NUMERICAL_TROUBLE)


def submodel(model: Model, row_sides: ByteArray, column_sides: ByteArray) -> Model:
    """Return the model with the sides that take part and no others."""
    return replace(
        model,
        row_lower=np.where(row_sides & LOWER, model.row_lower, -np.inf),
        row_upper=np.where(row_sides & UPPER, model.row_upper, np.inf),
        lower=np.where(column_sides & LOWER, model.lower, -np.inf),
        upper=np.where(column_sides & UPPER, model.upper, np.inf),
    )


def _subsystem(task: Task, channel: Channel) -> tuple[ByteArray, ByteArray, bool] | None:
    """Ask HiGHS; return the sides of rows and columns and whether none can be left out."""
    settings = {**task.settings, "iis_strategy": STRATEGY, "solver": "choose"}
    session = Session(task.model, settings, channel)
    session.start_scheduler()
    session.set("iis_time_limit", min(channel.time_left(), 1e9))
    _, found = session.highs.getIis()  # its status is an error for models it merely fails on
    rows = _sides(found.row_index_, found.row_bound_, task.model.num_rows)
    columns = _sides(found.col_index_, found.col_bound_, task.model.num_columns)
    if not rows.any() and not columns.any():
        return None
    return rows, columns, bool(found.valid_) and found.status_ == IRREDUCIBLE


def _sides(indices: Any, bounds: Any, size: int) -> ByteArray:
    sides = np.zeros(size, dtype=np.int8)
    for index, bound in zip(indices, bounds, strict=True):
        sides[index] = SIDES.get(int(bound), NEITHER)
    return sides


def _support(model: Model, ray: FloatArray) -> tuple[ByteArray, ByteArray]:
    """Return the sides that a Farkas proof leans on."""
    y = ray / np.max(np.abs(ray))
    pull = model.reduced_cost(y) - model.cost
    return _leaning(y), _leaning(pull / max(1.0, float(np.max(np.abs(pull), initial=0.0))))


def _leaning(multiplier: FloatArray) -> ByteArray:
    return np.where(
        multiplier > SUPPORT, LOWER, np.where(multiplier < -SUPPORT, UPPER, NEITHER)
    ).astype(np.int8)


def _contradicts(task: Task, rows: ByteArray, columns: ByteArray, channel: Channel) -> bool:
    part = replace(task, model=submodel(task.model, rows, columns), want_ray=False)
    return solve_lp(part, channel).solution_status is SolutionStatus.INFEASIBLE


# From a nearly optimal point with duals to an optimal vertex, by HiGHS's crossover.
#
# The steps, and why each is there:
#
# 1. *Slack form.* Every inequality row ``a <= A_i x <= b`` becomes ``A_i x - s_i = 0`` with a slack
#    column ``a <= s_i <= b``. HiGHS's crossover adds such columns itself for ranged rows and then
#    reads the caller's vectors past their ends, which corrupts memory.
# 2. *Exactly complementary duals.* Crossover refuses a point with a column strictly inside its
#    bounds and a reduced cost other than zero. Of the two, the smaller gives way: the column moves
#    to its bound, or the reduced cost becomes zero.
# 3. *Crossover* pushes the point on to a basis of the slack form (Bixby and Saltzman, "Recovering
#    an optimal LP basis from an interior point solution", 1994).
# 4. *The way back.* A row's status is basic if its logical is, else that of its slack column. Both
#    cannot be basic, being parallel, so the number of basics is right.
# 5. *Clean-up.* Simplex without presolve on the original rows, from that basis: it proves the
#    vertex optimal or takes the few steps left.


BASIC = 1
"""HiGHS's number of the status "basic"."""


def move_to_vertex(task: Task, channel: Channel) -> Reply:
    """Run the chain on ``task.x`` and ``task.row_dual``; the reply is that of an LP solve."""
    model = task.model
    assert task.x is not None  # the caller has a point
    x: FloatArray = np.clip(np.nan_to_num(task.x), model.lower, model.upper)
    y = np.zeros(model.num_rows) if task.row_dual is None else task.row_dual
    basis = crossed_over(task, x, y, channel) if model.num_rows else None
    channel.log("Crossover failed; guessing a basis." if basis is None else "Crossover done.")
    session = Session(model, {**task.settings, "solver": "simplex", "presolve": "off"}, channel)
    session.set_basis(basis_near(model, x) if basis is None else basis)
    return finish(session, session.run(), replace(task, x=None, crossover=True), channel)


def crossed_over(task: Task, x: FloatArray, y: FloatArray, channel: Channel) -> Basis | None:
    """Return the basis that crossover finds, on the rows of the model; None if it fails."""
    model = task.model
    rows = np.flatnonzero(model.row_lower != model.row_upper)
    wide = slack_form(model, rows)
    point = np.concatenate([x, np.clip(model.activity(x), model.row_lower, model.row_upper)[rows]])
    point, z = complementary(wide, point, wide.reduced_cost(y))
    session = Session(wide, {**task.settings, "presolve": "off"}, channel)
    session.crossover(point, z, y)
    basis = session.basis()
    if basis is None:
        return None
    column_status, row_status = basis.column_status, basis.row_status.copy()
    n = model.num_columns
    slack_status = column_status[n:]
    row_status[rows] = np.where(row_status[rows] == BASIC, BASIC, slack_status)
    return Basis(column_status[:n], row_status)


def slack_form(model: Model, rows: npt.NDArray[np.intp]) -> Model:
    """Give each of ``rows`` a bounded slack column, so that only equations are left."""
    m, n, k = model.num_rows, model.num_columns, rows.size
    has_slack = np.zeros(m, dtype=np.int32)
    has_slack[rows] = 1
    start = model.start + np.concatenate([[0], np.cumsum(has_slack)]).astype(np.int32)
    last = start[1:][rows] - 1  # the slack is the last entry of its row
    index = np.empty(start[-1], dtype=np.int32)
    value = np.empty(start[-1])
    old = np.ones(start[-1], dtype=bool)
    old[last] = False
    index[old], value[old] = model.index, model.value
    index[last], value[last] = n + np.arange(k, dtype=np.int32), -1.0
    sides = model.row_lower.copy()
    sides[rows] = 0.0
    return Model(
        cost=np.concatenate([model.cost, np.zeros(k)]),
        offset=model.offset,
        lower=np.concatenate([model.lower, model.row_lower[rows]]),
        upper=np.concatenate([model.upper, model.row_upper[rows]]),
        row_lower=sides,
        row_upper=sides,
        start=start.astype(np.int32),
        index=index,
        value=value,
        integer=np.zeros(n + k, dtype=np.int8),
    )


def complementary(
    model: Model, x: FloatArray, reduced_cost: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the point and reduced costs, changed least so that they are complementary."""
    x, z = x.copy(), reduced_cost.copy()
    down = (z > 0) & (x - model.lower <= z)
    up = (z < 0) & (model.upper - x <= -z)
    x[down], x[up] = model.lower[down], model.upper[up]
    z[~(down | up)] = 0.0
    return x, z


def run(task: Task, channel: Channel, begun: tuple[Session, Any] | None = None) -> Reply:
    """Do a task with HiGHS in the calling thread.

    ``begun`` is the session of a linear program after its first run, with its status.
    """
    if task.work is Work.CONFLICT:
        return find_conflict(task, channel)
    if task.work is Work.CROSSOVER:
        return move_to_vertex(task, channel)
    if task.model.is_mip:
        return solve_mip(task, channel)
    reply = solve_lp(task, channel) if begun is None else settle(*begun, task, channel)
    if not task.crossover or reply.basis is not None or channel.stop() is not None:
        return reply
    point = reply.candidate if reply.x is None else reply.x
    if point is None or reply.solution_status is SolutionStatus.UNBOUNDED:
        return reply

    return move_to_vertex(replace(task, x=point, row_dual=reply.row_dual), channel)
