"""What is done where a mixed-integer model's magnitudes make an engine's claims doubtful.

Presolve is left out, because its reductions multiply rounding errors, and small models are proven
in rational arithmetic. What can be proven in neither way ``verify.py`` does not pass on.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.verify.residuals import (
    DOUBTFUL,
    UNSAFE,
    bound_violations,
    holds,
    row_violations,
    widest_span,
    without_far_limits,
)
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Outcome, Proof, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

ENGINE = "highs"
"""Who answers: its linear programs, and what follows from them in rational numbers."""

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE)

MOST_ENTRIES = 2_000
"""Coefficients of a model up to which rational arithmetic is worth a try: a node takes about a
millisecond for each hundred of them."""

PROOF_SECONDS, PROOF_SHARE = 2.0, 0.3
"""Seconds that a proof may take, and part of the time left: models of 20 integer columns take 0.01
to 1."""


def careful_options(problem: Problem, options: Options, progress: Progress) -> Options:
    """Return options without presolve for a mixed-integer model of unsafe magnitudes."""
    if not options.presolve:
        return options
    span = widest_span(problem)
    if span.ratio <= UNSAFE:
        return options
    progress.log(f"{span.sentence(problem)} Presolve is left out.")
    return dataclasses.replace(options, presolve=False)


def is_small(problem: Problem, options: Options) -> bool:
    """Whether rational arithmetic is worth a try on a mixed-integer model."""
    return not options.heuristics_only and 0 < problem.num_nonzeros <= MOST_ENTRIES


def is_doubtful(problem: Problem, options: Options) -> bool:
    """Whether a small mixed-integer model has magnitudes that engines may go wrong on."""
    if not is_small(problem, options):
        return False
    return widest_span(problem).ratio > DOUBTFUL or without_far_limits(problem) is not problem


def carried_over(problem: Problem, relaxed: Outcome, options: Options) -> Outcome | None:
    """Return what a verified answer without far limits says of the problem; None if it is nothing.

    A relaxation's bound and its infeasibility stand, its points and rays need to be looked at.
    """
    if relaxed.solution_status is SolutionStatus.INFEASIBLE:
        return relaxed
    if relaxed.solution_status is SolutionStatus.UNBOUNDED:
        found = verify(problem, relaxed, options)
        return found if found.solution_status is SolutionStatus.UNBOUNDED else None
    if not relaxed.solution_status.has_point or relaxed.x is None:
        return None
    stuck = relaxed.stop_reason is StopReason.NUMERICAL_TROUBLE
    return relaxed if not stuck and _within_far_limits(problem, relaxed.x) else None


def _within_far_limits(problem: Problem, x: FloatArray) -> bool:
    """Whether a point that was checked without the far limits keeps them."""
    near, activity = without_far_limits(problem), problem.entries.times(x)
    beyond = bound_violations(problem, x) > bound_violations(near, x)
    rows_beyond = row_violations(problem, activity) > row_violations(near, activity)
    return not (beyond.any() or rows_beyond.any())


def exact_answer(
    problem: Problem, options: Options, progress: Progress, known: FloatArray | None
) -> Outcome | None:
    """Return what rational arithmetic proves of a small model, verified; None where it is nothing.

    Parameters
    ----------
    problem : Problem
        A mixed-integer one.
    options : Options
    progress : Progress
        Told of points.
    known : (n,) array, optional
        A point that may be feasible.
    """
    from solvers.highs import rational

    def accepts(x: FloatArray) -> bool:
        if not holds(problem, x, options):
            return False
        progress.incumbent(problem.objective_at(x), ENGINE, x)
        return True

    start = known if known is not None and np.isfinite(known).all() else None
    with progress.budget(min(PROOF_SECONDS, PROOF_SHARE * progress.time_left)):
        proof = rational.prove(problem, options, progress, accepts, start)
    if proof is None or (proof.x is None and not np.isposinf(proof.bound)):
        return None
    progress.log(f"Rational arithmetic proves it, or a bound, in {proof.nodes} nodes.")
    claim = Outcome(
        SolutionStatus.INFEASIBLE if proof.x is None else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED,
        bound=proof.bound,
        x=proof.x,
        proof=Proof.EXACT,
        engine=ENGINE,
        statistics={"nodes": proof.nodes},
    )
    return verify(problem, claim, options)


def sounder(problem: Problem, answer: Outcome, exact: Outcome, options: Options) -> Outcome:
    """Return what is left of an engine's answer beside an exact one that settles nothing."""
    if answer.solution_status is SolutionStatus.UNBOUNDED:  # with a ray that was checked
        return answer
    if not answer.solution_status.has_point or answer.bound > exact.objective:
        return exact
    best = answer if answer.objective <= exact.objective else exact
    if exact.bound <= best.bound:
        return best
    return verify(problem, dataclasses.replace(best, bound=exact.bound, proof=Proof.EXACT), options)
