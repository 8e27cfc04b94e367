"""Sequential bound propagation on the CPU, with a trail: the box that dives narrow step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.budget import SMALL_MODEL, Budget
from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.native.mip_inference_domain import (
    decide,
    mark,
    propagate,
    sum_all,
    undo,
    wake_all,
)

# The arrays that propagation works on beside the model: one box with all that hangs on it.
#
# It is a tuple of arrays, laid out as ``state.h`` has them, so that a whole dive can run without
# Python. Whoever calls its loops makes room on the trail before, with :func:`reserved`.


CountArray = npt.NDArray[np.int64]

STRICT = False
"""How to take contradictions: the first ends a propagation, and none is passed over."""


class Count(IntEnum):
    """Places in ``Box.counts``."""

    QUEUE_HEAD = 0
    """Where the queue of rows begins (a ring of m places)."""
    QUEUE_SIZE = auto()
    """How many rows are in it."""
    TRAIL = auto()
    """Entries of the trail in use: what ``mark`` returns."""
    LEVEL = auto()
    """Number of marks and undoings so far: a value is recorded once for each."""
    INFEASIBLE = auto()
    """Whether the box has been proven empty."""
    CONFLICT = auto()
    """Row where the last contradiction showed, or -1."""
    WORK = auto()
    """Entries of the matrix visited so far."""
    CAPPED = auto()
    """How often the cap on work ended a propagation early."""


class Part(IntEnum):
    """Places in a row of ``Box.rows``."""

    SMALLEST = 0
    """The finite part of its smallest activity."""
    LARGEST = 1
    """That of its largest activity."""
    INFINITE = 2
    """How many infinite terms the smallest activity has; the largest has its count in the next."""
    UPPER = 4
    """The row's sides, in the order of the activities that can miss them."""
    LOWER = 5
    WIDEST = 6
    """At least the largest ``|a| (upper - lower)``: with more slack a row cannot tighten anything.
    """
    NOISE = 7
    """Rounding error that updates may have left in the activities; -1 where there can be none."""


ROW_SIZE = 8
"""Numbers for each row: one line of the cache."""


class Box(NamedTuple):
    """Bounds of the n columns, and the activities of the m rows that follow from them."""

    bounds: FloatArray
    """(2, n) float64: lower and upper bounds."""
    rows: FloatArray
    """(m, ROW_SIZE) float64: what is known about each row, in the places of :class:`Part`."""
    queue: IndexArray
    queued: ByteArray
    """(m,) int32, uint8: rows to be visited, in a ring, and whether each is in it."""
    trail_code: IndexArray
    trail_old: FloatArray
    """(capacity,) int32, float64: what was changed, and its value before. Codes below n are
    lower bounds, below 2 n upper bounds, below 2 n + m widest terms; -1 stands for the proof of
    infeasibility."""
    stamp: IndexArray
    """(2 n + m,) int32: level at which each was recorded last."""
    counts: CountArray
    """(len(Count),) int64."""


def empty_box(model: MipModel, widened: float = 0.0) -> Box:
    """Return a box with the model's bounds, whose activities are still to be summed.

    ``widened`` moves the sides of all rows outward, relative to ``max(1, |side|)``.
    """
    m, n = model.num_rows, model.num_columns
    counts = np.zeros(len(Count), dtype=np.int64)
    counts[Count.LEVEL] = 1
    counts[Count.CONFLICT] = -1
    capacity = room_for_a_level(m, n)
    rows = np.zeros((m, ROW_SIZE))
    rows[:, Part.LOWER] = model.row_lower - widened * _scale(model.row_lower)
    rows[:, Part.UPPER] = model.row_upper + widened * _scale(model.row_upper)
    rows[:, Part.NOISE] = np.where(_is_exact(model), -1.0, 0.0)
    return Box(
        bounds=np.ascontiguousarray(np.stack([model.lower, model.upper])),
        rows=rows,
        queue=np.zeros(m, dtype=np.int32),
        queued=np.zeros(m, dtype=np.uint8),
        trail_code=np.zeros(capacity, dtype=np.int32),
        trail_old=np.zeros(capacity),
        stamp=np.zeros(2 * n + m, dtype=np.int32),
        counts=counts,
    )


def room_for_a_level(num_rows: int, num_columns: int) -> int:
    """Return how many entries a level puts on the trail at most: each value once, and a proof."""
    return 2 * num_columns + num_rows + 2


def reserved(box: Box) -> Box:
    """Return the box with room on its trail for one more level; the other arrays are the same."""
    used = int(box.counts[Count.TRAIL])
    needed = used + box.stamp.size + 2
    if needed <= box.trail_code.size:
        return box
    capacity = max(needed, 2 * box.trail_code.size)
    code = np.zeros(capacity, dtype=np.int32)
    old = np.zeros(capacity)
    code[:used] = box.trail_code[:used]
    old[:used] = box.trail_old[:used]
    return box._replace(trail_code=code, trail_old=old)


def copied(box: Box) -> Box:
    """Return a copy that shares no array."""
    return Box._make(array.copy() for array in box)


def _scale(side: FloatArray) -> FloatArray:
    return np.where(np.isfinite(side), np.maximum(1.0, np.abs(side)), 0.0)


def _is_exact(model: MipModel) -> BoolArray:
    """Whether each row (m,) has whole coefficients of integer columns only: its sums are exact."""
    value = model.rows.data
    broken = (value != np.round(value)) | (model.is_integer[model.rows.indices] == 0)
    exact: BoolArray = model.rows.count(broken) == 0
    return exact


# The box that the columns may still lie in, narrowed by decisions and what follows from them.


CAP_PER_NONZERO = 20
"""Entries that one propagation may visit, for each entry of the matrix."""


class Domain:
    """Bounds of every column with the activities of every row, a trail and a queue of rows.

    Each change is propagated at once. ``model`` and ``box`` are for loops in C++
    (``propagate.h``), which have to find room on the trail: :meth:`reserve`.

    Parameters
    ----------
    box : Box
        Owned by the domain from here on.
    """

    def __init__(self, model: MipModel, box: Box) -> None:
        self.model = model
        self.box = box
        self.cap = CAP_PER_NONZERO * max(SMALL_MODEL, model.num_nonzeros)

    @classmethod
    def of(cls, model: MipModel, widened: float = 0.0) -> Domain:
        """Return the model's own bounds; nothing is propagated yet.

        ``widened`` moves the sides of all rows outward, relative to ``max(1, |side|)``.
        """
        box = empty_box(model, widened)
        sum_all(model, box)
        return cls(model, box)

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,): a view that follows the domain and cannot be written to."""
        return _view(self.box.bounds[0])

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,): a view that follows the domain and cannot be written to."""
        return _view(self.box.bounds[1])

    @property
    def is_infeasible(self) -> bool:
        """Whether propagation has shown that the box holds no feasible point."""
        return bool(self.box.counts[Count.INFEASIBLE])

    @property
    def work(self) -> int:
        """Entries of the matrix visited so far."""
        return int(self.box.counts[Count.WORK])

    def propagate(self) -> bool:
        """Propagate all rows, and what follows; False if there is no point left."""
        self.reserve()
        wake_all(self.box)
        return propagate(self.model, self.box, self.cap, STRICT)

    def fix(self, j: int, value: float) -> bool:
        """Fix a column and propagate; False if that leaves no point."""
        return self.tighten(j, value, value)

    def tighten(self, j: int, low: float, high: float) -> bool:
        """Narrow a column to [low, high] within its bounds and propagate; False if impossible.

        Bounds of integer columns have to be whole.
        """
        self.reserve()
        return decide(self.model, self.box, int(j), float(low), float(high), self.cap, STRICT)

    def mark(self) -> int:
        """Return a place to come back to."""
        return mark(self.box)

    def undo(self, place: int) -> None:
        """Go back to what :meth:`mark` returned ``place`` for; bounds are the same bit for bit."""
        undo(self.model, self.box, place)

    def forget(self) -> None:
        """Make the present box the one that is never undone: all marks lose their meaning."""
        mark(self.box)  # a new level: what it changes has to be recorded again
        self.box.counts[Count.TRAIL] = 0

    def reserve(self) -> None:
        """Make room on the trail for one more level."""
        self.box = reserved(self.box)

    def copy(self) -> Domain:
        """Return an independent domain with the same bounds and trail; the model is shared."""
        other = Domain(self.model, copied(self.box))
        other.cap = self.cap
        return other


def _view(values: FloatArray) -> FloatArray:
    view = values.view()
    view.flags.writeable = False
    return view


# Presolve on top of HiGHS's: bounds that follow from the rows.


PROOF_MARGIN = 1e-5
"""Relative widening of all sides under which infeasibility has to show again to be believed.

Ten times the feasibility tolerance, so that points which a caller would accept as feasible, and
rounding errors of the sums, are out of the question.
"""


@dataclass(frozen=True, eq=False)
class Tightened:
    """A model with the bounds that its rows imply."""

    model: MipModel
    """The same rows and columns. Bounds of integer columns are those propagated; of continuous
    columns only infinite bounds and those that became fixed differ from the given ones, as others
    would only be repeated by rows that stay."""
    domain: Domain
    """All propagated bounds, ready for dives."""
    is_infeasible: bool
    """Proven: the contradiction remains when all sides give way by :data:`PROOF_MARGIN`."""


def tighten_model(model: MipModel, budget: Budget) -> Tightened:
    """Propagate all rows of a model once, to the fixed point or the cap on work.

    A contradiction that is not proven leaves the model as it was: some heuristic may still find
    a point within the tolerances.
    """
    domain = Domain.of(model)
    feasible = domain.propagate()
    budget.charge(domain.work)
    if not feasible:
        proof = Domain.of(model, PROOF_MARGIN)
        proven = not proof.propagate()
        budget.charge(proof.work)
        return Tightened(model, Domain.of(model), proven)
    return Tightened(_with_bounds(model, domain), domain, False)


def _with_bounds(model: MipModel, domain: Domain) -> MipModel:
    whole = model.is_integer == 1
    fixed = domain.upper - domain.lower <= 0.0
    lower = np.where(whole | fixed | np.isneginf(model.lower), domain.lower, model.lower)
    upper = np.where(whole | fixed | np.isposinf(model.upper), domain.upper, model.upper)
    if np.array_equal(lower, model.lower) and np.array_equal(upper, model.upper):
        return model
    problem = replace(model.problem, lower=lower, upper=upper)
    return replace(model, problem=problem, lower=lower, upper=upper)
