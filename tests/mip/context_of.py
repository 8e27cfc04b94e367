"""What the heuristics of one solve share, for tests that run one of them."""

from __future__ import annotations

from solvers.core.device import cpu
from solvers.core.progress import Progress
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.reduced import unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import IncumbentStore


def context_of(model: MipModel, seed: int = 0) -> HeuristicContext:
    """Return what is shared in a solve of a model that needs no presolve."""
    progress = Progress()
    incumbents = IncumbentStore(model.problem, progress, 1e-6, 10)
    domain = Domain.of(model)
    assert domain.propagate()
    return HeuristicContext(
        model=model,
        acceptance=Acceptance(
            model, unreduced(model.problem), incumbents, progress, is_timed=False
        ),
        domain=domain,
        device=cpu(),
        seed=seed,
        log=lambda line: None,
        prove_infeasible=lambda: None,
    )
