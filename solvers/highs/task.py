"""What goes into HiGHS and what comes out, as plain arrays and numbers.

Both sides of a child process speak in these classes, so this module needs NumPy and nothing
else: a child that starts in a tenth of a second must not import SciPy first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.core.vectors import inner

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.int8]
Setting = bool | int | float | str


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

    @property
    def may_be_unbounded(self) -> bool:
        """Whether the column bounds alone leave the objective without a limit."""
        falls = (self.cost < 0) & np.isposinf(self.upper)
        rises = (self.cost > 0) & np.isneginf(self.lower)
        return bool(np.any(falls | rises))

    def objective_at(self, x: FloatArray) -> float:
        """Return the objective of a point (n,), offset included."""
        return inner(self.cost, x) + self.offset

    def row_of_entry(self) -> npt.NDArray[Any]:
        """Return the row of every stored entry, (nnz,)."""
        return self.few_rows if self.value.size <= FEW_ENTRIES else self._rows()

    @cached_property
    def few_rows(self) -> npt.NDArray[Any]:
        """Row of every stored entry of a small model, (nnz,)."""
        return self._rows()

    def _rows(self) -> IndexArray:
        return np.repeat(np.arange(self.num_rows, dtype=np.int32), np.diff(self.start))

    def without_traces(self, size: float) -> Model:
        """Return the model without entries up to a size, those that HiGHS would drop."""
        kept = np.abs(self.value) > size
        start = np.concatenate([[0], np.cumsum(kept)])[self.start].astype(self.start.dtype)
        return replace(self, start=start, index=self.index[kept], value=self.value[kept])

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
    """One piece of work for HiGHS."""

    model: Model
    """The model."""
    settings: Mapping[str, Setting]
    """HiGHS options by name; the time limit is not among them."""
    work: Work = Work.SOLVE
    tolerance: float = 1e-6
    """Largest violation, relative to the size of the side or cost, of a solved LP."""
    crossover: bool = True
    """Whether an LP's answer should be a vertex."""
    want_ray: bool = False
    """Whether an infeasible LP is worth a second solve for its Farkas multipliers."""
    x: FloatArray | None = None
    row_dual: FloatArray | None = None
    """Point to start from; NaN in ``x`` means unknown."""
    basis: Basis | None = None
    """Where to start."""


@dataclass(frozen=True, eq=False)
class Reply:
    """The answer to a :class:`Task`, with the fields of :class:`solvers.core.outcome.Outcome`.

    ``row_sides``, ``column_sides`` and ``minimal`` answer :attr:`Work.CONFLICT`.
    """

    solution_status: SolutionStatus
    stop_reason: StopReason
    objective: float = np.nan
    bound: float = -np.inf
    x: FloatArray | None = None
    row_activity: FloatArray | None = None
    row_dual: FloatArray | None = None
    reduced_cost: FloatArray | None = None
    basis: Basis | None = None
    primal_ray: FloatArray | None = None
    dual_ray: FloatArray | None = None
    candidate: FloatArray | None = None
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

    def reply(self, model: Model, reason: StopReason, message: str = "") -> Reply:
        """Return it as a reply, with the objective and values of the last point."""
        if self.point is None:
            return Reply(SolutionStatus.NOTHING, reason, bound=self.bound, message=message)
        objective, x = self.point
        return Reply(
            SolutionStatus.FEASIBLE,
            reason,
            objective=objective,
            bound=self.bound,
            x=x,
            row_activity=model.activity(x),
            message=message,
        )


Offers = Callable[[], "FloatArray | None"]
"""Asked often; returns a feasible point found elsewhere that was not given before, or None."""


class Running(Protocol):
    """A HiGHS that does not ask by itself; its methods may be called from any thread."""

    def halt(self) -> None:
        """Make simplex or branch and bound stop; harmless at any other time."""

    def ask(self) -> None:
        """Let branch and bound ask and tell once, at its next look."""

    def speak(self) -> None:
        """Let it write its log from now on."""


WhileItRuns = Callable[[], "Running | None"]
"""Returns a HiGHS as long as there is one, and does not keep it."""


class Channel(Protocol):
    """The line between a running HiGHS and whoever waits for it; every call must be quick."""

    def time_left(self) -> float:
        """Return the seconds left, never negative; inf without a limit."""

    def stop(self) -> StopReason | None:
        """Return why to stop now (time or interruption), or None to go on."""

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Tell of a better feasible point."""

    def bound(self, value: float) -> None:
        """Tell of a lower bound on the optimum."""

    def iteration(self, count: int) -> None:
        """Tell how many iterations an LP has taken."""

    def log(self, line: str) -> None:
        """Pass on a line of HiGHS's log."""

    def offered_point(self) -> FloatArray | None:
        """Return a point found elsewhere that HiGHS has not been given yet, or None."""

    def take_turn(self) -> None:
        """Return when branch and bound may go on: where threads are few, others may be at work."""

    def takes(self, running: WhileItRuns) -> bool:
        """Take what stops HiGHS from another thread; if taken, it need not ask all the time."""


class Quiet:
    """A channel that lets a side question run without mixing its figures into the history."""

    def __init__(self, channel: Channel) -> None:
        self.time_left = channel.time_left
        self.stop = channel.stop
        self.log = channel.log
        self.take_turn = channel.take_turn
        self.takes = channel.takes

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Objectives of a side question say nothing on the model's."""

    def bound(self, value: float) -> None:
        """Nor do its bounds."""

    def iteration(self, count: int) -> None:
        """Nor its iterations."""

    def offered_point(self) -> FloatArray | None:
        """No point is offered to a side question."""
        return None


class Brief(Quiet):
    """A channel for a solve that ends within moments by its own clock: HiGHS never calls back.

    A tiny model takes HiGHS as long to solve as to tell of it.
    """

    def log(self, line: str) -> None:
        """Nobody reads it."""


class PointsOnly(Quiet):
    """A channel for the search of a part of a model: its points are the model's, no more.

    Parameters
    ----------
    share : float
        Part of the time left then that the search may take.
    """

    def __init__(self, channel: Channel, share: float) -> None:
        super().__init__(channel)
        self._channel = channel
        left = channel.time_left()
        for_others = (1.0 - share) * left if math.isfinite(left) else 0.0
        self.time_left = lambda: max(0.0, channel.time_left() - for_others)

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Pass a feasible point on."""
        self._channel.incumbent(objective, x)
