"""What goes into HiGHS and what comes out, as plain arrays and numbers.

Both sides of a child process speak in these classes, so this module needs NumPy and nothing
else: a child that starts in a tenth of a second must not import SciPy first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from solvers.vectors import inner

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.int8]
Setting = bool | int | float | str


class Finding(IntEnum):
    """What HiGHS holds; the names are those of :class:`solvers.outcome.SolutionStatus`."""

    OPTIMAL = 0
    FEASIBLE = 1
    INFEASIBLE = 2
    UNBOUNDED = 3
    NOTHING = 4


class Ending(IntEnum):
    """Why HiGHS stopped; the names are those of :class:`solvers.outcome.StopReason`."""

    CONVERGED = 0
    TIME_LIMIT = 1
    ITERATION_LIMIT = 2
    INTERRUPTED = 3
    NUMERICAL_TROUBLE = 4
    OUT_OF_MEMORY = 5


class Work(IntEnum):
    """What a task asks for."""

    SOLVE = 0
    CROSSOVER = 1
    CONFLICT = 2


FEW_ENTRIES = 20_000
"""Entries whose rows are kept: a small model is measured several times while it is solved, and a
large one has better use for the memory."""


@dataclass(frozen=True, eq=False)
class Model:
    """A minimisation by rows: m rows, n columns, infinite bounds as inf.

    ``start`` (m+1,), ``index`` and ``value`` hold A in compressed rows; ``integer`` (n,) is 1
    for integer columns.
    """

    cost: FloatArray
    offset: float
    lower: FloatArray
    upper: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    start: IndexArray
    index: IndexArray
    value: FloatArray
    integer: ByteArray

    @property
    def num_rows(self) -> int:
        """Number of rows m."""
        return int(self.row_lower.size)

    @property
    def num_columns(self) -> int:
        """Number of columns n."""
        return int(self.cost.size)

    @cached_property
    def sides(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper sides (m + n,) of the rows and, after them, of the columns."""
        low = np.concatenate((self.row_lower, self.lower))
        return low, np.concatenate((self.row_upper, self.upper))

    @property
    def is_mip(self) -> bool:
        """Whether any column is integer."""
        return bool(self.integer.any())

    def objective_at(self, x: FloatArray) -> float:
        """Return the objective of a point (n,), offset included."""
        return inner(self.cost, x) + self.offset

    def row_of_entry(self) -> IndexArray:
        """Return the row of every stored entry, (nnz,)."""
        return self._kept_rows if self.value.size <= FEW_ENTRIES else self._rows()

    @cached_property
    def _kept_rows(self) -> IndexArray:
        return self._rows()

    def _rows(self) -> IndexArray:
        return np.repeat(np.arange(self.num_rows, dtype=np.int32), np.diff(self.start))

    def activity(self, x: FloatArray) -> FloatArray:
        """Return A x, (m,)."""
        terms = self.value * x[self.index]
        sums = np.bincount(self.row_of_entry(), weights=terms, minlength=self.num_rows)
        return sums.astype(np.float64, copy=False)  # an empty count is of integers

    def reduced_cost(self, row_dual: FloatArray) -> FloatArray:
        """Return c - A'y, (n,)."""
        terms = self.value * row_dual[self.row_of_entry()]
        return self.cost - np.bincount(self.index, weights=terms, minlength=self.num_columns)


@dataclass(frozen=True, eq=False)
class Task:
    """One piece of work for HiGHS.

    Parameters
    ----------
    model : Model
        The model.
    settings : mapping
        HiGHS options by name; the time limit is not among them.
    tolerance : float
        Largest violation, relative to the size of the side or cost, of a solved LP.
    crossover : bool
        Whether an LP's answer should be a vertex.
    want_ray : bool
        Whether an infeasible LP is worth a second solve for its Farkas multipliers.
    x, row_dual : arrays, optional
        Point to start from; NaN in ``x`` means unknown.
    column_status, row_status : arrays, optional
        Basis to start from.
    """

    model: Model
    settings: Mapping[str, Setting]
    work: Work = Work.SOLVE
    tolerance: float = 1e-6
    crossover: bool = True
    want_ray: bool = False
    x: FloatArray | None = None
    row_dual: FloatArray | None = None
    column_status: ByteArray | None = None
    row_status: ByteArray | None = None


@dataclass(frozen=True, eq=False)
class Reply:
    """The answer to a :class:`Task`, with the fields of :class:`solvers.outcome.Outcome`.

    ``row_sides``, ``column_sides`` and ``minimal`` answer :attr:`Work.CONFLICT`. ``points`` (k, n)
    are the improving points of branch and bound in their order, where a setting has them kept.
    """

    finding: Finding
    ending: Ending
    objective: float = np.nan
    bound: float = -np.inf
    x: FloatArray | None = None
    row_activity: FloatArray | None = None
    row_dual: FloatArray | None = None
    reduced_cost: FloatArray | None = None
    column_status: ByteArray | None = None
    row_status: ByteArray | None = None
    primal_ray: FloatArray | None = None
    dual_ray: FloatArray | None = None
    candidate: FloatArray | None = None
    points: FloatArray | None = None
    row_sides: ByteArray | None = None
    column_sides: ByteArray | None = None
    minimal: bool = False
    message: str = ""
    statistics: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(eq=False)
class Told:
    """What a running HiGHS has told so far, which is the answer where no reply comes."""

    point: tuple[float, FloatArray] | None = None
    bound: float = -np.inf

    def reply(self, model: Model, ending: Ending, message: str = "") -> Reply:
        """Return it as a reply, with the objective and values of the last point."""
        if self.point is None:
            return Reply(Finding.NOTHING, ending, bound=self.bound, message=message)
        objective, x = self.point
        return Reply(
            Finding.FEASIBLE,
            ending,
            objective=objective,
            bound=self.bound,
            x=x,
            row_activity=model.activity(x),
            message=message,
        )
