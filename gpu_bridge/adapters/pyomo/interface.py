"""Pyomo's new solver interface, from wherever the installed version has it.

It has the form used here since Pyomo 6.10.1. Before that ``gpuheur`` is in the old interface only,
with stand-ins for the classes that both rest on.
"""

from __future__ import annotations

from solvers.core.errors import UnsupportedModelError

try:
    from pyomo.contrib.solver.common.base import (
        Availability,
        LegacySolverWrapper,
        PersistentSolverBase,
        SolverBase,
    )
    from pyomo.contrib.solver.common.config import AutoUpdateConfig, BranchAndBoundConfig
    from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
    from pyomo.contrib.solver.common.solution_loader import SolutionLoader
    from pyomo.contrib.solver.common.util import (
        IncompatibleModelError,
        NoDualsError,
        NoFeasibleSolutionError,
        NoOptimalSolutionError,
        NoReducedCostsError,
        NoSolutionError,
    )

    HAS_NEW_INTERFACE = True
except ImportError:
    from gpu_bridge.adapters.pyomo.old_interface import (
        AutoUpdateConfig,
        Availability,
        BranchAndBoundConfig,
        IncompatibleModelError,
        LegacySolverWrapper,
        NoDualsError,
        NoFeasibleSolutionError,
        NoOptimalSolutionError,
        NoReducedCostsError,
        NoSolutionError,
        PersistentSolverBase,
        Results,
        SolutionLoader,
        SolutionStatus,
        SolverBase,
        TerminationCondition,
    )

    HAS_NEW_INTERFACE = False

__all__ = [
    "HAS_NEW_INTERFACE",
    "AutoUpdateConfig",
    "Availability",
    "BranchAndBoundConfig",
    "IncompatibleModelError",
    "LegacySolverWrapper",
    "NoDualsError",
    "NoFeasibleSolutionError",
    "NoOptimalSolutionError",
    "NoReducedCostsError",
    "NoSolutionError",
    "PersistentSolverBase",
    "Results",
    "SolutionLoader",
    "SolutionStatus",
    "SolverBase",
    "TerminationCondition",
]


# Pyomo's classes of single components, which had an underscore before their names until 6.7.


try:
    from pyomo.core.base.block import BlockData
    from pyomo.core.base.constraint import ConstraintData
    from pyomo.core.base.expression import ExpressionData
    from pyomo.core.base.param import ParamData
    from pyomo.core.base.var import VarData
except ImportError:
    from pyomo.core.base.block import _BlockData as BlockData
    from pyomo.core.base.constraint import _GeneralConstraintData as ConstraintData
    from pyomo.core.base.expression import _GeneralExpressionData as ExpressionData
    from pyomo.core.base.param import _ParamData as ParamData
    from pyomo.core.base.var import _GeneralVarData as VarData

__all__ = ["BlockData", "ConstraintData", "ExpressionData", "ParamData", "VarData"]


# The exception for Pyomo models with parts that no engine here can treat.


class IncompatiblePyomoModelError(UnsupportedModelError, IncompatibleModelError):  # type: ignore[misc]
    """A model with a nonlinear, logical or otherwise foreign part; caught under both its bases."""
