"""Sequential bound propagation on the CPU, with a trail: the box that dives narrow step by step."""

from solvers.mip.inference.domain.domain import Domain
from solvers.mip.inference.domain.tighten import Tightened, tighten_model

__all__ = ["Domain", "Tightened", "tighten_model"]
