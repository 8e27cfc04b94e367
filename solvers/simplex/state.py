"""Where a simplex solve stands: basis, point, reduced costs, pricing weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import BasisStatus
from solvers.core.problem import FloatArray
from solvers.simplex.slack_form import SlackForm

LOWER, BASIC, UPPER, ZERO = (
    int(BasisStatus.LOWER),
    int(BasisStatus.BASIC),
    int(BasisStatus.UPPER),
    int(BasisStatus.ZERO),
)
"""Statuses of a variable; a nonbasic free variable is ZERO, a fixed one LOWER."""

PIVOT_TOLERANCE = 1e-7
"""Feasibility tolerance of simplex codes, primal and dual, absolute in the scaled problem."""


@dataclass(eq=False)
class SimplexState:
    """What pivots change. All arrays are of slack form, in its scale.

    Parameters
    ----------
    form : SlackForm
        The problem; its cost and bounds stay what they are.
    basic : (m,) int64 array
        The variable at each position of the basis.
    status : (n + m,) int8 array
        ``LOWER``, ``BASIC``, ``UPPER`` or ``ZERO`` of each variable.
    x, reduced_cost : (n + m,) arrays
        The point with [A -I] x = 0, and d = cost - [A -I]'y, zero for basic variables.
    cost, lower, upper : (n + m,) arrays
        Working cost and bounds: perturbed, shifted or replaced by those of a first phase.
    edge_weight : (m,) array
        Weights of dual pricing by position: squared norms of rows of the inverse (steepest edge),
        or Devex's approximations to them.
    iterations : int
        Pivots and bound flips so far.
    tolerance : float
        Violation of a bound, or wrong sign of a reduced cost, that pivots may leave.
    """

    form: SlackForm
    basic: npt.NDArray[np.int64]
    status: npt.NDArray[np.int8]
    x: FloatArray
    reduced_cost: FloatArray
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    edge_weight: FloatArray
    iterations: int = 0
    tolerance: float = PIVOT_TOLERANCE


def slack_start(form: SlackForm) -> SimplexState:
    """Return the state of the slack basis, with nonbasic structurals at their nearer bound."""
    n, m = form.num_structurals, form.num_rows
    status = nonbasic_status(form.lower, form.upper, form.cost)
    status[n:] = BASIC
    return SimplexState(
        form,
        np.arange(n, n + m, dtype=np.int64),
        status,
        nonbasic_values(status, form.lower, form.upper),
        form.cost.copy(),
        form.cost.copy(),
        form.lower.copy(),
        form.upper.copy(),
        np.ones(m),
    )


def nonbasic_status(
    lower: FloatArray, upper: FloatArray, reduced_cost: FloatArray
) -> npt.NDArray[np.int8]:
    """Return the status each variable has outside the basis: where its reduced cost sends it.

    A variable with two bounds goes to the upper one if its reduced cost is negative, so that it is
    dual feasible; one with a single bound to that; a free one to zero.
    """
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    status = np.full(lower.size, ZERO, dtype=np.int8)
    status[has_lower] = LOWER
    status[has_upper & (~has_lower | ((reduced_cost < 0.0) & (lower < upper)))] = UPPER
    return status


def nonbasic_values(
    status: npt.NDArray[np.int8], lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return (n + m,) values of variables at the bound that their status names; zero if basic."""
    x = np.zeros(status.size)
    x[status == LOWER] = lower[status == LOWER]
    x[status == UPPER] = upper[status == UPPER]
    return x
