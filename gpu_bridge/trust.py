"""What is done where a mixed-integer model's magnitudes make an engine's claims doubtful.

Presolve is left out, because its reductions multiply rounding errors, and small models are proven
in rational arithmetic. What can be proven in neither way ``verify.py`` does not pass on.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from gpu_bridge.bounds import EXACT_PROVERS
from gpu_bridge.magnitudes import DOUBTFUL, UNSAFE, widest_span
from gpu_bridge.options import Options
from gpu_bridge.residuals import integrality_violation, largest_relative_violation
from gpu_bridge.verify import verify
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.problem import FloatArray, Problem
from solvers.progress import Progress

PROOF_SECONDS = 2.0
"""Seconds that a proof may take at the least, if there is time: models of 20 integer columns take
0.01 to 1."""


def careful_options(problem: Problem, options: Options, progress: Progress) -> Options:
    """Return options without presolve for a mixed-integer model of unsafe magnitudes."""
    if not problem.is_mip or not options.presolve:
        return options
    span = widest_span(problem)
    if span.ratio <= UNSAFE:
        return options
    progress.log(f"{span.sentence(problem)} Presolve is left out.")
    return dataclasses.replace(options, presolve=False)


def proven_exactly(
    problem: Problem, answer: Outcome, options: Options, progress: Progress
) -> Outcome:
    """Return a verified answer with an exact proof, for a small model that needs one.

    It does where its magnitudes are doubtful, or where the engine had numerical trouble.
    """
    if not problem.is_mip or options.heuristics_only or answer.engine in EXACT_PROVERS:
        return answer
    doubtful = answer.stop_reason is StopReason.NUMERICAL_TROUBLE
    if answer.is_exact or not (doubtful or widest_span(problem).ratio > DOUBTFUL):
        return answer
    from solvers.highs import rational

    if problem.num_nonzeros > rational.MOST_ENTRIES:
        return answer

    def accepts(x: FloatArray) -> bool:
        return (
            largest_relative_violation(problem, x) <= options.tolerance
            and integrality_violation(problem, x) <= options.integrality_tolerance
        )

    with progress.budget(max(PROOF_SECONDS, progress.seconds)):
        known = answer.x if answer.solution_status.has_point else None
        proof = rational.prove(problem, options, progress, accepts, known)
    if proof is None:
        return answer
    progress.log(f"Rational arithmetic was asked for a proof: {proof.nodes} nodes.")
    return _with_proof(problem, answer, proof.bound, proof.x, options)


def _with_proof(
    problem: Problem, answer: Outcome, bound: float, x: FloatArray | None, options: Options
) -> Outcome:
    """Return the answer that an exact bound allows, or the engine's where that says more."""
    if x is None and not np.isposinf(bound):
        return answer  # neither a point nor the proof that there is none
    claim = dataclasses.replace(
        answer,
        solution_status=SolutionStatus.INFEASIBLE if x is None else SolutionStatus.FEASIBLE,
        bound=bound,
        x=x,
        row_activity=None,
        candidate=None,
        is_exact=True,
        message="",
    )
    found = verify(problem, claim, options)
    unfinished = found.solution_status is SolutionStatus.FEASIBLE
    stands = answer.solution_status is SolutionStatus.OPTIMAL and found.objective >= answer.bound
    return answer if unfinished and stands else found
