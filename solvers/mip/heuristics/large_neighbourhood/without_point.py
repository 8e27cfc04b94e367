"""Neighbourhoods for a model of which no feasible point is known yet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.around import near_rows
from solvers.mip.heuristics.large_neighbourhood.situation import Situation
from solvers.mip.inference.domain import Domain
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.submip import SubMip

MOST_STEPS = 20_000
"""Columns that one neighbourhood fixes one by one, at some ten microseconds each."""

ENTRIES = 3e7
"""Entries of the matrix that the propagation of one neighbourhood may visit."""

LOOKS = 64
"""How often what is fixed by now is counted."""


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
        Integer columns to fix, first to last.
    reference : (n,) float64
    count : int
        How many of them to fix, those that propagation fixes included.

    Returns
    -------
    lower, upper : (n,) float64
        Bounds of integer columns as propagated, the model's for the others; None where the model
        itself propagates to a contradiction.
    """
    domain = Domain.of(model)
    if not domain.propagate():
        return None
    wanted = np.round(reference)
    enough = domain.work + ENTRIES
    look_every = max(1, order.size // LOOKS)
    for step, j in enumerate(order[:MOST_STEPS].tolist()):
        if step % look_every == 0 and _is_fixed(domain, order) >= count:
            break
        low, high = float(domain.lower[j]), float(domain.upper[j])
        if low == high:
            continue
        place = domain.mark()
        if not domain.fix(j, min(max(float(wanted[j]), low), high)):
            domain.undo(place)
        if domain.work > enough:
            break
    whole = model.is_integer == 1
    return np.where(whole, domain.lower, model.lower), np.where(whole, domain.upper, model.upper)


def _is_fixed(domain: Domain, columns: IndexArray) -> int:
    return int(np.count_nonzero(domain.lower[columns] == domain.upper[columns]))


def _reference(situation: Situation) -> FloatArray:
    """Return the least-violated point, else the relaxation's, else what the objective wants."""
    if situation.infeasible_point is not None:
        return situation.infeasible_point
    if situation.relaxation is not None:
        return situation.relaxation.x
    model = situation.model
    preferred = np.where(model.cost > 0, model.lower, np.where(model.cost < 0, model.upper, 0.0))
    return np.clip(np.where(np.isfinite(preferred), preferred, 0.0), model.lower, model.upper)
