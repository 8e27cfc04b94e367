"""The model as walkers read it, and what they carry on a device.

Rows that cannot be violated are left out. A row with a lower side only is turned round, so that
every row has an upper side, and rows that have a lower side as well stand behind the others: so the
search reads one number of a row, its slack, and for the last ones the width between the sides. An
equation becomes two rows, so that each of its sides has a weight of its own: which side is hard
differs, as in set partitioning, where covering is. Binary columns stand first, then other integers,
then continuous ones, which saves reading bounds and types. Infinite bounds become a wide box.

Walkers carry points, slacks, weights and records. Scores, samples, tabu, smoothing and targets are
drawn for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.kernels.walk import NONE, RECORD, Field
from solvers.mip.model import LARGEST_WHOLE, IndexArray, MipModel

BOX = 1e8
"""Bound of columns that have none: slack is still exact to 1e-8 there, and a polish by LP can go
further."""

LARGEST_SINGLE = 2.0**24
"""Whole numbers up to here are exact in 32 bits."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The arrays that all walkers share, on the host, and the way back to the model.

    Parameters
    ----------
    order : (n,) int
        Column of the model that stands at each place.
    rows, inequalities, binaries, integers, objectives : int
        Numbers of rows, of rows with an upper side only (they stand first), of binary and of
        integer columns (they stand first), and of columns with a cost that can move.
    real : str
        Type of state and coefficients: 'float32' where every number of the search is a whole one
        that 32 bits hold.
    is_exact : bool
        Whether slack never drifts, because all numbers are whole.
    sides, ranges, scales : real
        Upper side and scale of each row; width of each row with two sides.
    bounds : (2n,) real
        Lower and upper bound of each column in turn.
    costs, objective_columns : (n,) float64, int32
        All costs, and the columns with one that can move.
    scale, granularity : float
        One over the largest cost (0 without costs), and the least difference of objectives.
    """

    order: npt.NDArray[np.int64]
    rows: int
    inequalities: int
    binaries: int
    integers: int
    objectives: int
    real: str
    is_exact: bool
    by_row: SparseRows
    by_column: SparseRows
    sides: npt.NDArray[Any]
    ranges: npt.NDArray[Any]
    scales: npt.NDArray[Any]
    bounds: npt.NDArray[Any]
    costs: FloatArray
    objective_columns: IndexArray
    scale: float
    granularity: float

    @classmethod
    def of(cls, model: MipModel, *, wide: bool = False) -> Layout:
        """Lay a model out; ``wide`` keeps 64 bits whatever the numbers are."""
        order, binaries, integers = _column_order(model)
        matrix, sides, ranges, inequalities = _rows(model, order)
        lower = np.maximum(model.lower[order], -BOX)
        upper = np.minimum(model.upper[order], BOX)
        costs = model.cost[order]
        movable = np.flatnonzero((costs != 0.0) & (lower < upper)).astype(np.int32)
        largest = _largest_whole(matrix, sides, ranges, lower, upper, integers)
        single = largest < LARGEST_SINGLE and not wide
        real = "float32" if single else "float64"
        largest_cost = float(np.max(np.abs(costs), initial=0.0))
        return cls(
            order=order,
            rows=int(sides.size),
            inequalities=inequalities,
            binaries=binaries,
            integers=integers,
            objectives=int(movable.size),
            real=real,
            is_exact=largest < LARGEST_WHOLE,
            by_row=matrix.cast(real),
            by_column=matrix.transposed().cast(real),
            sides=sides.astype(real),
            ranges=ranges.astype(real),
            scales=_scales(matrix.largest).astype(real),
            bounds=np.column_stack((lower, upper)).ravel().astype(real),
            costs=costs,
            objective_columns=movable,
            scale=1.0 / largest_cost if largest_cost > 0.0 else 0.0,
            granularity=model.objective_step,
        )

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.order.size)

    @property
    def entries(self) -> int:
        """Number of entries of the matrix that are left."""
        return self.by_row.nnz

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The kernels' arrays by the names of their arguments."""
        rows, columns = self.by_row, self.by_column
        return {
            "row_start": rows.indptr,
            "row_column": rows.indices,
            "row_value": rows.data,
            "sides": self.sides,
            "ranges": self.ranges,
            "scales": self.scales,
            "column_start": columns.indptr,
            "column_row": columns.indices,
            "column_value": columns.data,
            "bounds": self.bounds,
            "costs": self.costs,
            "objective_columns": self.objective_columns,
        }

    def point_of(self, values: npt.NDArray[Any]) -> FloatArray:
        """Return a walker's columns (n,) in the order of the model."""
        point = np.empty(self.columns)
        point[self.order] = values
        return point

    def values_of(self, point: FloatArray) -> npt.NDArray[Any]:
        """Return a point (n,) of the model as a walker has it: in its order, type and box."""
        low, high = self.bounds[0::2], self.bounds[1::2]
        values = np.nan_to_num(point[self.order], nan=0.0, posinf=BOX, neginf=-BOX)
        values[: self.integers] = np.round(values[: self.integers])
        return np.clip(values, low, high).astype(self.real)

    def on(self, device: Device) -> dict[str, Any]:
        """Return the kernels' arguments that describe the model, with arrays on a device."""
        sizes = ("rows", "inequalities", "columns", "binaries", "integers", "objectives")
        arrays = {name: device.to_device(_held(one)) for name, one in self.arrays.items()}
        return {name: getattr(self, name) for name in sizes} | arrays


def _held(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array with at least one element: empty ones have no address on a device."""
    return array if array.size else np.zeros(1, array.dtype)


def _column_order(model: MipModel) -> tuple[npt.NDArray[np.int64], int, int]:
    """Return the order of columns, binary ones first, and the numbers of binaries and integers."""
    kind = np.where(model.is_binary, 0, np.where(model.is_integer == 1, 1, 2))
    order = np.argsort(kind, kind="stable")
    return order, int(np.sum(kind == 0)), int(np.sum(kind <= 1))


def _rows(
    model: MipModel, order: npt.NDArray[np.int64]
) -> tuple[SparseRows, FloatArray, FloatArray, int]:
    """Return the rows with entries and a side, turned and sorted, their sides and widths."""
    matrix = sp.csr_matrix(model.problem.matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    has_lower, has_upper = np.isfinite(model.row_lower), np.isfinite(model.row_upper)
    used = (np.diff(matrix.indptr) > 0) & (has_lower | has_upper)
    equal = used & (model.row_lower == model.row_upper)
    ranged = used & has_lower & has_upper & ~equal
    above = np.flatnonzero(used & has_upper & ~ranged)
    below = np.flatnonzero(used & has_lower & ~ranged)
    between = np.flatnonzero(ranged)
    chosen = np.concatenate((above, below, between))
    sign = np.ones(chosen.size)
    sign[above.size : above.size + below.size] = -1.0
    rows = matrix[chosen]
    if np.any(order[1:] < order[:-1]):  # to move columns takes as long as all the rest
        rows = rows[:, order]
    rows.sort_indices()
    rows.data *= np.repeat(sign, np.diff(rows.indptr))
    sides = np.where(sign > 0.0, model.row_upper[chosen], -model.row_lower[chosen])
    ranges = (model.row_upper - model.row_lower)[between]
    return SparseRows.of(rows), sides, ranges, int(above.size + below.size)


def _largest_whole(
    matrix: SparseRows,
    sides: FloatArray,
    ranges: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    integers: int,
) -> float:
    """Return the largest number that slack can reach; inf if not all numbers are whole."""
    numbers = (matrix.data, sides, ranges, lower, upper)
    whole = integers == lower.size and all(np.all(part == np.round(part)) for part in numbers)
    if not whole:
        return np.inf
    reach = np.maximum(np.abs(lower), np.abs(upper))
    activity = np.max(matrix.magnitudes_times(reach), initial=0.0)
    return float(
        2.0 * activity
        + np.max(np.abs(sides), initial=0.0)
        + np.max(ranges, initial=0.0)
        + np.max(reach, initial=0.0)
    )


def _scales(largest: FloatArray) -> FloatArray:
    """Return for each row about one over its largest entry: a power of two, so exact in sums."""
    scales: FloatArray = np.exp2(-np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
    return scales


SAMPLED_ROWS = (1, 2, 4, 4, 8, 12)
"""Violated rows sampled in a step: few are fast, many choose well."""

FRACTIONS = (1e-4, 1e-4, 1e-4, 1e-3, 1e-2)
"""How far below the best point targets lie (staggered against creeping; near a good point what
lies far below it may not be feasible)."""

SMOOTHINGS = (0.0, 1e-4, 3e-4, 3e-4, 1e-3)
"""Probability of smoothing: Local-MIP has 3e-4 in its first version and none in its second."""

LEAST_TENURES = (3, 4)
"""Steps that a change lasts at least, in both versions of Local-MIP."""

TENURE_SPREADS = (6, 9)
"""How many more steps are drawn at random, likewise."""

BREAKTHROUGHS = (8, 16, 32)
"""Moves towards the target that are tried in a step: both versions of Local-MIP have 20."""

PAIR_CHANCES = (0.25, 0.5, 1.0)
"""Probability that a pair is tried at a local minimum: often, as nothing else walks along equality
rows, and not always, as a pair takes longer than all single moves of a step."""

JUMP_SHARE = 2
"""One walker of so many takes the decrease of weighted violation for its score."""


def draw_parameters(records: np.ndarray, seed: int) -> None:
    """Draw the parameters of each walker into its record (W, RECORD)."""
    rng = np.random.default_rng([seed, 4])
    walkers = records.shape[0]
    for field, values in (
        (Field.ROWS, SAMPLED_ROWS),
        (Field.FRACTION, FRACTIONS),
        (Field.SMOOTHING, SMOOTHINGS),
        (Field.TENURE, LEAST_TENURES),
        (Field.SPREAD, TENURE_SPREADS),
        (Field.BREAKTHROUGHS, BREAKTHROUGHS),
        (Field.PAIRS, PAIR_CHANCES),
    ):
        records[:, field] = rng.choice(np.asarray(values, dtype=float), size=walkers)
    records[:, Field.JUMP] = np.arange(walkers) % JUMP_SHARE == JUMP_SHARE - 1


LIFT_PATIENCE = 1024
"""Objective columns looked at for a first lift; fewer where lifts are not found (walk.py)."""


@dataclass(frozen=True, eq=False)
class State:
    """State of W walkers; the names are those of the kernels' arguments.

    Parameters
    ----------
    values : (W * n * 2,) real
        Value and stamp of each column of each walker.
    cells : (W * m * 2,) real
        Slack and weight of each row.
    place, violated : (W * m,) int32
        Place of a row in the list of violated rows, and that list.
    kept : (W * n,) real
        Columns of the best point.
    records : (W * RECORD,) float64
    """

    walkers: int
    values: Any
    cells: Any
    place: Any
    violated: Any
    kept: Any
    records: Any


def bytes_per_walker(layout: Layout) -> int:
    """Return the memory of one walker."""
    real = np.dtype(layout.real).itemsize
    return layout.columns * 3 * real + layout.rows * (2 * real + 8) + RECORD * 8


def touched_bytes(layout: Layout) -> int:
    """Return what of it a search reads all the time: values and cells."""
    return 2 * np.dtype(layout.real).itemsize * (layout.columns + layout.rows)


def make_state(layout: Layout, device: Device, walkers: int, seed: int) -> State:
    """Allocate the state of so many walkers, each with parameters of its own, without points."""
    xp = device.xp
    rows, columns = walkers * max(1, layout.rows), walkers * layout.columns
    return State(
        walkers=walkers,
        values=xp.zeros(2 * columns, dtype=layout.real),
        cells=xp.zeros(2 * rows, dtype=layout.real),
        place=xp.zeros(rows, dtype=np.int32),
        violated=xp.zeros(rows, dtype=np.int32),
        kept=xp.zeros(columns, dtype=layout.real),
        records=device.to_device(first_records(layout, walkers, seed).ravel()),
    )


def first_records(layout: Layout, walkers: int, seed: int) -> np.ndarray:
    """Return the records (W, RECORD) of walkers that have not walked yet."""
    records = np.zeros((walkers, RECORD))
    for field in (Field.TARGET, Field.LIMIT, Field.BEST):
        records[:, field] = NONE
    records[:, Field.LAST] = layout.columns
    records[:, Field.REFRESH] = 1.0
    records[:, Field.SCALE] = layout.scale
    records[:, Field.GRANULARITY] = layout.granularity
    records[:, Field.PATIENCE] = LIFT_PATIENCE
    draw_parameters(records, seed)
    # A jump's violations are not counted by rows: the objective has no say until there is a point.
    records[:, Field.OBJECTIVE_WEIGHT] = 1.0 - records[:, Field.JUMP]
    return records
