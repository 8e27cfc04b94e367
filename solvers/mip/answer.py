"""What a mixed-integer solve says in the end, put together from what its parts know."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from solvers.mip.gate import Gate
from solvers.mip.ledger import Ledger
from solvers.options import EngineOptions
from solvers.outcome import Outcome, PoolSolution, SolutionStatus, StopReason
from solvers.problem import FloatArray
from solvers.progress import Progress

ENGINE = "mip"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known when a solve is over.

    Parameters
    ----------
    ledger : Ledger
    gate : Gate or None
        None if the reduced model was never searched.
    proof : Outcome or None
        What branch and bound said, if it has ended.
    settled : Outcome or None
        An answer by presolve or propagation.
    device : str
        Where the heuristics ran.
    """

    ledger: Ledger
    gate: Gate | None
    proof: Outcome | None
    settled: Outcome | None
    device: str


def answer(known: Knowledge, options: EngineOptions, progress: Progress) -> Outcome:
    """Return the outcome: the best point with its bound, a proof that there is none, or neither."""
    proof, ledger = known.proof, known.ledger
    if proof is not None and proof.x is not None and proof.solution_status.has_point:
        ledger.record(proof.x, "highs")
    if known.gate is not None:
        known.gate.hand_over(options.pool_size)
    ledger.freeze()  # what is said of the best point, of the pool and in the history agrees
    best = ledger.pool.best
    if best is None:
        return _without_point(known, progress)
    if proof is not None and proof.solution_status is SolutionStatus.UNBOUNDED:
        return proof
    if known.settled is not None and known.settled.solution_status.has_point:
        return dataclasses.replace(known.settled, pool=_pool(ledger))
    bound = _bound(progress) if proof is None else max(_bound(progress), proof.bound)
    allowed = max(options.abs_gap, options.rel_gap * max(abs(best.objective), 1e-9))
    closed = best.objective - bound <= allowed
    return Outcome(
        SolutionStatus.OPTIMAL if closed else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if closed else _reason(proof, progress),
        objective=best.objective,
        bound=bound,
        x=best.x,
        engine=ENGINE,
        device=known.device,
        statistics={} if proof is None else proof.statistics,
        pool=_pool(ledger),
    )


def infeasible() -> Outcome:
    """Return the answer where safe propagation leaves no point."""
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
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
        _reason(proof, progress),
        bound=_bound(progress),
        candidate=_least_violated(known.gate),
        engine=ENGINE,
        device=known.device,
    )


def _least_violated(gate: Gate | None) -> FloatArray | None:
    points = () if gate is None else gate.near.points()
    return None if gate is None or not points else gate.original_of(points[0].x)


def _bound(progress: Progress) -> float:
    bound = progress.best_bound
    return -np.inf if np.isnan(bound) else bound


def _pool(ledger: Ledger) -> tuple[PoolSolution, ...]:
    return tuple(
        PoolSolution(found.x, found.objective, found.seconds, found.source)
        for found in ledger.pool.points()
    )


def _reason(proof: Outcome | None, progress: Progress) -> StopReason:
    stopped = progress.should_stop()
    if stopped is not None:
        return stopped
    if proof is not None and proof.stop_reason is not StopReason.INTERRUPTED:
        return proof.stop_reason
    return StopReason.EXHAUSTED
