"""The point that HiGHS holds after a run on an LP, refined and measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from highspy import _core

from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.core.vectors import inner, support
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, FloatArray, IndexArray, Model, Reply

# Errors of a point on the model that was handed to HiGHS; NumPy only.


@dataclass(frozen=True, eq=False)
class Priced:
    """Row duals (m,) and what follows from them: reduced costs, the dual objective they prove."""

    reduced_cost: FloatArray
    """(n,)."""
    wrong: float
    """The largest part of a row dual or reduced cost that no finite side supports."""
    row_wrong: bool
    """Whether a row dual has such a part, so that the duals prove nothing."""
    objective: float
    """Dual objective without these parts and without the model's offset."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A primal-dual point's row activities (m,), its prices and its largest relative error."""

    activity: FloatArray
    prices: Priced
    error: float


def priced(model: Model, row_dual: FloatArray) -> Priced:
    """Return what row duals (m,) say of a model."""
    z = model.reduced_cost(row_dual)
    low, high = model.sides
    multiplier = np.concatenate((row_dual, z))
    proven = support(multiplier, low, high)
    if math.isfinite(proven):
        return Priced(z, 0.0, False, proven)
    wrong = unsupported(multiplier, low, high)
    return Priced(
        z,
        float(np.abs(wrong).max()),
        bool(wrong[: model.num_rows].any()),
        support(multiplier - wrong, low, high),
    )


def measured(model: Model, x: FloatArray, row_dual: FloatArray) -> Measured:
    """Return the errors of a primal-dual point, and what they were computed from.

    Each violation is taken over max(1, |side| or |cost|), the duality gap over
    1 + |primal| + |dual|.
    """
    activity, prices = model.activity(x), priced(model, row_dual)
    primal, dual = inner(model.cost, x), prices.objective
    error = max(
        violation(np.concatenate((activity, x)), *model.sides),
        prices.wrong and prices.wrong / (1.0 + float(np.max(np.abs(model.cost), initial=0.0))),
        abs(primal - dual) / (1.0 + abs(primal) + abs(dual)),
    )
    return Measured(activity, prices, error)


def lp_errors(model: Model, x: FloatArray, row_dual: FloatArray) -> float:
    """Return the largest relative error of a primal-dual point."""
    return measured(model, x, row_dual).error


def violation(values: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the largest violation of a side over max(1, |side|)."""
    below, above = low - values, values - high
    if np.max(np.maximum(below, above), initial=0.0) == 0.0:  # false for NaN
        return 0.0
    below /= np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 1.0))
    above /= np.maximum(1.0, np.where(np.isfinite(high), np.abs(high), 1.0))
    return float(np.max(np.maximum(below, above), initial=0.0))


def unsupported(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the part of each multiplier that no finite side supports."""
    wrong: FloatArray = np.where(np.isfinite(low), 0.0, np.maximum(multiplier, 0.0))
    wrong += np.where(np.isfinite(high), 0.0, np.minimum(multiplier, 0.0))
    return wrong


# Iterative refinement of a basic solution.
#
# Simplex updates its values from pivot to pivot and may end with rows that miss their sides by far
# more than it believes. One solve with the basis matrix for the misses, computed afresh from the
# original entries, and one with its transpose for the basic columns' reduced costs, bring a basic
# solution back to machine precision (Wilkinson's refinement; for LP see Gleixner, Steffy and
# Wolter, "Iterative refinement for linear programming", 2016).


STEPS = 2
OK = _core.HighsStatus.kOk
BASIC = int(_core.HighsBasisStatus.kBasic)
UPPER = int(_core.HighsBasisStatus.kUpper)


def refined(
    session: Session, row_status: ByteArray, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return point and row duals of the session's basis with smaller errors, if it can be done.

    Only for a session that has just run simplex: after an interior-point run, or for a model
    without coefficients, which HiGHS solves without simplex, its basis solves crash the process.
    """
    if not session.model.value.any():
        return x, y
    status, order = session.highs.getBasicVariables()
    if status != OK:
        return x, y
    position = np.asarray(order)
    columns = np.flatnonzero(position >= 0)
    best, error = (x, y), lp_errors(session.model, x, y)
    for _ in range(STEPS):
        step = _step(session, row_status, position, columns, *best)
        if step is None or (new := lp_errors(session.model, *step)) >= error:
            break
        best, error = step, new
    return best


def _step(
    session: Session,
    row_status: ByteArray,
    position: IndexArray,
    columns: npt.NDArray[np.intp],
    x: FloatArray,
    y: FloatArray,
) -> tuple[FloatArray, FloatArray] | None:
    model = session.model
    # a basic row's activity may be anything: its logical takes up the change
    side = np.where(row_status == UPPER, model.row_upper, model.row_lower)
    nonbasic = (row_status != BASIC) & np.isfinite(side)
    miss = np.where(nonbasic, side, 0.0) - np.where(nonbasic, model.activity(x), 0.0)
    price = np.zeros(model.num_rows)
    price[columns] = model.reduced_cost(y)[position[columns]]
    primal_status, dx = session.highs.getBasisSolve(miss)
    dual_status, dy = session.highs.getBasisTransposeSolve(price)
    if primal_status != OK or dual_status != OK:
        return None
    new_x = x.copy()
    new_x[position[columns]] += np.asarray(dx)[columns]
    new_y = y + np.asarray(dy)
    new_y[row_status == BASIC] = 0.0
    return new_x, new_y


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
    basis: Basis | None = None

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
    x, y = refined(session, point.basis.row_status, point.x, point.row_dual)
    return Point(x, y, measured(session.model, x, y), point.basis)


def reply_with(
    session: Session,
    point: Point,
    found: SolutionStatus,
    reason: StopReason,
    **more: Any,
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
        fields["basis"] = point.basis
    if x is None or not np.isfinite(x).all():
        proof = found in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
        return Reply(found if proof else SolutionStatus.NOTHING, reason, **fields)
    if found is SolutionStatus.NOTHING:
        return Reply(found, reason, **fields, candidate=x)
    objective = model.objective_at(x)
    fields["bound"] = objective if found is SolutionStatus.OPTIMAL else min(bound, objective)
    activity = model.activity(x) if known is None else known.activity
    return Reply(found, reason, **fields, x=x, row_activity=activity, objective=objective)


COUNTS = {
    f"{kind}_iterations": f"{kind}_iteration_count"
    for kind in ("simplex", "ipm", "pdlp", "crossover")
}
"""HiGHS's counts by our names; asked for one by one, as HiGHS's interface copies all else, too."""


def statistics(session: Session) -> dict[str, float | int | str]:
    """Return HiGHS's counts under our names, without those that it does not vouch for."""
    used: dict[str, float | int | str] = {}
    for ours, theirs in COUNTS.items():
        status, count = session.highs.getInfoValue(theirs)
        if status == OK and count > 0:  # where nothing is known, the count is not even set
            used[ours] = int(count)
    used.setdefault("simplex_iterations", 0)
    return used


def _bound(session: Session, prices: Priced) -> float:
    """Return the dual objective if HiGHS holds a dual feasible point."""
    feasible = session.highs.getInfo().dual_solution_status == DUAL_FEASIBLE
    return prices.objective + session.model.offset if feasible and not prices.row_wrong else -np.inf
