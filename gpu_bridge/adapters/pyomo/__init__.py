"""The solver ``gpuheur`` of Pyomo. Importing this package registers it."""

from __future__ import annotations

from gpu_bridge.adapters.pyomo.interface import HAS_NEW_INTERFACE
from gpu_bridge.adapters.pyomo.legacy import LegacyGpuHeur
from gpu_bridge.adapters.pyomo.legacy_persistent import LegacyPersistentGpuHeur
from gpu_bridge.adapters.pyomo.persistent import PersistentGpuHeur
from gpu_bridge.adapters.pyomo.solver import GpuHeur

# Put the solver into Pyomo's new factory and, with its own class, into the old one.


NAMES = ("gpuheur_v2", "gpuheur")
"""Registered in this order: the last one becomes the solver's own name."""

PERSISTENT = "gpuheur_persistent"

MADE_UP = ("gpuheur_direct", "appsi_gpuheur")
"""What frameworks make of a solver's name for a way to it; in the old interface all are one."""


def register() -> None:
    """Register the solver under all its names; safe to call more than once."""
    from pyomo.opt.base.solvers import SolverFactory as OldFactory

    doc = "GPU solver for LP and MIP, with a CPU fallback"
    persistent_doc = "The same, which keeps a model between solves"
    for name in MADE_UP:
        OldFactory.register(name, doc=doc)(LegacyGpuHeur)
    if not HAS_NEW_INTERFACE:
        for name in NAMES:
            OldFactory.register(name, doc=doc)(LegacyGpuHeur)
        OldFactory.register(PERSISTENT, doc=persistent_doc)(LegacyPersistentGpuHeur)
        return
    from pyomo.contrib.solver.common.factory import SolverFactory

    for name in NAMES:
        SolverFactory.register(name, doc=doc)(GpuHeur, LegacyGpuHeur)
    SolverFactory.register(PERSISTENT, doc=persistent_doc)(
        PersistentGpuHeur, LegacyPersistentGpuHeur
    )


__all__ = ["GpuHeur", "LegacyGpuHeur"]

register()
