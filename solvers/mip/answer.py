"""What a mixed-integer solve says in the end, put together from what its parts know."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, Proof, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.mip.model import FEASIBILITY_TOLERANCE, ROUNDING, MipModel
from solvers.mip.solutions.incumbents import IncumbentStore

if TYPE_CHECKING:
    from solvers.mip.solutions.acceptance import Acceptance

ENGINE = "mip"

TROUBLE = (StopReason.NUMERICAL_TROUBLE, StopReason.OUT_OF_MEMORY)
"""Ends of branch and bound after which the heuristics go on."""

WEIGHED_ENTRIES = 2e6
"""Entries of the matrix visited at the end, at most, to find the least violated of the points that
violate few rows: some milliseconds. One of each kind is looked at in any case."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known when a solve is over.

    Parameters
    ----------
    incumbents : IncumbentStore
    acceptance : Acceptance or None
        None if the reduced model was never searched.
    proof : Outcome or None
        What branch and bound said, if it has ended.
    settled : Outcome or None
        An answer by presolve or propagation.
    device : str
        Where the heuristics ran.
    is_work_done : bool
        Whether they ended for the limit on their work, and might have found more.
    """

    incumbents: IncumbentStore
    acceptance: Acceptance | None
    proof: Outcome | None
    settled: Outcome | None
    device: str
    is_work_done: bool = False

    @property
    def trouble(self) -> str:
        """Why branch and bound has no answer, if it ended in trouble; else nothing."""
        proof = self.proof
        return proof.message if proof is not None and proof.stop_reason in TROUBLE else ""


def answer(known: Knowledge, options: EngineOptions, progress: Progress) -> Outcome:
    """Return the outcome: the best point with its bound, a proof that there is none, or neither."""
    proof, incumbents = known.proof, known.incumbents
    if proof is not None and proof.x is not None and proof.solution_status.has_point:
        incumbents.record(proof.x, "highs")
    if known.acceptance is not None:
        known.acceptance.hand_over(options.pool_size)
    incumbents.freeze()  # what is said of the best point, of the pool and in the history agrees
    best = incumbents.pool.best
    if best is None:
        return _without_point(known, progress)
    if proof is not None and proof.solution_status is SolutionStatus.UNBOUNDED:
        return proof
    if known.settled is not None and known.settled.solution_status.has_point:
        return dataclasses.replace(known.settled, pool=_pool(incumbents))
    bound = _bound(progress) if proof is None else max(_bound(progress), proof.bound)
    size = abs(best.objective)
    allowed = max(options.abs_gap, options.rel_gap * max(size, 1e-9), ROUNDING * max(1.0, size))
    if best.objective - incumbents.least <= allowed:
        bound = max(bound, incumbents.least)  # nothing better is within the bounds of the columns
    closed = best.objective - bound <= allowed
    return Outcome(
        SolutionStatus.OPTIMAL if closed else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if closed else _reason(known, progress),
        objective=best.objective,
        bound=bound,
        x=best.x,
        proof=Proof.SEARCH,
        engine=ENGINE,
        device=known.device,
        message=known.trouble,
        statistics={} if proof is None else proof.statistics,
        pool=_pool(incumbents),
    )


def infeasible() -> Outcome:
    """Return the answer where safe propagation leaves no point."""
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.SEARCH,
        engine=ENGINE,
        message="Propagation of the rows leaves no feasible point.",
    )


def _without_point(known: Knowledge, progress: Progress) -> Outcome:
    if known.settled is not None:
        return known.settled
    proof = known.proof
    if proof is not None and proof.solution_status is not SolutionStatus.NOTHING:
        return proof
    return Outcome(
        SolutionStatus.NOTHING,
        _reason(known, progress),
        bound=_bound(progress),
        candidate=_least_violated(known),
        proof=Proof.SEARCH,
        engine=ENGINE,
        device=known.device,
        message=known.trouble,
    )


def _least_violated(known: Knowledge) -> FloatArray | None:
    """Return the point (n,) of the original problem that violates the fewest rows; None if none.

    Of several the one that violates them by the least in all. Heuristics on the reduced model may
    not have begun, or have come to less than those before them.
    """
    model, acceptance = known.incumbents.model, known.acceptance
    many = max(1, int(WEIGHED_ENTRIES // max(1, model.num_nonzeros)))
    found = [
        infeasible_points.x
        for infeasible_points in known.incumbents.infeasible_points.points()[:many]
    ]
    if acceptance is not None:
        found += [
            acceptance.original_of(infeasible_points.x)
            for infeasible_points in acceptance.infeasible_points.points()[:many]
        ]
    least = min(found, key=lambda x: _violation(model, x), default=None)
    return None if least is None else least + 0.0  # no negative zeros


def _violation(model: MipModel, x: FloatArray) -> tuple[int, float]:
    """Return how many rows a point (n,) violates, and by how much in all."""
    outside = model.outside(x)
    violated = outside[outside > FEASIBILITY_TOLERANCE]
    return violated.size, float(violated.sum())


def _bound(progress: Progress) -> float:
    bound = progress.best_bound
    return -np.inf if np.isnan(bound) else bound


def _pool(incumbents: IncumbentStore) -> tuple[PoolSolution, ...]:
    return tuple(
        PoolSolution(found.x, found.objective, found.seconds, found.source)
        for found in incumbents.pool.points()
    )


def _reason(known: Knowledge, progress: Progress) -> StopReason:
    stopped, proof = progress.should_stop(), known.proof
    if stopped is not None:
        return stopped
    if proof is not None and proof.stop_reason is not StopReason.INTERRUPTED:
        return proof.stop_reason
    return StopReason.ITERATION_LIMIT if known.is_work_done else StopReason.EXHAUSTED
