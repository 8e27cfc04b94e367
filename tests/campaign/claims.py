"""What an answer claims, in the minimised sense, whatever door it came through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_bridge.outcome import Outcome
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray, Problem


@dataclass(frozen=True, eq=False)
class Claim:
    """An answer; objective and bound are NaN where the door does not tell them."""

    status: SolutionStatus
    objective: float = np.nan
    bound: float = np.nan
    x: FloatArray | None = None
    reason: str = ""
    message: str = ""

    def __str__(self) -> str:
        parts = [self.status.name, self.reason, f"objective {self.objective!r}"]
        parts.append(f"bound {self.bound!r}")
        return ", ".join(part for part in parts if part)


def claim_of(problem: Problem, outcome: Outcome) -> Claim:
    """Return what an outcome claims of a problem, whose columns are in the same order."""
    sign = -1.0 if problem.maximize else 1.0
    return Claim(
        outcome.solution_status,
        sign * outcome.objective,
        sign * outcome.bound,
        outcome.x,
        outcome.stop_reason.name,
        outcome.message,
    )
