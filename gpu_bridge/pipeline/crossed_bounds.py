"""The answer for a model whose own bounds contradict each other, which no engine has to see."""

from __future__ import annotations

from gpu_bridge.outcome import Outcome
from solvers.core.errors import CrossedBoundsError
from solvers.core.outcome import Proof, SolutionStatus, StopReason


def crossed_bounds_outcome(error: CrossedBoundsError) -> Outcome:
    """Return the *infeasible* answer, with the error's sentence as the reason."""
    from gpu_bridge.report.explain import Conflict

    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.SEARCH,
        engine="presolve",
        message=str(error),
        conflict=Conflict(rows=(), columns=(), lines=(str(error),), minimal=True),
    )
