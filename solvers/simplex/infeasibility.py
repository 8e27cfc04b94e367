"""How far a state is from primal and from dual feasibility."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.simplex.state import BASIC, LOWER, UPPER, SimplexState


@dataclass(frozen=True)
class Infeasibility:
    """Largest violations of a state, absolute, in its own scale.

    ``dual`` is that of all nonbasic variables, ``stuck`` that of those without a second bound to
    flip to.
    """

    primal: float
    dual: float
    stuck: float


def infeasibility(state: SimplexState) -> Infeasibility:
    """Measure a state against its working cost and bounds."""
    wrong = wrong_sign(state)
    boxed = np.isfinite(state.lower) & np.isfinite(state.upper)
    return Infeasibility(
        float(np.max(bound_violation(state), initial=0.0)),
        float(np.max(wrong, initial=0.0)),
        float(np.max(wrong[~boxed], initial=0.0)),
    )


def bound_violation(state: SimplexState) -> FloatArray:
    """Return by how much each variable (n + m,) leaves its bounds."""
    beyond = np.maximum(state.lower - state.x, state.x - state.upper)
    return np.asarray(np.maximum(beyond, 0.0))


def wrong_sign(state: SimplexState) -> FloatArray:
    """Return how wrong the sign of each reduced cost (n + m,) is where the variable rests."""
    d, status = state.reduced_cost, state.status
    wrong = np.abs(d)
    wrong[status == LOWER] = np.maximum(-d[status == LOWER], 0.0)
    wrong[status == UPPER] = np.maximum(d[status == UPPER], 0.0)
    wrong[(status == BASIC) | (state.lower == state.upper)] = 0.0
    return np.asarray(wrong)


def flip_boxed(state: SimplexState, tolerance: float) -> int:
    """Send boxed variables whose reduced cost is wrong to their other bound; return how many."""
    boxed: BoolArray = np.isfinite(state.lower) & np.isfinite(state.upper)
    wrong = np.flatnonzero(boxed & (wrong_sign(state) > tolerance))
    state.status[wrong] = np.where(state.status[wrong] == LOWER, UPPER, LOWER)
    return int(wrong.size)
