"""Rows and bounds of an infeasible linear program that contradict each other.

HiGHS finds an irreducible infeasible subsystem by an elastic filter and deletion (Chinneck,
*Feasibility and Infeasibility in Optimization*, 2008). It fails on some models, and then the
support of a Farkas proof serves, which contradicts itself just as well but may hold more than is
needed. Whatever is found is solved on its own before anybody hears of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from highspy import _core

from solvers.highs.channel import Channel, Quiet
from solvers.highs.lp import solve_lp
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, Ending, Finding, FloatArray, Model, Reply, Task

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
    if answer.finding is not Finding.INFEASIBLE:
        return Reply(answer.finding, answer.ending)
    found = _subsystem(question, quiet)
    if found is not None and _contradicts(question, found[0], found[1], quiet):
        return replace(answer, row_sides=found[0], column_sides=found[1], minimal=found[2])
    if answer.dual_ray is not None:
        rows, columns = _support(costless, answer.dual_ray)
        if _contradicts(question, rows, columns, quiet):
            return replace(answer, row_sides=rows, column_sides=columns)
    return replace(answer, ending=channel.stop() or Ending.NUMERICAL_TROUBLE)


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
    return solve_lp(part, channel).finding is Finding.INFEASIBLE
