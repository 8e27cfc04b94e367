"""What the reductions work on: the model's data, what is still alive in it, and the record.

The matrix never changes. A row or a column is *removed*, at the step whose number stands in
``row_removed`` or ``column_removed``; sides, bounds and costs of what is alive change in place, and
what is removed keeps the values it had then. So the way back needs no copies: it takes the steps
from the last to the first and reads, for each, the data as they were.

The loops are in C++, beside this file; ``workspace.h`` has what they share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.linear_algebra import SparseRows, index_type
from solvers.core.outcome import Basis, BasisStatus, Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.native.presolve_light_basis import undo_basis
from solvers.native.presolve_light_undo import forward_duals, forward_point, undo_duals, undo_point

ALIVE = 2**62
"""The step at which a row or column that is still alive is removed."""

# What a step did
REDUNDANT_ROW = 0
FIXED_COLUMN = 1
SINGLETON_ROW = 2
FORCING_ROW = 3
ABSORBED_AT_LOWER = 4
ABSORBED_AT_UPPER = 5
ABSORBED_BETWEEN = 6
RECEDING_COLUMN = 7
PARALLEL_ROW = 8
PARALLEL_COLUMN = 9

# Places in ``count``
STEPS = 0
WORK = 1
WORK_LIMIT = 2
CONTRADICTION = 3
"""1 + the row that no point satisfies, negative where its activity is too large; 0 for none."""
COUNTERS = 4

# Places in ``total``
OFFSET = 0

# How a column or row stands in a basis
LOWER, BASIC = int(BasisStatus.LOWER), int(BasisStatus.BASIC)
UPPER, ZERO = int(BasisStatus.UPPER), int(BasisStatus.ZERO)


class Workspace(NamedTuple):
    """Arrays of a reduction in progress; m rows and n columns are those of the original.

    ``by_row`` and ``by_column`` are A and its transpose. ``row_size`` (m,) is the
    largest magnitude in each row, ``*_length`` counts living entries, and ``*_changed`` says what
    is worth another look. ``kind``, ``row``, ``column`` (m + n,) and ``payload`` (4, m + n)
    record the steps.
    """

    by_row: SparseRows
    by_column: SparseRows
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    row_size: Any
    row_length: Any
    column_length: Any
    row_removed: Any
    column_removed: Any
    row_changed: Any
    column_changed: Any
    kind: Any
    row: Any
    column: Any
    payload: Any
    count: Any
    total: Any


def begin(problem: Problem, work_limit: int, threads: int = 1) -> Workspace:
    """Return the workspace of a problem of which nothing is removed yet."""
    m, n = problem.num_rows, problem.num_columns
    by_row, by_column = problem.entries, problem.by_column(threads)
    count = np.zeros(COUNTERS, dtype=np.int64)
    count[WORK_LIMIT] = work_limit
    made: dict[str, Callable[[], Any]] = {
        "cost": problem.cost.copy,
        "lower": problem.lower.copy,
        "upper": problem.upper.copy,
        "row_lower": problem.row_lower.copy,
        "row_upper": problem.row_upper.copy,
        "row_size": lambda: by_row.row_sizes[1],
        "row_length": lambda: by_row.lengths.astype(np.int64),
        "column_length": lambda: by_column.lengths.astype(np.int64),
        "row_removed": lambda: np.full(m, ALIVE, dtype=np.int64),
        "column_removed": lambda: np.full(n, ALIVE, dtype=np.int64),
        "row_changed": lambda: np.ones(m, dtype=np.bool_),
        "column_changed": lambda: np.ones(n, dtype=np.bool_),
    }
    if threads > 1:  # the system clears the pages of a large array one by one
        with ThreadPoolExecutor(threads) as pool:
            arrays = dict(zip(made, pool.map(lambda make: make(), made.values()), strict=True))
    else:
        arrays = {name: make() for name, make in made.items()}
    return Workspace(
        by_row=by_row,
        by_column=by_column,
        **arrays,
        kind=np.empty(m + n, dtype=np.int8),
        row=np.empty(m + n, dtype=np.int64),
        column=np.empty(m + n, dtype=np.int64),
        payload=np.zeros((4, m + n)),
        count=count,
        total=np.array([problem.offset]),
    )


MODEL_VECTORS = ("cost", "lower", "upper", "row_lower", "row_upper")
"""Vectors of a problem that reductions change copies of."""


class Record(NamedTuple):
    """What the way back reads of a workspace, by the same names, with the steps that were done.

    ``by_column`` has the columns that are gone, or all.
    """

    by_row: SparseRows
    by_column: SparseRows
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    row_removed: Any
    column_removed: Any
    kind: Any
    row: Any
    column: Any
    payload: Any
    count: Any


@dataclass(frozen=True, eq=False)
class KeptRecord:
    """A record while nobody reads it: beside the model, only what differs from it takes memory."""

    by_row: SparseRows
    by_column: SparseRows
    vectors: Mapping[str, Changed]
    steps: Mapping[str, npt.NDArray[Any]]
    payload: Sequence[Changed]

    @classmethod
    def of(cls, problem: Problem, w: Workspace, threads: int = 1) -> KeptRecord:
        """Keep the record of a workspace that is done with, made by so many threads at most."""
        m, n = problem.num_rows, problem.num_columns
        own = {name: getattr(problem, name) for name in MODEL_VECTORS}
        alive = np.int64(ALIVE)
        own |= {
            "row_removed": np.broadcast_to(alive, m),
            "column_removed": np.broadcast_to(alive, n),
        }
        short = index_type(m + n)
        kinds = {"kind": np.int8, "row": short, "column": short}
        done = int(w.count[STEPS])
        steps = {name: getattr(w, name)[:done].astype(kind) for name, kind in kinds.items()}
        vectors = {name: Changed.of(one, getattr(w, name)) for name, one in own.items()}
        none = np.broadcast_to(0.0, done)
        payload = [Changed.of(none, figures[:done].copy()) for figures in w.payload]
        steps |= {"count": w.count}
        return cls(w.by_row, _columns_gone(w, threads), vectors, steps, payload)

    def whole(self) -> Record:
        """Return the record as compiled loops read it."""
        steps = {
            name: one.astype(np.int64, copy=False) if name in ("row", "column") else one
            for name, one in self.steps.items()
        }
        vectors = {name: one.whole() for name, one in self.vectors.items()}
        payload = np.stack([one.whole() for one in self.payload])
        return Record(self.by_row, self.by_column, **vectors, **steps, payload=payload)


@dataclass(frozen=True, eq=False)
class Changed:
    """A vector as another one with other values at some places."""

    base: npt.NDArray[Any]
    places: npt.NDArray[Any]
    values: npt.NDArray[Any]

    @classmethod
    def of(cls, base: npt.NDArray[Any], vector: npt.NDArray[Any]) -> Changed:
        """Compare a vector with another one of its length; it may itself become the other one."""
        kind = index_type(base.size)
        places = np.flatnonzero(base != vector).astype(kind, copy=False)
        if 2 * places.size > base.size:
            return cls(vector, np.zeros(0, dtype=kind), vector[:0])
        return cls(base, places, vector[places])

    def whole(self) -> npt.NDArray[Any]:
        """Return the vector; what has no changes is not copied."""
        if not self.places.size and self.base.flags.c_contiguous:
            return self.base
        vector = self.base.copy()
        vector[self.places] = self.values
        return vector


def _columns_gone(w: Workspace, threads: int) -> SparseRows:
    """Return the transpose without the entries of columns that are left, or all if they are few."""
    gone = np.flatnonzero(w.column_removed != ALIVE)
    if 2 * gone.size > w.column_removed.size:
        return w.by_column
    part = w.by_column.part(gone, np.arange(w.row_removed.size), threads)
    kind = w.by_column.indices.dtype
    starts = np.zeros(w.column_removed.size + 1, dtype=kind)
    starts[1:][gone] = part.lengths
    np.cumsum(starts, out=starts)
    return SparseRows(part.data, part.indices.astype(kind, copy=False), starts, w.by_column.shape)


# What is left of a model, as a problem of its own.


def reduced_problem(problem: Problem, w: Workspace, threads: int = 1) -> Problem:
    """Return the living rows and columns as a problem."""
    rows, columns = (
        np.flatnonzero(w.row_removed == ALIVE),
        np.flatnonzero(w.column_removed == ALIVE),
    )
    by_row = w.by_row.part(rows, columns, threads)
    by_column = w.by_column.part(columns, rows, threads)
    return Problem.from_canonical(
        cost=w.cost[columns],
        matrix=by_row,
        row_lower=w.row_lower[rows],
        row_upper=w.row_upper[rows],
        lower=w.lower[columns],
        upper=w.upper[columns],
        integrality=problem.integrality[columns],
        offset=float(w.total[OFFSET]),
        maximize=problem.maximize,
        name=problem.name,
        # whoever is next wants the matrix by columns, too, and here it is at hand in that order
        columns=by_column,
    )


# Both ways between the original and the reduced problem, for whole outcomes and starts.


Notes = npt.NDArray[np.int64]
"""What the way back of a point, or of duals, notes for the basis at each step."""


class Way:
    """What was removed, and how to get there and back; both may be called any number of times."""

    def __init__(self, problem: Problem, workspace: Workspace, threads: int = 1) -> None:
        self._problem = problem
        self._kept = KeptRecord.of(problem, workspace, threads)

    def back(self, outcome: Outcome) -> Outcome:
        """Return an outcome of the reduced problem as one of the original.

        Points, duals, rays and the basis come back; the activities, reduced costs and objective
        that belong to them are for the caller to compute.
        """
        return Steps(self._problem, self._kept.whole()).back(outcome)

    def forward(self, start: Start) -> Start:
        """Return a start of the original problem as one of the reduced, without its basis."""
        return Steps(self._problem, self._kept.whole()).forward(start)

    def contradiction(self) -> FloatArray:
        """Return the ray (m,) of the row that was found to contradict the bounds."""
        return Steps(self._problem, self._kept.whole()).contradiction()


class Steps:
    """The steps of a record, taken one by one."""

    def __init__(self, problem: Problem, record: Record) -> None:
        self._problem, self._record = problem, record

    @cached_property
    def _rows(self) -> npt.NDArray[np.int64]:
        """The rows that are left."""
        return np.flatnonzero(self._record.row_removed == ALIVE)

    @cached_property
    def _columns(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self._record.column_removed == ALIVE)

    def back(self, outcome: Outcome) -> Outcome:
        """See :meth:`Way.back`."""
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
        """See :meth:`Way.forward`."""
        x, y = start.x, start.row_dual
        if x is not None:
            x = np.array(x, dtype=np.float64)
            forward_point(self._record, x)
            x = x[self._columns]
        if y is not None:
            y = np.array(y, dtype=np.float64)
            forward_duals(self._record, y)
            y = y[self._rows]
        return Start(x, y)

    def contradiction(self) -> FloatArray:
        """See :meth:`Way.contradiction`."""
        row = int(self._record.count[CONTRADICTION])
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
        undo_basis(self._record, columns, rows, place, leaning)
        return Basis(columns, rows)

    def _completed_point(self, reduced: FloatArray, scale: float) -> tuple[FloatArray, Notes]:
        x = np.zeros(self._problem.num_columns)
        x[self._columns] = reduced
        place = self._notes()
        undo_point(self._record, x, np.empty(self._problem.num_rows), place, scale)
        return x, place

    def _completed_duals(self, y: FloatArray, scale: float) -> tuple[FloatArray, Notes]:
        leaning = self._notes()
        undo_duals(self._record, y, np.empty(self._problem.num_columns), leaning, scale)
        return y, leaning

    def _spread(self, reduced: FloatArray) -> FloatArray:
        y = np.zeros(self._problem.num_rows)
        y[self._rows] = reduced
        return y

    def _notes(self) -> Notes:
        return np.zeros(self._record.kind.size, dtype=np.int64)


def _mapped(
    way: Callable[[FloatArray], FloatArray], values: FloatArray | None
) -> FloatArray | None:
    return None if values is None else way(values)
