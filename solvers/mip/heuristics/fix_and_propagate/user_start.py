"""A start given by the user, complete or partial, made into a point of the reduced model."""

from __future__ import annotations

from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.fix_and_propagate.dive import dive
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_GUIDED
from solvers.mip.inference.domain import Domain
from solvers.mip.model import INTEGRALITY_TOLERANCE, MipModel, Submit
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import START

DIVES = 8
"""Attempts at completing a partial start, with other orders and values each time."""


def bring_in(x: FloatArray, acceptance: Acceptance, budget: Budget, seed: int) -> str:
    """Complete or mend a start (n,) of the original problem; return what to tell."""
    there = acceptance.reduced_of(x)
    if there is None:
        return "The start is left to branch and bound."
    completed, given_up = complete(acceptance.model, there, acceptance.submit, budget, seed)
    how = f", {given_up} of its values given up" if given_up else ""
    return f"The start {completed.value}{how}."


class Completed(Enum):
    """What became of a start; the values are what a user reads."""

    BEST = "was completed"
    WORSE = "was completed, but better points were known"
    NOT = "could not be made feasible"


def complete(
    model: MipModel, x: FloatArray, submit: Submit, budget: Budget, seed: int
) -> tuple[Completed, int]:
    """Complete a start by propagation and dives, and submit what comes of it.

    Parameters
    ----------
    x : (n,) float64
        NaN where nothing is known.

    Returns
    -------
    (Completed, int)
        What became of it, and how many of the known integer values had to be given up because they
        contradict others.
    """
    known = np.isfinite(x)
    if known.all() and submit(x, START):
        return Completed.BEST, 0
    domain = Domain.of(model)
    if not domain.propagate():
        return Completed.NOT, 0
    given_up = _fix_known(model, domain, x, budget)
    return _finish(model, domain, x, submit, budget, seed), given_up


def _fix_known(model: MipModel, domain: Domain, x: FloatArray, budget: Budget) -> int:
    """Fix integer columns at their known values, one by one, and leave out what contradicts."""
    given_up = 0
    for j in model.integers[np.isfinite(x[model.integers])]:
        value = float(np.round(x[j]))
        if domain.lower[j] == domain.upper[j] == value:
            continue
        place, before = domain.mark(), domain.work
        inside = domain.lower[j] <= value <= domain.upper[j]
        if abs(x[j] - value) > 1e3 * INTEGRALITY_TOLERANCE or not inside:
            given_up += 1
        elif not domain.fix(int(j), value):
            domain.undo(place)
            given_up += 1
        budget.charge(domain.work - before)
        if budget.spent():
            break
    return given_up


def _finish(
    model: MipModel, domain: Domain, x: FloatArray, submit: Submit, budget: Budget, seed: int
) -> Completed:
    """Let dives decide what the start leaves open; the LP behind ``submit`` does the rest."""
    completed = Completed.NOT
    middle = np.clip(np.where(np.isfinite(x), x, 0.0), domain.lower, domain.upper)
    for attempt in range(DIVES):
        if budget.spent():
            break
        strategy = LP_GUIDED[attempt % len(LP_GUIDED)]
        found = dive(model, domain, strategy, seed + attempt, budget, middle)
        if not found.is_feasible:
            continue
        if submit(found.x, START):
            return Completed.BEST
        completed = Completed.WORSE
    return completed
