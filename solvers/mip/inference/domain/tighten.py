"""Presolve on top of HiGHS's: bounds that follow from the rows, and rows that say nothing more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.domain.domain import Domain
from solvers.mip.inference.domain.state import INFINITE, LARGEST, LOWER, NOISE, SMALLEST, UPPER, Box
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget

PROOF_MARGIN = 1e-5
"""Relative widening of all sides under which infeasibility has to show again to be believed.

Ten times the feasibility tolerance, so that points which a caller would accept as feasible, and
rounding errors of the sums, are out of the question.
"""


@dataclass(frozen=True, eq=False)
class Tightened:
    """A model with the bounds that its rows imply.

    Parameters
    ----------
    model : MipModel
        The same rows and columns. Bounds of integer columns are those propagated; of continuous
        columns only infinite bounds and those that became fixed differ from the given ones, as
        others would only be repeated by rows that stay.
    domain : Domain
        All propagated bounds, ready for dives.
    redundant : (m,) bool
        Rows that hold everywhere within the domain, with some room.
    is_infeasible : bool
        Proven: the contradiction remains when all sides give way by :data:`PROOF_MARGIN`.
    """

    model: MipModel
    domain: Domain
    redundant: BoolArray
    is_infeasible: bool


def tighten_model(model: MipModel, budget: Budget) -> Tightened:
    """Propagate all rows of a model once, to the fixed point or the cap on work.

    A contradiction that is not proven leaves the model as it was: some heuristic may still find
    a point within the tolerances.
    """
    domain = Domain.of(model)
    feasible = domain.propagate()
    budget.charge(domain.work)
    if not feasible:
        proof = Domain.of(model, PROOF_MARGIN)
        proven = not proof.propagate()
        budget.charge(proof.work)
        nothing = np.zeros(model.num_rows, dtype=bool)
        return Tightened(model, Domain.of(model), nothing, proven)
    redundant = redundant_rows(domain.box)
    return Tightened(_with_bounds(model, domain), domain, redundant, False)


def redundant_rows(box: Box) -> BoolArray:
    """Return which rows (m,) hold wherever the columns are in the box, with room for rounding."""
    rows = box.rows
    noise = np.maximum(rows[:, NOISE], 0.0)
    smallest = np.where(rows[:, INFINITE + SMALLEST] > 0, -np.inf, rows[:, SMALLEST])
    largest = np.where(rows[:, INFINITE + LARGEST] > 0, np.inf, rows[:, LARGEST])
    below = smallest - _room(rows[:, LOWER], noise) >= rows[:, LOWER]
    above = largest + _room(rows[:, UPPER], noise) <= rows[:, UPPER]
    redundant: BoolArray = below & above
    return redundant


def _room(side: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the rounding errors that sums (m,) may carry; none where there is no side."""
    return np.where(np.isfinite(side), 1e-9 * np.maximum(1.0, np.abs(side)) + noise, 0.0)


def _with_bounds(model: MipModel, domain: Domain) -> MipModel:
    whole = model.is_integer == 1
    fixed = domain.upper - domain.lower <= 0.0
    lower = np.where(whole | fixed | np.isneginf(model.lower), domain.lower, model.lower)
    upper = np.where(whole | fixed | np.isposinf(model.upper), domain.upper, model.upper)
    if np.array_equal(lower, model.lower) and np.array_equal(upper, model.upper):
        return model
    problem = replace(model.problem, lower=lower, upper=upper)
    return replace(model, problem=problem, lower=lower, upper=upper)
