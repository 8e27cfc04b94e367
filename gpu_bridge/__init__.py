"""gpu-bridge: a GPU solver for Pyomo, PuLP and MPS/LP models, with verified answers.

>>> import gpu_bridge
>>> outcome = gpu_bridge.solve("model.mps.gz", time_limit=60)        # doctest: +SKIP

Importing this package makes the solver ``gpuheur`` known to Pyomo and ``GPUHEUR`` to PuLP,
whichever is imported first; no engine is loaded and no GPU is touched before a solve.
"""

from __future__ import annotations

import os.path
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gpu_bridge.adapters.registration import install_hooks
from gpu_bridge.interrupt import uninterrupted_imports
from gpu_bridge.pipeline.memory_limit import check_memory_limits

if TYPE_CHECKING:
    from gpu_bridge.adapters.pulp import GPUHEUR as GPUHEUR
    from gpu_bridge.adapters.pyomo import GpuHeur as GpuHeur
    from gpu_bridge.adapters.pyomo.lexicographic import solve_lexicographic as solve_lexicographic
    from gpu_bridge.adapters.solve_table import solve_table as solve_table
    from gpu_bridge.api import devices as devices
    from gpu_bridge.api import read as read
    from gpu_bridge.api import solve as solve
    from gpu_bridge.api import solve_many as solve_many
    from gpu_bridge.batch.batch import Batch as Batch
    from gpu_bridge.batch.outcomes import Outcomes as Outcomes
    from gpu_bridge.options import Options as Options
    from gpu_bridge.options import make_options as make_options
    from gpu_bridge.outcome import Outcome as Outcome
    from gpu_bridge.report.explain import Conflict as Conflict
    from gpu_bridge.report.improvement import Improvement as Improvement
    from gpu_bridge.report.relax import Relaxation as Relaxation
    from solvers.core.errors import ClusterError as ClusterError
    from solvers.core.errors import CrossedBoundsError as CrossedBoundsError
    from solvers.core.errors import DeviceError as DeviceError
    from solvers.core.errors import EngineError as EngineError
    from solvers.core.errors import FileFormatError as FileFormatError
    from solvers.core.errors import GpuBridgeError as GpuBridgeError
    from solvers.core.errors import MemoryLimitError as MemoryLimitError
    from solvers.core.errors import OptionError as OptionError
    from solvers.core.errors import ProblemError as ProblemError
    from solvers.core.errors import UnsupportedModelError as UnsupportedModelError
    from solvers.core.outcome import SolutionStatus as SolutionStatus
    from solvers.core.outcome import Start as Start
    from solvers.core.outcome import StopReason as StopReason
    from solvers.core.problem import Problem as Problem

__version__ = "0.1.0"

_NAMES = {
    "adapters.pulp": "GPUHEUR",
    "adapters.pyomo": "GpuHeur",
    "adapters.pyomo.lexicographic": "solve_lexicographic",
    "adapters.solve_table": "solve_table",
    "api": "devices read solve solve_many",
    "batch.batch": "Batch",
    "batch.outcomes": "Outcomes",
    "options": "Options make_options",
    "outcome": "Outcome",
    "report.explain": "Conflict",
    "report.improvement": "Improvement",
    "report.relax": "Relaxation",
}
_OF_SOLVERS = {
    "core.errors": "ClusterError CrossedBoundsError DeviceError EngineError FileFormatError "
    "GpuBridgeError MemoryLimitError OptionError ProblemError UnsupportedModelError",
    "core.outcome": "SolutionStatus Start StopReason",
    "core.problem": "Problem",
}
_HOME = {
    name: f"{wing}.{module}"
    for wing, homes in (("gpu_bridge", _NAMES), ("solvers", _OF_SOLVERS))
    for module, names in homes.items()
    for name in names.split()
}
"""Where each public name lives; it is imported at its first use."""

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gpu_bridge' has no attribute '{name}'")
    if _HOME[name] != "solvers.core.errors":  # all others load what takes much memory
        check_memory_limits()
    with uninterrupted_imports():
        value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def _check_solvers_package() -> None:
    """Raise ImportError if ``solvers``, a common name, is not the package installed beside this."""
    beside = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    expected = os.path.join(beside, "solvers", "__init__.py")
    spec = find_spec("solvers")
    found = None if spec is None or spec.origin is None else os.path.realpath(spec.origin)
    if found == expected:
        return
    where = "nowhere" if found is None else f"at '{found}'"
    raise ImportError(
        f"gpu_bridge needs the package 'solvers' that is installed beside it, but Python found "
        f"one {where}. Rename that file, or run Python with -P so that the current folder is "
        "not searched first."
    )


def __dir__() -> list[str]:
    return list(__all__)


_check_solvers_package()
install_hooks()
