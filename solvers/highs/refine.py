"""Iterative refinement of a basic solution.

Simplex updates its values from pivot to pivot and may end with rows that miss their sides by far
more than it believes. One solve with the basis matrix for the misses, computed afresh from the
original entries, and one with its transpose for the basic columns' reduced costs, bring a basic
solution back to machine precision (Wilkinson's refinement; for LP see Gleixner, Steffy and
Wolter, "Iterative refinement for linear programming", 2016).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from highspy import _core

from solvers.highs.residuals import lp_errors
from solvers.highs.session import Session
from solvers.highs.task import ByteArray, FloatArray, IndexArray

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
