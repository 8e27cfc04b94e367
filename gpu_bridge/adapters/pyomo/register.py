"""Put the solver into Pyomo's new factory and, with its own class, into the old one."""

from __future__ import annotations

from pyomo.contrib.solver.common.factory import SolverFactory

from gpu_bridge.adapters.pyomo.legacy import LegacyGpuHeur
from gpu_bridge.adapters.pyomo.legacy_persistent import LegacyPersistentGpuHeur
from gpu_bridge.adapters.pyomo.persistent import PersistentGpuHeur
from gpu_bridge.adapters.pyomo.solver import GpuHeur

NAMES = ("gpuheur_v2", "gpuheur")
"""Registered in this order: the last one becomes the solver's own name."""

PERSISTENT = "gpuheur_persistent"


def register() -> None:
    """Register the solver under all its names; safe to call more than once."""
    for name in NAMES:
        SolverFactory.register(name, doc="GPU solver for LP and MIP, with a CPU fallback")(
            GpuHeur, LegacyGpuHeur
        )
    SolverFactory.register(PERSISTENT, doc="The same, which keeps a model between solves")(
        PersistentGpuHeur, LegacyPersistentGpuHeur
    )
