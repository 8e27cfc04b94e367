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


def primal_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the primal step up to ``control``."""
    x, vectors = state.x, state.vectors
    return (
        *state.by_column.step_arguments,
        state.y.point,
        x.point,
        x.anchor,
        vectors["cost"],
        vectors["lower"],
        vectors["upper"],
        state.column_metric,
        state.reflected,
        *x.written,
        state.control,
    )


def dual_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the dual step up to ``control``."""
    y, vectors = state.y, state.vectors
    return (
        *state.by_row.step_arguments,
        state.reflected,
        y.point,
        y.anchor,
        vectors["row_lower"],
        vectors["row_upper"],
        state.row_metric,
        *y.written,
        state.control,
    )


def check_arguments(state: State, count: int) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of the check's kernels by name, in the order in which they run."""
    x, y, vectors = state.x, state.y, state.vectors
    row_slots, column_slots = state.row_partial.shape[0], state.column_partial.shape[0]
    return {
        "measure_rows": (
            *state.by_row.arguments,
            x.projection,
            *y.measured,
            vectors["row_lower"],
            vectors["row_upper"],
            state.row_metric,
            state.control,
            row_slots,
            state.row_partial,
        ),
        "measure_columns": (
            *state.by_column.arguments,
            y.projection,
            *x.measured,
            vectors["cost"],
            vectors["lower"],
            vectors["upper"],
            state.column_metric,
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
