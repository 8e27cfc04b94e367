"""From HiGHS's reply to an outcome."""

from __future__ import annotations

from solvers.core.outcome import Basis, Outcome, PoolSolution, Proof, SolutionStatus, StopReason
from solvers.highs.model import Prepared
from solvers.highs.task import Reply


def to_outcome(reply: Reply, prepared: Prepared, pool: tuple[PoolSolution, ...] = ()) -> Outcome:
    """Translate HiGHS's reply into an outcome in the units of the problem."""
    basis = None
    if reply.column_status is not None and reply.row_status is not None:
        basis = Basis(reply.column_status, reply.row_status)
    return outcome_of(
        reply.solution_status,
        reply.stop_reason,
        objective=reply.objective,
        bound=reply.bound,
        x=reply.x,
        row_activity=prepared.rows_back(reply.row_activity),
        row_dual=prepared.duals_back(reply.row_dual),
        reduced_cost=reply.reduced_cost,
        basis=basis,
        primal_ray=reply.primal_ray,
        dual_ray=prepared.duals_back(reply.dual_ray),
        candidate=reply.candidate,
        message=reply.message,
        statistics=dict(reply.statistics),
        pool=pool,
    )


def outcome_of(status: SolutionStatus, reason: StopReason, **fields: object) -> Outcome:
    """Return an outcome of HiGHS's with these fields."""
    return Outcome(status, reason, proof=Proof.SEARCH, engine="highs", device="cpu", **fields)  # type: ignore[arg-type]
