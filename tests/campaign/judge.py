"""Whether what is claimed of a model is true.

Tolerances are those that ``docs/statuses.md`` promises, with a little for rounding:

* a point may miss a row or bound by the tolerance: in a mixed-integer model each by 1e-6 of
  max(1, |side|), in a linear program all together by 1e-6 of 1 + || sides ||; whole-number columns
  may miss a whole number by 1e-6;
* *infeasible* is wrong where any point meets everything exactly;
* *unbounded* is wrong unless the model with its sides moved out by the tolerance is;
* an *optimal* mixed-integer point may be worse than the best by the gap asked for, and a bound may
  be on the wrong side of it by what branch and bound prunes, 1e-6, or by rounding: 1e-9 of its
  size, with continuous columns 1e-6;
* an *optimal* linear program may be worse by 1e-6 of 1 + |p| + |d|, and by what reduced costs
  within their tolerance, 1e-6 of 1 + || c ||, make of the way to the exact optimum; so may its
  bound.

What is true only thanks to the tolerance, such as a switch at 1e-9 that a big-M turns into 100, is
counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray, Problem, side_sizes
from tests.campaign.claims import Claim
from tests.campaign.truth import Knowledge
from tests.campaign.verdicts import Ruling, Verdict
from tests.properties.exact import (
    Exact,
    TooLongError,
    Truth,
    objective_of,
    priced,
    solve_exactly,
    violation,
    violations,
    widened,
)

MOVED = 1.01e-6
"""The tolerance, and a little for rounding."""

ROUNDING = 4e-15
"""Part of the sizes that a row adds up which is rounding in doubles."""

WHOLE_ROUNDING, MIXED_ROUNDING = 1e-9, 1e-6
PRUNED = 1.01e-6
"""Branch and bound in doubles drops nodes that are better by less than about this, whatever gap is
asked for."""

WIDENED_SECONDS = 5.0
DEFAULT_REL_GAP, DEFAULT_ABS_GAP = 1e-4, 1e-6


def judge(known: Knowledge, claim: Claim, options: Mapping[str, Any]) -> list[Ruling]:
    """Return what is wrong with a claim."""
    rulings = [*_status(known, claim), *_point(known.problem, claim)]
    if claim.status.has_point and claim.x is not None and not rulings:
        rulings += _optimality(known, claim, options)
    rulings += _bound(known, claim)
    if not rulings:
        rulings += _silence(known, claim, options)
    return rulings or _tolerated(known, claim, options) or _dispute(known, claim, options)


def _status(known: Knowledge, claim: Claim) -> list[Ruling]:
    problem, exact = known.problem, known.exact
    told = f"claimed {claim.status.name}, but the truth is: {known}"
    if claim.status is SolutionStatus.INFEASIBLE:
        feasible = known.witness is not None or (
            exact is not None and exact.truth is not Truth.INFEASIBLE
        )
        return [Ruling(Verdict.STATUS, told)] if feasible else []
    if exact is None:
        return []
    if claim.status is SolutionStatus.UNBOUNDED and exact.truth is not Truth.UNBOUNDED:
        return (
            []
            if _truth(widened(problem, MOVED)) in (Truth.UNBOUNDED, None)
            else [Ruling(Verdict.STATUS, told)]
        )
    if claim.status is SolutionStatus.OPTIMAL and exact.truth is Truth.UNBOUNDED:
        # reduced costs within tolerance may leave a direction open
        return (
            []
            if _truth(priced(problem, MOVED)) is not Truth.UNBOUNDED
            else [Ruling(Verdict.STATUS, told)]
        )
    return []


def _point(problem: Problem, claim: Claim) -> list[Ruling]:
    """Check that a point is there, is feasible, and has the objective that was told."""
    if not claim.status.has_point:
        return []
    x = claim.x
    if x is None or x.shape != (problem.num_columns,) or not np.isfinite(x).all():
        return [Ruling(Verdict.POINT, f"{claim.status.name} without a usable point: {x}")]
    found = []
    if problem.is_mip:
        missed = violation(problem, x, ROUNDING)
        whole = x[problem.integrality]
        apart = float(np.max(np.abs(whole - np.round(whole)), initial=0.0))
        if apart > MOVED:
            found.append(Ruling(Verdict.POINT, f"{apart:.3g} from whole numbers at {x.tolist()}"))
    else:
        total = sum((beyond**2 for beyond, _ in violations(problem, x, ROUNDING)), Fraction(0))
        sides = np.linalg.norm(side_sizes(problem.row_lower, problem.row_upper))
        missed = math.sqrt(total) / (1.0 + float(sides))
    if missed > MOVED:
        found.append(Ruling(Verdict.POINT, f"violated by {missed:.3g} at {x.tolist()}"))
    if not math.isnan(claim.objective):
        value = objective_of(problem, x)
        size = float(np.abs(problem.cost) @ np.abs(x)) + abs(problem.offset)
        if not abs(claim.objective - value) <= 1e-9 * max(1.0, abs(value)) + 1e-12 * size:
            told = f"told {claim.objective!r}, the point has {value!r}"
            found.append(Ruling(Verdict.OBJECTIVE, told))
    return found


def _optimality(known: Knowledge, claim: Claim, options: Mapping[str, Any]) -> list[Ruling]:
    best = known.best
    if claim.status is not SolutionStatus.OPTIMAL or best is None or best.objective is None:
        return []
    assert claim.x is not None
    value = objective_of(known.problem, claim.x)
    most = float(best.objective)
    allowed = _allowed_above(known.problem, value, best, claim.x, options)
    if value - most > allowed:
        told = f"called optimal with {value!r}, but {most!r} exists: {value - most:.3g} better"
        return [Ruling(Verdict.OPTIMALITY, f"{told}, allowed are {allowed:.3g}")]
    return []


def _allowed_above(
    problem: Problem, value: float, best: Exact, x: FloatArray, options: Mapping[str, Any]
) -> float:
    """Return by how much an optimal point may be worse than the best one."""
    assert best.objective is not None
    most = float(best.objective)
    if problem.is_mip:
        rel = float(options.get("rel_gap", DEFAULT_REL_GAP))
        gap = max(float(options.get("abs_gap", DEFAULT_ABS_GAP)), rel * abs(value))
        return 1.01 * gap + _whole_room(problem, most)
    way = float(np.linalg.norm(x - np.array([float(v) for v in best.x])))
    return _linear_room(problem, value, most, way)


def _bound(known: Knowledge, claim: Claim) -> list[Ruling]:
    """Check that no point known is beyond the bound."""
    problem, best = known.problem, known.best
    if math.isnan(claim.bound) or claim.bound == -math.inf:
        return []
    if known.exact is not None and known.exact.truth is Truth.UNBOUNDED:
        if claim.status.has_point and _truth(priced(problem, MOVED)) is Truth.UNBOUNDED:
            return [Ruling(Verdict.BOUND, f"bound {claim.bound!r} of an unbounded model")]
        return []
    if best is None or best.objective is None or not claim.status.has_point:
        return []
    most = float(best.objective)
    if problem.is_mip:
        room = _whole_room(problem, most)
    else:
        way = float(np.linalg.norm([float(v) for v in best.x]))
        room = _linear_room(problem, claim.bound, most, way)
    if claim.bound - most > room:
        told = f"bound {claim.bound!r}, but a point of {most!r} exists"
        return [
            Ruling(Verdict.BOUND, f"{told}: {claim.bound - most:.3g} beyond, allowed {room:.3g}")
        ]
    return []


def _silence(known: Knowledge, claim: Claim, options: Mapping[str, Any]) -> list[Ruling]:
    """Say where an answer is less than it could be."""
    if claim.status in (
        SolutionStatus.OPTIMAL,
        SolutionStatus.INFEASIBLE,
        SolutionStatus.UNBOUNDED,
    ):
        return []
    if options.get("heuristics_only"):
        return []
    verdict = Verdict.AT_LIMIT if "time_limit" in options else Verdict.NO_ANSWER
    return [Ruling(verdict, f"{claim}; the truth is: {known} {claim.message}".rstrip())]


def _tolerated(known: Knowledge, claim: Claim, options: Mapping[str, Any]) -> list[Ruling]:
    """Say where an answer is true only because it may miss rows, bounds and whole numbers a bit."""
    exact, problem = known.exact, known.problem
    if exact is None or claim.status is not SolutionStatus.OPTIMAL or claim.x is None:
        return []
    if exact.truth is not Truth.OPTIMAL or exact.objective is None:
        return [Ruling(Verdict.TOLERANCE, f"{claim}; exactly it is {exact.truth.value}")]
    value = objective_of(problem, claim.x)
    room = _allowed_above(problem, value, exact, claim.x, options)
    if float(exact.objective) - value <= room:
        return []
    return [Ruling(Verdict.TOLERANCE, f"{claim}; exactly {float(exact.objective)!r}")]


def _dispute(known: Knowledge, claim: Claim, options: Mapping[str, Any]) -> list[Ruling]:
    """Say where other solvers answer otherwise, and nothing is proven."""
    if known.is_settled:
        return []
    told = f"{claim}; others: {known}"
    for other in known.others.values():
        if other.status is SolutionStatus.NOTHING:
            continue
        statuses = {claim.status, other.status}
        if claim.status is SolutionStatus.INFEASIBLE and other.status is not claim.status:
            return [Ruling(Verdict.DISPUTED, told)]
        if SolutionStatus.UNBOUNDED in statuses and len(statuses) > 1:
            return [Ruling(Verdict.DISPUTED, told)]
        if claim.status is SolutionStatus.OPTIMAL and other.status.has_point:
            gap = float(options.get("rel_gap", DEFAULT_REL_GAP)) + 1e-5
            if claim.objective - other.objective > gap * (1.0 + abs(other.objective)):
                return [Ruling(Verdict.DISPUTED, told)]
    return []


def _linear_room(problem: Problem, value: float, most: float, way: float) -> float:
    gap = MOVED * (1.0 + abs(value) + abs(most))
    return gap + MOVED * (1.0 + float(np.linalg.norm(problem.cost))) * way


def _whole_room(problem: Problem, most: float) -> float:
    """Return by how much a proof by branch and bound may be off."""
    rounding = WHOLE_ROUNDING if problem.integrality.all() else MIXED_ROUNDING
    return max(PRUNED, rounding * max(1.0, abs(most)))


def _truth(problem: Problem) -> Truth | None:
    try:
        return solve_exactly(problem, seconds=WIDENED_SECONDS).truth
    except TooLongError:
        return None
