"""Everything that several solves at once work on.

The matrix by rows serves several problems at once, and their vectors stand side by side. The
figures that steer the solves are one array (fields, K) of float64, a column for each problem;
``kernels/fields.cuh`` has the same names in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.pdlp.shared_matrix.kernels.layout import LONG_ROW, PART, rows_of_unit
from solvers.pdlp.state import Iterate

WIDTHS = (8, 16, 24, 32)
"""Numbers of problems that fit the lanes of a warp."""


class Field(IntEnum):
    """Rows of the control array."""

    # Steering
    TAU = 0  # primal step size, step / weight
    SIGMA = 1  # dual step size, step * weight
    ITERATIONS_SINCE_RESTART = 2  # before the block
    STOP = 3  # a Stop; other than zero leaves the problem alone
    STEP = 4
    WEIGHT = 5  # primal weight
    # Counts
    ITERATIONS = 6
    RESTARTS = 7
    CHECKS = 8
    # The memory of the restart tests and of the weight
    FIRST_METRIC = 9
    PREVIOUS_METRIC = 10
    BEST_WEIGHT = 11
    BEST_IMBALANCE = 12
    BEST_ERROR = 13
    # What the check decided
    RESTART = 14
    KEEP_BEST = 15
    # Statistics of the check
    PRIMAL_RESIDUAL = 16
    DUAL_RESIDUAL = 17
    PRIMAL_OBJECTIVE = 18
    DUAL_OBJECTIVE = 19
    PRIMAL_DISTANCE = 20
    DUAL_DISTANCE = 21
    # Constants of the solve
    TOLERANCE = 22
    SIDE_NORM = 23
    COST_NORM = 24
    SUFFICIENT = 25
    NECESSARY = 26
    ARTIFICIAL = 27
    RESIDUAL_EXPONENT = 28


FIELDS = len(Field)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of ``rows`` rows on a device.

    Parameters
    ----------
    rows : int
    unit_table : (units, 4) int32
        First row, number of rows, part and parts of each unit; see ``kernels/layout.py``.
    starts : (rows + 1,) int32
    indices : (nnz,) int32
    values : (nnz,) float64
    partials : (parts, width) float64
        Where parts of very long rows are left.
    tickets : (parts,) int32
    width : int
        Problems that share it.
    """

    rows: int
    unit_table: Any
    starts: Any
    indices: Any
    values: Any
    partials: Any
    tickets: Any
    width: int

    @classmethod
    def of(
        cls,
        starts: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        values: FloatArray,
        width: int,
        device: Device,
    ) -> Matrix:
        """Lay a matrix out and copy it to the device."""
        table = units_of(np.diff(starts), width)
        parts = max(1, int(np.count_nonzero(table[:, 1] < 0)))
        return cls(
            rows=int(starts.size) - 1,
            unit_table=device.to_device(table),
            starts=device.to_device(starts.astype(np.int32)),
            indices=device.to_device(indices.astype(np.int32)),
            values=device.to_device(np.asarray(values, dtype=np.float64)),
            partials=device.xp.zeros((parts, width)),
            tickets=device.xp.zeros(parts, dtype=np.int32),
            width=width,
        )

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments by which kernels take it."""
        units = int(self.unit_table.shape[0])
        return (units, self.unit_table, self.starts, self.indices, self.values, self.width)

    @property
    def step_arguments(self) -> tuple[Any, ...]:
        """Those by which kernels take it that share very long rows out over blocks."""
        return (*self.arguments, self.partials, self.tickets)

    @property
    def units(self) -> int:
        """Blocks that a product keeps busy."""
        return int(self.unit_table.shape[0])


def units_of(lengths: npt.NDArray[Any], width: int) -> npt.NDArray[np.int32]:
    """Share rows of these lengths (rows,) out over units; return their table (units, 4)."""
    rows = np.arange(lengths.size)
    is_long = lengths > LONG_ROW
    begins_run = is_long.copy()
    begins_run[:1] = True
    begins_run[1:] |= is_long[:-1]
    run = np.maximum.accumulate(np.where(begins_run, rows, 0))
    first = np.flatnonzero((rows - run) % rows_of_unit(width) == 0)
    count = np.diff(np.append(first, lengths.size))
    count[is_long[first]] = 0
    parts = np.where(lengths[first] > PART, -(-lengths[first] // PART), 1)
    # a row in parts becomes that many units, with its partial sums behind those of the others
    split = parts > 1
    sums_before = np.cumsum(np.where(split, parts, 0)) - np.where(split, parts, 0)
    count = np.where(split, -1 - sums_before, count)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    columns = (np.repeat(first, parts), np.repeat(count, parts), part, np.repeat(parts, parts))
    return np.stack(columns, axis=1).astype(np.int32)


def interleaved(vectors: FloatArray, width: int) -> FloatArray:
    """Interleave vectors (K, size), or one for all (size,), into (size * width,).

    Problems that are missing, where K is less than the width, get what the first one has.
    """
    if vectors.ndim == 1:
        return np.repeat(vectors, width)
    columns = np.empty((vectors.shape[1], width))
    columns[:, : vectors.shape[0]] = vectors.T
    columns[:, vectors.shape[0] :] = vectors[0][:, None]
    return columns.ravel()


def separated(columns: FloatArray, width: int) -> FloatArray:
    """Return interleaved vectors (size * width,) as rows (width, size)."""
    return np.ascontiguousarray(columns.reshape(-1, width).T)


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
