"""The solver ``gpuheur`` of Pyomo. Importing this package registers it."""

from gpu_bridge.adapters.pyomo.legacy import LegacyGpuHeur
from gpu_bridge.adapters.pyomo.register import register
from gpu_bridge.adapters.pyomo.solver import GpuHeur

__all__ = ["GpuHeur", "LegacyGpuHeur"]

register()
