"""From a nearly optimal point with duals to an optimal vertex, by HiGHS's crossover.

The steps, and why each is there:

1. *Slack form.* Every inequality row ``a <= A_i x <= b`` becomes ``A_i x - s_i = 0`` with a slack
   column ``a <= s_i <= b``. HiGHS's crossover adds such columns itself for ranged rows and then
   reads the caller's vectors past their ends, which corrupts memory.
2. *Exactly complementary duals.* Crossover refuses a point with a column strictly inside its
   bounds and a reduced cost other than zero. Of the two, the smaller gives way: the column moves
   to its bound, or the reduced cost becomes zero.
3. *Crossover* pushes the point on to a basis of the slack form (Bixby and Saltzman, "Recovering
   an optimal LP basis from an interior point solution", 1994).
4. *The way back.* A row's status is basic if its logical is, else that of its slack column. Both
   cannot be basic, being parallel, so the number of basics is right.
5. *Clean-up.* Simplex without presolve on the original rows, from that basis: it proves the
   vertex optimal or takes the few steps left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from solvers.highs.channel import Channel
from solvers.highs.lp import finish, statuses_near
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, FloatArray, Model, Reply, Task

BASIC = 1
"""HiGHS's number of the status "basic"."""


def move_to_vertex(task: Task, channel: Channel) -> Reply:
    """Run the chain on ``task.x`` and ``task.row_dual``; the reply is that of an LP solve."""
    model = task.model
    assert task.x is not None  # the caller has a point
    x: FloatArray = np.clip(np.nan_to_num(task.x), model.lower, model.upper)
    y = np.zeros(model.num_rows) if task.row_dual is None else task.row_dual
    statuses = crossed_over(task, x, y, channel) if model.num_rows else None
    channel.log("Crossover failed; guessing a basis." if statuses is None else "Crossover done.")
    session = Session(model, {**task.settings, "solver": "simplex", "presolve": "off"}, channel)
    column_status, row_status = statuses or statuses_near(model, x)
    session.set_basis(column_status, row_status)
    return finish(session, session.run(), replace(task, x=None, crossover=True), channel)


def crossed_over(
    task: Task, x: FloatArray, y: FloatArray, channel: Channel
) -> tuple[ByteArray, ByteArray] | None:
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
    column_status, row_status = basis
    n = model.num_columns
    slack_status = column_status[n:]
    row_status[rows] = np.where(row_status[rows] == BASIC, BASIC, slack_status)
    return column_status[:n], row_status


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
