"""Both ways between the original and the reduced problem, for whole outcomes and starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import Basis, Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.native.presolve_light_basis import undo_basis
from solvers.native.presolve_light_forward import forward_duals, forward_point
from solvers.native.presolve_light_undo import undo_duals, undo_point
from solvers.presolve.light.workspace import ALIVE, CONTRADICTION, Workspace

Notes = npt.NDArray[np.int64]
"""What the way back of a point, or of duals, notes for the basis at each step."""


class Way:
    """What was removed, and how to get there and back; both may be called any number of times."""

    def __init__(self, problem: Problem, workspace: Workspace) -> None:
        self._problem = problem
        self._workspace = workspace
        self._rows = np.flatnonzero(workspace.row_removed == ALIVE)
        self._columns = np.flatnonzero(workspace.column_removed == ALIVE)

    def back(self, outcome: Outcome) -> Outcome:
        """Return an outcome of the reduced problem as one of the original.

        Points, duals, rays and the basis come back; the activities, reduced costs and objective
        that belong to them are for the caller to compute.
        """
        fields: dict[str, Any] = {
            "x": _mapped(self._point, outcome.x),
            "candidate": _mapped(self._point, outcome.candidate),
            "row_dual": _mapped(self._duals, outcome.row_dual),
            "primal_ray": _mapped(self._primal_ray, outcome.primal_ray),
            "dual_ray": _mapped(self._dual_ray, outcome.dual_ray),
            "pool": tuple(replace(one, x=self._point(one.x)) for one in outcome.pool),
            "basis": self._basis(outcome),
        }
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
        return self._completed_duals(ray, 0.0)[0]

    def _point(self, reduced: FloatArray) -> FloatArray:
        return self._completed_point(reduced, 1.0)[0]

    def _duals(self, reduced: FloatArray) -> FloatArray:
        return self._completed_duals(self._spread(reduced), 1.0)[0]

    def _primal_ray(self, reduced: FloatArray) -> FloatArray:
        return self._completed_point(reduced, 0.0)[0]

    def _dual_ray(self, reduced: FloatArray) -> FloatArray:
        return self._completed_duals(self._spread(reduced), 0.0)[0]

    def _basis(self, outcome: Outcome) -> Basis | None:
        """Complete a basis, for which its point and duals are needed."""
        if outcome.basis is None or outcome.x is None or outcome.row_dual is None:
            return None
        place = self._completed_point(outcome.x, 1.0)[1]
        leaning = self._completed_duals(self._spread(outcome.row_dual), 1.0)[1]
        columns = np.zeros(self._problem.num_columns, dtype=np.int8)
        rows = np.zeros(self._problem.num_rows, dtype=np.int8)
        columns[self._columns] = outcome.basis.column_status
        rows[self._rows] = outcome.basis.row_status
        undo_basis(self._workspace, columns, rows, place, leaning)
        return Basis(columns, rows)

    def _completed_point(self, reduced: FloatArray, scale: float) -> tuple[FloatArray, Notes]:
        x = np.zeros(self._problem.num_columns)
        x[self._columns] = reduced
        place = self._notes()
        undo_point(self._workspace, x, np.empty(self._problem.num_rows), place, scale)
        return x, place

    def _completed_duals(self, y: FloatArray, scale: float) -> tuple[FloatArray, Notes]:
        leaning = self._notes()
        undo_duals(self._workspace, y, np.empty(self._problem.num_columns), leaning, scale)
        return y, leaning

    def _spread(self, reduced: FloatArray) -> FloatArray:
        y = np.zeros(self._problem.num_rows)
        y[self._rows] = reduced
        return y

    def _notes(self) -> Notes:
        return np.zeros(self._workspace.kind.size, dtype=np.int64)


def _mapped(
    way: Callable[[FloatArray], FloatArray], values: FloatArray | None
) -> FloatArray | None:
    return None if values is None else way(values)
