"""The solver ``gpuheur`` for linopy, and with it for PyPSA: ``model.solve("gpuheur")``.

linopy finds a solver by a member of an enumeration, whose name is that of the solver's class in
``linopy.solvers``. Importing this package adds both, after all solvers that linopy has.
"""

from __future__ import annotations

from typing import Any

import linopy.solvers
from linopy.solvers import SolverName

__all__ = ["GpuHeur"]

NAME = "gpuheur"

HAS_NEW_SOLVERS = hasattr(linopy.solvers, "_SOLVER_PROBE_ORDER")
"""Whether linopy is of a version, from 0.8 on, whose solvers are built and run in two steps."""

if HAS_NEW_SOLVERS:
    from gpu_bridge.adapters.linopy.solver import GpuHeur
else:
    from gpu_bridge.adapters.linopy.old_solver import GpuHeur


def _register() -> None:
    class_name = GpuHeur.__name__
    if class_name in SolverName.__members__:
        return
    member: Any = object.__new__(SolverName)
    member._name_, member._value_ = class_name, NAME
    setattr(SolverName, class_name, member)
    SolverName._member_names_.append(class_name)
    SolverName._member_map_[class_name] = member
    SolverName._value2member_map_[NAME] = member
    setattr(linopy.solvers, class_name, GpuHeur)
    if not HAS_NEW_SOLVERS:
        from gpu_bridge.adapters.linopy.old_solver import register

        register(NAME)
        return
    linopy.solvers._SOLVER_PROBE_ORDER += (NAME,)
    for found in (linopy.solvers.available_solvers, linopy.solvers.licensed_solvers):
        vars(found).pop("_names", None)  # what was found before this one came


_register()
