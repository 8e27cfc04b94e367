"""What a check knows: residuals and objectives on the unscaled problem, distances, the metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.pdlp.kernels.layout import launch
from solvers.pdlp.kernels.measure import COLUMN_SUMS, MEASURE, ROW_SUMS, SUMS
from solvers.pdlp.matrix import CompressedRows
from solvers.pdlp.state import State

ROWS_PER_SLOT = 2048
"""Rows whose terms the CPU adds one after the other before sums are combined."""


@dataclass(frozen=True)
class Statistics:
    """The figures of one check, of the projected point (xh, yh).

    Residuals are 2-norms on the unscaled problem; objectives include the offset. Distances are
    from the epoch's anchor, in the scaled space; ``metric`` is the fixed-point metric and
    ``metric_squared`` its square, negative if the step size is too large.
    """

    primal_residual: float
    dual_residual: float
    primal_objective: float
    dual_objective: float
    side_norm: float
    cost_norm: float
    primal_distance: float
    dual_distance: float
    metric_squared: float

    @property
    def relative_primal(self) -> float:
        """Primal residual over 1 + ||sides||."""
        return self.primal_residual / (1.0 + self.side_norm)

    @property
    def relative_dual(self) -> float:
        """Dual residual over 1 + ||c||."""
        return self.dual_residual / (1.0 + self.cost_norm)

    @property
    def relative_gap(self) -> float:
        """|p - d| over 1 + |p| + |d|."""
        p, d = self.primal_objective, self.dual_objective
        return abs(p - d) / (1.0 + abs(p) + abs(d))

    @property
    def metric(self) -> float:
        """Fixed-point metric; zero where rounding made its square negative."""
        return math.sqrt(max(0.0, self.metric_squared))

    @property
    def worst(self) -> float:
        """The largest of the three relative errors; NaN if one of them is."""
        return float(np.max([self.relative_primal, self.relative_dual, self.relative_gap]))

    @property
    def is_finite(self) -> bool:
        """Whether the iteration has not broken down."""
        return math.isfinite(self.worst) and math.isfinite(self.metric_squared)


def measure(state: State) -> Any:
    """Compute the sums of the last kept iteration and leave them (2, 5) on the device."""
    problem = state.problem
    xp = problem.device.xp
    of_rows = xp.zeros((_slots(state, problem.by_row), SUMS))
    MEASURE["measure_rows"](
        *problem.by_row.arguments,
        state.x.projection,
        state.x.difference,
        state.y.projection,
        state.y.difference,
        state.y.anchor,
        problem.row_lower,
        problem.row_upper,
        problem.scaling.row,
        of_rows.shape[0],
        of_rows,
        threads=state.threads,
    )
    of_columns = xp.zeros((_slots(state, problem.by_column), SUMS))
    MEASURE["measure_columns"](
        *problem.by_column.arguments,
        state.y.projection,
        state.x.projection,
        state.x.difference,
        state.x.anchor,
        problem.cost,
        problem.lower,
        problem.upper,
        problem.scaling.column,
        of_columns.shape[0],
        of_columns,
        threads=state.threads,
    )
    return xp.stack([of_rows.sum(axis=0), of_columns.sum(axis=0)])


def read(state: State, sums: Any) -> Statistics:
    """Bring the sums of :func:`measure` to the host and make statistics of them."""
    problem = state.problem
    host = problem.device.to_host(sums)
    rows = dict(zip(ROW_SUMS, host[0].tolist(), strict=True))
    columns = dict(zip(COLUMN_SUMS, host[1].tolist(), strict=True))
    omega = state.weight.value
    metric_squared = (
        omega * columns["column_step_squared"]
        + rows["row_step_squared"] / omega
        + 2.0 * state.step_size * rows["cross"]
    )
    offset = problem.original.offset
    return Statistics(
        primal_residual=_root(rows["primal_residual_squared"]),
        dual_residual=_root(columns["dual_residual_squared"]),
        primal_objective=columns["primal_objective"] + offset,
        dual_objective=rows["row_support"] + columns["column_support"] + offset,
        side_norm=problem.side_norm,
        cost_norm=problem.cost_norm,
        primal_distance=_root(columns["column_distance_squared"]),
        dual_distance=_root(rows["row_distance_squared"]),
        metric_squared=metric_squared,
    )


def _slots(state: State, matrix: CompressedRows) -> int:
    if state.problem.device.kind == "cpu":
        return 1 + matrix.rows // ROWS_PER_SLOT
    shape = launch(
        {"rows": matrix.rows, "lanes": matrix.lanes, "long_count": matrix.long_rows.size}
    )
    return max(1, shape.grid)


def _root(square: float) -> float:
    return math.sqrt(square) if square >= 0.0 else np.nan
