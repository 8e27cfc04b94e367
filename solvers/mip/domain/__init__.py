"""Sequential bound propagation on the CPU, with a trail: the box that dives narrow step by step."""

from solvers.mip.domain.domain import Domain
from solvers.mip.domain.tighten import Tightened, tighten_model

__all__ = ["Domain", "Tightened", "tighten_model"]
