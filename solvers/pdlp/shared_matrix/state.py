"""Everything that several solves at once work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvers.pdlp.shared_matrix.layout import Matrix
from solvers.pdlp.state import Iterate


@dataclass(frozen=True, eq=False)
class State:
    """The problems on the device; all vectors interleaved, metrics common to all.

    ``vectors`` holds cost, lower, upper, row_lower and row_upper by name. ``control`` is
    (fields, width), the partial sums (slots, 6, width).
    """

    width: int
    by_row: Matrix
    by_column: Matrix
    vectors: dict[str, Any]
    column_metric: Any
    row_metric: Any
    x: Iterate
    y: Iterate
    reflected: Any
    control: Any
    row_partial: Any
    column_partial: Any

    @property
    def column_matrix(self) -> tuple[Any, ...]:
        """The arguments by which steps take A'."""
        return self.by_column.step_arguments

    @property
    def row_matrix(self) -> tuple[Any, ...]:
        """The arguments by which steps take A."""
        return self.by_row.step_arguments

    @property
    def column_data(self) -> tuple[Any, ...]:
        """Costs, bounds and metric of the columns."""
        of = self.vectors
        return (of["cost"], of["lower"], of["upper"], self.column_metric)

    @property
    def row_data(self) -> tuple[Any, ...]:
        """Sides and metric of the rows."""
        return (self.vectors["row_lower"], self.vectors["row_upper"], self.row_metric)


def check_arguments(state: State, count: int) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of the check's kernels by name, in the order in which they run."""
    x, y = state.x, state.y
    row_slots, column_slots = state.row_partial.shape[0], state.column_partial.shape[0]
    return {
        "measure_rows": (
            *state.by_row.arguments,
            x.projection,
            *y.measured,
            *state.row_data,
            state.control,
            row_slots,
            state.row_partial,
        ),
        "measure_columns": (
            *state.by_column.arguments,
            y.projection,
            *x.measured,
            *state.column_data,
            state.control,
            column_slots,
            state.column_partial,
        ),
        "decide": (
            row_slots,
            state.row_partial,
            column_slots,
            state.column_partial,
            state.width,
            count,
            state.control,
        ),
        "settle": (
            state.width,
            state.by_column.rows,
            x.point,
            x.anchor,
            x.projection,
            x.best,
            state.by_row.rows,
            y.point,
            y.anchor,
            y.projection,
            y.best,
            state.control,
        ),
    }
