"""The point that HiGHS holds after a run on an LP, refined and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.highs.measure import Measured, Priced, measured, priced
from solvers.highs.refine import refined
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, Ending, Finding, FloatArray, Reply

REFINE_ABOVE = 1e-10
"""A basic solution with a larger relative error than this is refined."""

DUAL_FEASIBLE = 2
"""HiGHS's number for a dual point that is feasible."""


@dataclass(frozen=True, eq=False)
class Point:
    """Column values and row duals, their measures where both are finite, their basis if any."""

    x: FloatArray | None = None
    row_dual: FloatArray | None = None
    measures: Measured | None = None
    basis: tuple[ByteArray, ByteArray] | None = None

    @property
    def error(self) -> float:
        """The largest relative error."""
        return np.inf if self.measures is None else self.measures.error

    @property
    def exact(self) -> bool:
        """Whether only rounding is left of its errors."""
        return self.error <= REFINE_ABOVE


def held_point(session: Session) -> Point:
    """Return the point HiGHS holds, as it is."""
    x, y = session.solution()
    basis = session.basis()
    if x is None or y is None or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return Point(x, y, basis=basis)
    return Point(x, y, measured(session.model, x, y), basis)


def refined_point(session: Session) -> Point:
    """Return the basic solution HiGHS holds after simplex, refined where that helps."""
    point = held_point(session)
    if point.exact or point.x is None or point.row_dual is None or point.basis is None:
        return point
    x, y = refined(session, point.basis[1], point.x, point.row_dual)
    return Point(x, y, measured(session.model, x, y), point.basis)


def reply_with(
    session: Session, point: Point, finding: Finding, ending: Ending, **more: Any
) -> Reply:
    """Return a reply that carries the point, its duals and basis as far as they exist."""
    model = session.model
    x, y, known = point.x, point.row_dual, point.measures
    fields: dict[str, Any] = {"statistics": statistics(session), **more}
    bound = -np.inf
    if y is not None:
        prices = priced(model, y) if known is None else known.prices
        bound = _bound(session, prices)
        fields.update(row_dual=y, reduced_cost=prices.reduced_cost, bound=bound)
    if point.basis is not None and x is not None:
        fields.update(column_status=point.basis[0], row_status=point.basis[1])
    if x is None or not np.isfinite(x).all():
        proof = finding in (Finding.INFEASIBLE, Finding.UNBOUNDED)
        return Reply(finding if proof else Finding.NOTHING, ending, **fields)
    if finding is Finding.NOTHING:
        return Reply(finding, ending, **fields, candidate=x)
    objective = model.objective_at(x)
    fields["bound"] = objective if finding is Finding.OPTIMAL else min(bound, objective)
    activity = model.activity(x) if known is None else known.activity
    return Reply(finding, ending, **fields, x=x, row_activity=activity, objective=objective)


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


def _bound(session: Session, prices: Priced) -> float:
    """Return the dual objective if HiGHS holds a dual feasible point."""
    feasible = session.highs.getInfo().dual_solution_status == DUAL_FEASIBLE
    return prices.objective + session.model.offset if feasible and not prices.row_wrong else -np.inf
