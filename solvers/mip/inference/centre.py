"""The analytic centre of the relaxation, a second point for dives to lean on.

It is as far from rows and bounds as can be, where the relaxation's vertex lies on as many of them
as there are columns: what it rounds to breaks fewer rows, for a worse objective. Interior point
ends near it where there are no costs.
"""

from __future__ import annotations

import numpy as np

from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget, BudgetProgress
from solvers.mip.model import MipModel

TOLERANCE = 1e-4
"""Of its rows; the dives round it anyway."""

FILL = 10.0
"""Entries of the factor for each of the model up to which it is looked for."""


def analytic_centre(model: MipModel, budget: Budget) -> FloatArray | None:
    """Return a point (n,) near the analytic centre; None if it is not had within the budget."""
    from solvers import interior_point  # once a solve, and not in each
    from solvers.interior_point.choose_columns import FillError

    problem = model.problem.relaxation().with_cost(np.zeros(model.num_columns))
    options = EngineOptions(device="cpu", threads=1, tolerance=TOLERANCE)
    most = FILL * model.num_nonzeros
    try:
        found = interior_point.solve(problem, options, BudgetProgress(budget), most_entries=most)
    except (DeviceError, FillError):
        return None
    work = float(found.statistics.get("solves", 0)) * (most + model.num_nonzeros)
    budget.charge(work)
    if found.solution_status is not SolutionStatus.OPTIMAL or found.x is None:
        return None
    return np.clip(found.x, model.lower, model.upper)
