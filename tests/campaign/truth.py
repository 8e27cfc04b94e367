"""What is known of a model for certain, and what other solvers say of it.

Small models are solved exactly. Where that takes too long a point that meets everything exactly
refutes a claim of infeasibility, and every bound beyond its objective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from solvers.core.problem import FloatArray, Problem
from tests.campaign.claims import Claim
from tests.campaign.enumeration import enumerate_points
from tests.campaign.oracles import ORACLES
from tests.properties.exact import Exact, TooLongError, Truth, solve_exactly, whole_bounds

SECONDS = 1.0
"""Time for an exact answer."""

COMPLETION_SECONDS = 0.5
LARGEST_COMPLETION = 800
"""Rows times columns up to which continuous columns are set exactly to complete a point."""


@dataclass
class Knowledge:
    """What is known of a problem.

    Parameters
    ----------
    problem : Problem
    exact : Exact, optional
        The answer, where it was found.
    witness : Exact, optional
        The best point known that meets everything exactly.
    others : dict
        What other solvers say; asked only where there is no exact answer.
    """

    problem: Problem
    exact: Exact | None = None
    witness: Exact | None = None
    others: dict[str, Claim] = field(default_factory=dict)

    @property
    def best(self) -> Exact | None:
        """The best point known, proven optimal or not."""
        return self.exact if self.exact is not None and self.exact.x else self.witness

    @property
    def is_settled(self) -> bool:
        """Whether the exact answer is known."""
        return self.exact is not None

    def see(self, x: FloatArray | None) -> None:
        """Take a point as a witness if it meets everything exactly, or can be made to."""
        if self.is_settled or x is None or x.shape != (self.problem.num_columns,):
            return
        found = exact_point(self.problem, x)
        if found is None or found.objective is None:
            return
        held = self.witness.objective if self.witness is not None else None
        if held is None or found.objective < held:
            self.witness = found

    def __str__(self) -> str:
        if self.exact is not None:
            value = self.exact.objective
            shown = "" if value is None else f" {float(value)!r} (exactly {short(value)})"
            return f"{self.exact.truth.value}{shown}"
        known = [f"{name}: {claim}" for name, claim in self.others.items()]
        if self.witness is not None and self.witness.objective is not None:
            known.append(f"a point of {float(self.witness.objective)!r} exists")
        return "; ".join(known) or "unknown"


def know(problem: Problem, claims: Sequence[Claim] = (), seconds: float = SECONDS) -> Knowledge:
    """Find out what can be known of a problem; points of claims serve as witnesses."""
    known = Knowledge(problem, enumerate_points(problem))
    if known.is_settled:
        return known
    incumbent = None
    if problem.is_mip:  # saves nodes
        for claim in claims:
            known.see(claim.x)
        incumbent = known.witness
    try:
        known.exact = solve_exactly(problem, seconds=seconds, incumbent=incumbent)
    except TooLongError:
        for claim in claims:
            known.see(claim.x)
        for name, oracle in ORACLES.items():
            if oracle.is_there:
                known.others[name] = oracle.ask(problem)
                known.see(known.others[name].x)
    return known


def exact_point(problem: Problem, x: FloatArray) -> Exact | None:
    """Return a point with whole columns rounded, if it or a completion meets everything exactly."""
    if not np.isfinite(x).all():
        return None
    lower, upper = whole_bounds(problem)
    if np.any(lower > upper):  # the nearest whole number is outside, by no more than the tolerance
        return None
    clipped = np.clip(np.where(problem.integrality, np.round(x), x), lower, upper)
    point = [Fraction(value) for value in clipped.tolist()]
    if _meets(problem, point):
        costs = zip(problem.cost.tolist(), point, strict=True)
        objective = sum((Fraction(c) * v for c, v in costs), Fraction(problem.offset))
        return Exact(Truth.OPTIMAL, objective, tuple(point))
    size = problem.num_rows * problem.num_columns
    if problem.integrality.all() or size > LARGEST_COMPLETION:
        return None
    whole = problem.integrality
    fixed = replace(
        problem,
        lower=np.where(whole, clipped, problem.lower),
        upper=np.where(whole, clipped, problem.upper),
    )
    try:
        found = solve_exactly(fixed, seconds=COMPLETION_SECONDS)
    except TooLongError:
        return None
    return found if found.truth is Truth.OPTIMAL else None


def short(value: Fraction) -> str:
    """Return a fraction as text, or its size where that is too long to read."""
    text = str(value)
    return text if len(text) <= 40 else f"a fraction of {len(text)} digits"


def _meets(problem: Problem, point: list[Fraction]) -> bool:
    """Whether a point within its bounds meets all rows exactly."""
    bounds = zip(problem.lower.tolist(), point, problem.upper.tolist(), strict=True)
    if not all(a <= value <= b for a, value, b in bounds):
        return False
    matrix = problem.matrix
    for i, (a, b) in enumerate(
        zip(problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True)
    ):
        if not math.isfinite(a) and not math.isfinite(b):
            continue
        entries = slice(*matrix.indptr[i : i + 2].tolist())
        pairs = zip(matrix.indices[entries].tolist(), matrix.data[entries].tolist(), strict=True)
        activity = sum((Fraction(value) * point[j] for j, value in pairs), Fraction(0))
        if not a <= activity <= b:
            return False
    return True
