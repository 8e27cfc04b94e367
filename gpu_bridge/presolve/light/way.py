"""Both ways between the original and the reduced problem, for whole outcomes and starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_bridge.presolve.light.forward import forward_duals, forward_point
from gpu_bridge.presolve.light.undo import undo_duals, undo_point
from gpu_bridge.presolve.light.workspace import ALIVE, CONTRADICTION, Workspace
from solvers.outcome import Outcome, Start
from solvers.problem import FloatArray, Problem


class Way:
    """What was removed, and how to get there and back; both may be called any number of times."""

    def __init__(self, problem: Problem, workspace: Workspace) -> None:
        self._problem = problem
        self._workspace = workspace
        self._rows = np.flatnonzero(workspace.row_removed == ALIVE)
        self._columns = np.flatnonzero(workspace.column_removed == ALIVE)

    def back(self, outcome: Outcome) -> Outcome:
        """Return an outcome of the reduced problem as one of the original.

        Points, duals and rays come back; activities, reduced costs and the objective are computed
        there.
        """
        problem = self._problem
        fields: dict[str, Any] = {
            "x": _mapped(self._point, outcome.x),
            "candidate": _mapped(self._point, outcome.candidate),
            "row_dual": _mapped(self._duals, outcome.row_dual),
            "primal_ray": _mapped(self._point, outcome.primal_ray, 0.0),
            "dual_ray": _mapped(self._duals, outcome.dual_ray, 0.0),
            "pool": tuple(replace(one, x=self._point(one.x)) for one in outcome.pool),
            "row_activity": None,
            "reduced_cost": None,
            "basis": None,
        }
        if fields["x"] is not None:
            fields["objective"] = problem.objective_at(fields["x"])
            fields["row_activity"] = problem.matrix @ fields["x"]
        if fields["row_dual"] is not None:
            fields["reduced_cost"] = problem.cost - problem.matrix.T @ fields["row_dual"]
        return replace(outcome, **fields)

    def forward(self, start: Start) -> Start:
        """Return a start of the original problem as one of the reduced, without its basis."""
        x, y = start.x, start.row_dual
        if x is not None:
            x = np.array(x, dtype=np.float64)
            forward_point(self._workspace, x)
            x = x[self._columns]
        if y is not None:
            y = np.array(y, dtype=np.float64)
            forward_duals(self._workspace, y)
            y = y[self._rows]
        return Start(x, y)

    def contradiction(self) -> FloatArray:
        """Return the ray (m,) of the row that was found to contradict the bounds."""
        row = int(self._workspace.count[CONTRADICTION])
        ray = np.zeros(self._problem.num_rows)
        ray[abs(row) - 1] = np.sign(row)
        undo_duals(self._workspace, ray, np.empty(self._problem.num_columns), 0.0)
        return ray

    def _point(self, reduced: FloatArray, scale: float = 1.0) -> FloatArray:
        x = np.zeros(self._problem.num_columns)
        x[self._columns] = reduced
        undo_point(self._workspace, x, np.empty(self._problem.num_rows), scale)
        return x

    def _duals(self, reduced: FloatArray, scale: float = 1.0) -> FloatArray:
        y = np.zeros(self._problem.num_rows)
        y[self._rows] = reduced
        undo_duals(self._workspace, y, np.empty(self._problem.num_columns), scale)
        return y


def _mapped(
    way: Callable[[FloatArray, float], FloatArray], values: FloatArray | None, scale: float = 1.0
) -> FloatArray | None:
    return None if values is None else way(values, scale)
