"""Neighbourhoods for a model of which no feasible point is known yet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.mip.domain import Domain
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.neighbourhoods.around import near_rows
from solvers.mip.neighbourhoods.situation import Situation
from solvers.mip.submip import SubMip
from solvers.problem import FloatArray

CHUNKS = 16
"""Steps in which columns are fixed, each followed by propagation."""

MOST_PROPAGATIONS, FEWEST_PROPAGATIONS = 48, 6
"""Propagations of one neighbourhood; a step that fails is halved until these are used up."""

ENTRIES = 1e8
"""Entries of the matrix that these may visit together, roughly."""


def repair(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Minimise the violation of the rows that the least-violated point breaks.

    Their columns and those around them are free, the other integers keep that point's values, and
    rows that hold there stay hard.
    """
    if situation.points or not situation.decidable.size:
        return None
    model, columns = situation.model, situation.decidable
    point = model.rounded(_reference(situation))
    activity = model.activity(point)
    violation = np.maximum(model.row_lower - activity, activity - model.row_upper)
    broken = np.flatnonzero(violation > FEASIBILITY_TOLERANCE).astype(np.int32)
    if not broken.size:
        return None
    room = columns.size - situation.count_to_fix(rate)
    wanted = np.zeros(model.num_columns, dtype=bool)
    wanted[columns] = True
    seeds = rng.permutation(broken)
    wanted[near_rows(model, seeds, wanted, room, rng)] = False
    box = situation.box(np.flatnonzero(wanted).astype(np.int32), point)
    return replace(box, elastic=broken)


def partial_fixing(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns by a reference point, most decided first, as far as propagation lets them.

    Columns whose values a contradiction spoils stay free, for the sub-MIP to decide.
    """
    if situation.points or not situation.decidable.size:
        return None
    columns = situation.decidable
    reference = _reference(situation)
    values = reference[columns]
    doubt = np.abs(values - np.round(values))
    order = columns[np.lexsort((rng.random(columns.size), np.round(doubt, 1)))]
    count = situation.count_to_fix(rate)
    fixed = fixed_step_by_step(situation.model, order, reference, count)
    if fixed is None:
        return None
    return SubMip(*fixed, cutoff=situation.cutoff)


def fixed_step_by_step(
    model: MipModel, order: IndexArray, reference: FloatArray, count: int
) -> tuple[FloatArray, FloatArray] | None:
    """Fix integers in order near their reference values, with propagation after every step.

    Parameters
    ----------
    model : MipModel
    order : (k,) int32
        Columns to fix, first to last.
    reference : (n,) float64
    count : int
        How many integer columns to fix, those that propagation fixes included.

    Returns
    -------
    lower, upper : (n,) float64
        Bounds of integer columns as propagated, the model's for the others; None where the model
        itself propagates to a contradiction.
    """
    box = _propagated(model, model.lower, model.upper)
    if box is None:
        return None
    most = int(np.clip(ENTRIES / (1 + model.num_nonzeros), FEWEST_PROPAGATIONS, MOST_PROPAGATIONS))
    size = max(1, -(-count // min(CHUNKS, most // 2)))
    position, whole = 0, model.is_integer == 1
    for _ in range(most):
        lower, upper = box
        missing = count - int(np.count_nonzero((lower == upper) & whole & _was_free(model)))
        open_ones = order[position:][lower[order[position:]] < upper[order[position:]]]
        chunk = open_ones[: min(size, missing)] if missing > 0 else open_ones[:0]
        if not chunk.size:
            break
        values = np.clip(np.round(reference[chunk]), lower[chunk], upper[chunk])
        low, high = lower.copy(), upper.copy()
        low[chunk] = high[chunk] = values
        attempt = _propagated(model, low, high)
        if attempt is not None:
            box = attempt
        elif chunk.size > 1:
            size = max(1, chunk.size // 2)
        else:
            position = int(np.flatnonzero(order == chunk[0])[0]) + 1
    lower, upper = box
    return np.where(whole, lower, model.lower), np.where(whole, upper, model.upper)


def _was_free(model: MipModel) -> np.ndarray:
    return model.lower < model.upper


def _propagated(
    model: MipModel, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    domain = Domain.of(replace(model, lower=lower, upper=upper))
    if not domain.propagate():
        return None
    return domain.lower.copy(), domain.upper.copy()


def _reference(situation: Situation) -> FloatArray:
    """Return the least-violated point, else the relaxation's, else what the objective wants."""
    if situation.near is not None:
        return situation.near
    if situation.relaxation is not None:
        return situation.relaxation.x
    model = situation.model
    wish = np.where(model.cost > 0, model.lower, np.where(model.cost < 0, model.upper, 0.0))
    return np.clip(np.where(np.isfinite(wish), wish, 0.0), model.lower, model.upper)
