"""Starts of branch and bound, completed where some integer columns have no value.

HiGHS takes partial starts, too: it searches the model with the known integers fixed, and goes on
with what it has found. But its callbacks tell the bounds of that search like those of the model,
and a point of it would pass for proven optimal. So that search is a session of its own here, whose
points count and whose bounds do not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from solvers.highs.channel import Channel, PointsOnly
from solvers.highs.session import Session
from solvers.highs.task import FloatArray, Model, Task

FEASIBLE_POINT = 2
"""HiGHS's number for a point that is feasible."""

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
