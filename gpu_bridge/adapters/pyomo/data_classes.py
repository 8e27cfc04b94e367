"""Pyomo's classes of single components, which had an underscore before their names until 6.7."""

from __future__ import annotations

try:
    from pyomo.core.base.block import BlockData
    from pyomo.core.base.constraint import ConstraintData
    from pyomo.core.base.param import ParamData
    from pyomo.core.base.var import VarData
except ImportError:
    from pyomo.core.base.block import _BlockData as BlockData
    from pyomo.core.base.constraint import _GeneralConstraintData as ConstraintData
    from pyomo.core.base.param import _ParamData as ParamData
    from pyomo.core.base.var import _GeneralVarData as VarData

__all__ = ["BlockData", "ConstraintData", "ParamData", "VarData"]
