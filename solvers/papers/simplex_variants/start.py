"""The bases a solve can start from: slacks and artificials, or one of the problem."""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import BasisStatus, Start
from solvers.papers.simplex_variants.basic_solution import Basis
from solvers.papers.simplex_variants.scaling import ScaledForm
from solvers.papers.simplex_variants.standard_form import NONE


def start_basis(form: ScaledForm) -> Basis:
    """Return the basis of slacks, with artificials in the equations (paper, section 3.5)."""
    slack = form.origin.slack
    return np.where(slack == NONE, form.num_columns + np.arange(form.num_rows), slack)


def basis_from_start(form: ScaledForm, start: Start | None) -> Basis | None:
    """Return (m,) basic variables for a start's basis; None without one, or if it does not fit."""
    if start is None or start.basis is None:
        return None
    origin = form.origin
    columns = np.asarray(start.basis.column_status)
    rows = np.asarray(start.basis.row_status)[origin.kept_rows]
    inside = np.zeros(form.num_columns + form.num_rows, dtype=bool)
    owned = np.flatnonzero((origin.owner != NONE) & _first_of_owner(origin.owner))
    status = columns[origin.owner[owned]]
    inside[owned] = status == BasisStatus.BASIC
    slack = origin.slack[: rows.size]
    has_slack = slack != NONE
    inside[slack[has_slack]] = rows[has_slack] == BasisStatus.BASIC
    equations = np.flatnonzero(~has_slack)
    inside[form.num_columns + equations] = rows[equations] == BasisStatus.BASIC
    _pair_bounds(form, inside, owned[status == BasisStatus.UPPER], slack, rows)
    basic = np.flatnonzero(inside)
    return basic if basic.size == form.num_rows else None


def _first_of_owner(owner: np.ndarray) -> np.ndarray:
    """Return flags of the first column here of each column of the problem."""
    first = np.zeros(owner.size, dtype=bool)
    first[np.unique(owner, return_index=True)[1]] = True
    return first


def _pair_bounds(
    form: ScaledForm, inside: np.ndarray, at_upper: Basis, slack: Basis, rows: np.ndarray
) -> None:
    """Set one of each bounded column and its complement, or both if it is basic."""
    complement = form.origin.complement
    bounded = np.flatnonzero(complement != NONE)
    inside[complement[bounded]] = True
    slack_up = slack[(slack != NONE) & (rows == BasisStatus.LOWER)]
    for group in (at_upper, slack_up):
        full = group[complement[group] != NONE]
        inside[full] = True
        inside[complement[full]] = False
