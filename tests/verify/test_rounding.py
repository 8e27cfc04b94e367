"""What only rounding contradicts is not infeasible, whichever engine is asked."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.verify.verify import verify
from solvers.core.lp_answer import proves_infeasible
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Proof, SolutionStatus, StopReason
from tests.cases import through
from tests.locations import DATA

KLEIN = DATA / "klein1.mps.gz"


def equations(seed: int) -> gb.Problem:
    """Return more equations than columns, of many magnitudes, that a whole point meets."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(3, 7)), int(rng.integers(2, 6))
    matrix = 10.0 ** rng.uniform(-4, 4, (m, n)) * rng.choice([-1, 1], (m, n))
    matrix *= rng.random((m, n)) < 0.6
    side = matrix @ np.round(rng.uniform(0, 5, n))
    return gb.Problem.from_arrays(np.ones(n), matrix, side, side)


@pytest.mark.parametrize("method", ["auto", "highs", "simplex", "pdlp"])
@through("seed", [28, 44, 72, 126])
def test_equations_with_a_point_are_feasible(seed: int, method: str) -> None:
    outcome = gb.solve(equations(seed), method=method, device="cpu", explain=False)
    assert outcome.solution_status is SolutionStatus.OPTIMAL


def test_simplex_proves_what_presolve_only_says() -> None:
    problem = gb.read(KLEIN)
    outcome = gb.solve(problem, method="simplex", explain=False)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)


def test_a_ray_of_rounding_is_no_proof() -> None:
    third = 1e7 / 3
    problem = gb.Problem.from_arrays(
        [1.0, 1.0], [[1.0, 1.0], [3.0, 3.0]], [third, 1e7 * (1 + 1e-15)], [third, 1e7 * (1 + 1e-15)]
    )

    def claim(ray: list[float] | None) -> Outcome:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            proof=Proof.SEARCH,
            engine="highs",
            dual_ray=None if ray is None else np.array(ray),
        )

    def status(ray: list[float] | None) -> SolutionStatus:
        return verify(problem, claim(ray), EngineOptions()).solution_status

    assert status([-3.0, 1.0]) is SolutionStatus.NOTHING
    assert status(None) is SolutionStatus.INFEASIBLE
