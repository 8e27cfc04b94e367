"""The exception for Pyomo models with parts that no engine here can treat."""

from __future__ import annotations

from gpu_bridge.adapters.pyomo.interface import IncompatibleModelError
from solvers.core.errors import UnsupportedModelError


class IncompatiblePyomoModelError(UnsupportedModelError, IncompatibleModelError):  # type: ignore[misc]
    """A model with a nonlinear, logical or otherwise foreign part; caught under both its bases."""
