"""gpu-bridge: a GPU solver for Pyomo, PuLP and MPS/LP models, with verified answers.

>>> import gpu_bridge
>>> outcome = gpu_bridge.solve("model.mps.gz", time_limit=60)        # doctest: +SKIP

Importing this package makes the solver ``gpuheur`` known to Pyomo and ``GPUHEUR`` to PuLP,
whichever is imported first; no engine is loaded and no GPU is touched before a solve.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpu_bridge.adapters.registration import install_hooks
from gpu_bridge.interrupt import uninterrupted_imports
from gpu_bridge.memory_limit import check_memory_limits
from gpu_bridge.shadowing import check_solvers_package

if TYPE_CHECKING:
    from gpu_bridge.adapters.pulp import GPUHEUR as GPUHEUR
    from gpu_bridge.adapters.pyomo import GpuHeur as GpuHeur
    from gpu_bridge.adapters.pyomo.table import solve_table as solve_table
    from gpu_bridge.api import devices as devices
    from gpu_bridge.api import read as read
    from gpu_bridge.api import solve as solve
    from gpu_bridge.api import solve_many as solve_many
    from gpu_bridge.explain import Conflict as Conflict
    from gpu_bridge.improvement import Improvement as Improvement
    from gpu_bridge.many_batch import Batch as Batch
    from gpu_bridge.many_outcomes import Outcomes as Outcomes
    from gpu_bridge.options import Options as Options
    from gpu_bridge.options import make_options as make_options
    from gpu_bridge.outcome import Outcome as Outcome
    from solvers.errors import CrossedBoundsError as CrossedBoundsError
    from solvers.errors import DeviceError as DeviceError
    from solvers.errors import EngineError as EngineError
    from solvers.errors import FileFormatError as FileFormatError
    from solvers.errors import GpuBridgeError as GpuBridgeError
    from solvers.errors import MemoryLimitError as MemoryLimitError
    from solvers.errors import OptionError as OptionError
    from solvers.errors import ProblemError as ProblemError
    from solvers.errors import UnsupportedModelError as UnsupportedModelError
    from solvers.outcome import SolutionStatus as SolutionStatus
    from solvers.outcome import Start as Start
    from solvers.outcome import StopReason as StopReason
    from solvers.problem import Problem as Problem

__version__ = "0.1.0"

_HOME = {
    "GPUHEUR": "gpu_bridge.adapters.pulp",
    "GpuHeur": "gpu_bridge.adapters.pyomo",
    "devices": "gpu_bridge.api",
    "read": "gpu_bridge.api",
    "solve": "gpu_bridge.api",
    "solve_many": "gpu_bridge.api",
    "solve_table": "gpu_bridge.adapters.pyomo.table",
    "Batch": "gpu_bridge.many_batch",
    "Conflict": "gpu_bridge.explain",
    "Improvement": "gpu_bridge.improvement",
    "Options": "gpu_bridge.options",
    "make_options": "gpu_bridge.options",
    "Outcome": "gpu_bridge.outcome",
    "Outcomes": "gpu_bridge.many_outcomes",
    "CrossedBoundsError": "solvers.errors",
    "DeviceError": "solvers.errors",
    "EngineError": "solvers.errors",
    "FileFormatError": "solvers.errors",
    "GpuBridgeError": "solvers.errors",
    "MemoryLimitError": "solvers.errors",
    "OptionError": "solvers.errors",
    "ProblemError": "solvers.errors",
    "UnsupportedModelError": "solvers.errors",
    "SolutionStatus": "solvers.outcome",
    "Start": "solvers.outcome",
    "StopReason": "solvers.outcome",
    "Problem": "solvers.problem",
}
"""Where each public name lives; it is imported at its first use."""

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gpu_bridge' has no attribute '{name}'")
    if _HOME[name] != "solvers.errors":  # all others load what takes much memory
        check_memory_limits()
    with uninterrupted_imports():
        value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


check_solvers_package()
install_hooks()
