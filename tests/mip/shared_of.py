"""What the heuristics of one solve share, for tests that run one of them."""

from __future__ import annotations

from solvers.device import cpu
from solvers.mip.domain import Domain
from solvers.mip.gate import Gate
from solvers.mip.ledger import Ledger
from solvers.mip.model import MipModel
from solvers.mip.reduced import unreduced
from solvers.mip.shared import Shared
from solvers.progress import Progress


def shared_of(model: MipModel, seed: int = 0) -> Shared:
    """Return what is shared in a solve of a model that needs no presolve."""
    progress = Progress()
    ledger = Ledger(model.problem, progress, 1e-6, 10)
    domain = Domain.of(model)
    assert domain.propagate()
    return Shared(
        model=model,
        gate=Gate(model, unreduced(model.problem), ledger, progress, is_timed=False),
        domain=domain,
        device=cpu(),
        seed=seed,
        log=lambda line: None,
        prove_infeasible=lambda: None,
    )
