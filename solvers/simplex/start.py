"""The first basis: of slacks, from statuses that a caller hands in, or guessed from a point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import Basis, Start
from solvers.core.problem import FloatArray
from solvers.simplex.slack_form import SlackForm
from solvers.simplex.state import (
    BASIC,
    LOWER,
    UPPER,
    ZERO,
    SimplexState,
    nonbasic_status,
    nonbasic_values,
    slack_start,
)

NEAR_BOUND = 1e-7
"""Values this near a bound, relative to max(1, |bound|), are taken to be on it."""


def start_state(form: SlackForm, start: Start | None = None) -> SimplexState:
    """Return the state to begin with; a start that does not fit the form is left out."""
    n, m = form.num_structurals, form.num_rows
    if start is None:
        return slack_start(form)
    basis = start.basis
    if basis is not None and basis.column_status.shape == (n,) and basis.row_status.shape == (m,):
        return state_of(form, basis_status(form, basis))
    if start.x is not None and start.x.shape == (n,) and np.isfinite(start.x).all():
        return state_of(form, guessed_status(form, start.x))
    return slack_start(form)


def basis_status(form: SlackForm, basis: Basis) -> npt.NDArray[np.int8]:
    """Return (n + m,) statuses of a basis, made to fit the bounds."""
    status = np.concatenate([basis.column_status, basis.row_status]).astype(np.int8)
    return fitted_status(form.lower, form.upper, form.cost, status)


def fitted_status(
    lower: FloatArray, upper: FloatArray, cost: FloatArray, status: npt.NDArray[np.int8]
) -> npt.NDArray[np.int8]:
    """Return statuses whose bounds are there; what does not fit goes where its cost sends it."""
    status = status.copy()
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    fits = (status == BASIC) | ((status == LOWER) & has_lower)
    fits |= (status == UPPER) & has_upper & (lower < upper)
    fits |= (status == ZERO) & ~has_lower & ~has_upper
    status[~fits] = nonbasic_status(lower, upper, cost)[~fits]
    return status


def guessed_status(form: SlackForm, x: FloatArray) -> npt.NDArray[np.int8]:
    """Return (n + m,) statuses of a point: basic where it lies strictly between bounds."""
    n, m = form.num_structurals, form.num_rows
    here = x / form.column_scale
    value = np.concatenate([here, form.rows.times(here)])
    near_lower = NEAR_BOUND * np.maximum(1.0, np.abs(finite_or_zero(form.lower)))
    near_upper = NEAR_BOUND * np.maximum(1.0, np.abs(finite_or_zero(form.upper)))
    below = value <= form.lower + near_lower
    above = value >= form.upper - near_upper
    status = np.full(n + m, BASIC, dtype=np.int8)
    status[below & np.isfinite(form.lower)] = LOWER
    status[above & np.isfinite(form.upper) & (form.lower < form.upper)] = UPPER
    return status


def finite_or_zero(bound: FloatArray) -> FloatArray:
    """Return bounds with zero in place of those that are not there."""
    return np.asarray(np.where(np.isfinite(bound), bound, 0.0))


def state_of(form: SlackForm, status: npt.NDArray[np.int8]) -> SimplexState:
    """Return the state with these statuses, with as many basic variables as there are rows.

    Surplus logicals leave the basis first; logicals fill what is missing. Columns that depend on
    others are for the factorisation to replace.
    """
    n, m = form.num_structurals, form.num_rows
    resting = nonbasic_status(form.lower, form.upper, form.cost)
    surplus = int(np.count_nonzero(status == BASIC)) - m
    if surplus > 0:
        by_preference = np.flatnonzero(status == BASIC)[::-1]
        out = by_preference[:surplus]
        status[out] = resting[out]
    elif surplus < 0:
        idle = n + np.flatnonzero(status[n:] != BASIC)
        status[idle[:-surplus]] = BASIC
    state = slack_start(form)
    state.status[:] = status
    state.basic[:] = np.flatnonzero(status == BASIC)
    state.x[:] = nonbasic_values(status, form.lower, form.upper)
    return state
