"""What changes during a search: bounds with their trail, activities, clauses, scores, values.

Clauses that tie many decisions together are dropped when there are too many.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.lazy_clause.grid import Sides
from solvers.mip.model import ByteArray, IndexArray

MOST_RUNGS = 8
"""Rungs that there is room for."""

PER_BINARY, PER_OTHER, TRAIL_SPARE = 2, 12, 20_000
"""Length of the trail: a binary changes once, a bound of another integer may rise many times."""

MOST_CLAUSES = 40_000
"""Clauses that there is room for."""

MOST_LITERALS = 2_000_000
"""Literals of all of them."""


class Count(IntEnum):
    """Places in ``State.counts``."""

    TRAIL = 0
    """Length of the trail."""
    LEVEL = auto()
    """Number of decisions."""
    HEAD = auto()
    """First entry that the clauses have not been told of."""
    QUEUE_HEAD = auto()
    QUEUE_SIZE = auto()
    """The queue of sides, a ring."""
    WORK = auto()
    """Entries of sides and clauses visited."""
    CONFLICT = auto()
    """What is contradicted: a side, -2 - c for clause c, or -1."""
    CLAUSES = auto()
    LITERALS = auto()
    """Clauses kept and the literals they have."""
    CONFLICTS = auto()
    """Contradictions so far."""
    HEAP = auto()
    """Columns in the heap."""
    FIXED = auto()
    """Integer columns that are fixed."""
    MOST_FIXED = auto()
    """The most that were fixed at a contradiction since values were last set."""
    UNTIL_RESTART = auto()
    """Contradictions until the next restart."""
    CAPPED = auto()
    """Propagations that ended early for lack of room on the trail."""
    EXPLAINED = auto()
    """Entries that stand in ``found``."""
    RECORDED = auto()
    """Entries that stand in ``lits``."""
    TOUCHED = auto()
    """Entries that stand in ``touched``."""
    OPEN = auto()
    AT = auto()
    """Entries of level ``AT`` that the analysis has still to look at."""
    RUNGS = auto()
    """Rungs that are set."""


class SideSums(NamedTuple):
    """The smallest activities of r sides, and those that wait to be looked at."""

    right: FloatArray
    activity: FloatArray
    """(r,) float64 each: right-hand side of each side, and its smallest activity without infinite
    terms."""
    infinite: IndexArray
    """(r,) int32: infinite terms of that activity."""
    queue: IndexArray
    queued: ByteArray
    """(r,) each, of int32 and of uint8."""


class Trail(NamedTuple):
    """Which bounds rose, in which order, and why."""

    code: IndexArray
    before: IndexArray
    reason: IndexArray
    level: IndexArray
    """(t,) int32 each: which bound rose, at which place of the trail it had risen last (-1: it
    stood at the root), why (a side, -2 - c for a clause, or a decision), and after how many
    decisions."""
    value: FloatArray
    old: FloatArray
    """(t,) float64 each: the bound after and before."""
    latest: IndexArray
    """(2n,) int32: last place of each bound on the trail, or -1."""
    level_start: IndexArray
    """(l,) int32: length of the trail before each decision."""


class Clauses(NamedTuple):
    """Clauses of literals; one says ``bound[code] >= value``. The first two of each are watched."""

    start: IndexArray
    """(c+1,) int32."""
    code: IndexArray
    value: FloatArray
    spread: IndexArray
    """(c,) int32: number of decisions that a clause ties together when it is learned."""
    watch_next: IndexArray
    """(2c,) int32: watch 2 c + w follows in the list of the code that can make literal w of clause
    c false."""
    watch_first: IndexArray
    """(2n,) int32."""


class Order(NamedTuple):
    """Which column is decided next, and to which value."""

    score: FloatArray
    """(n,) float64: how often a column was part of contradictions lately."""
    heap: IndexArray
    place: IndexArray
    """(n,) int32 each."""
    preferred: FloatArray
    closest: FloatArray
    """(n,) float64 each: the value that each column is to have next, and values where most columns
    were fixed."""


class Analysis(NamedTuple):
    """Marks and lists of the analysis of a contradiction."""

    seen: ByteArray
    """(t,) uint8."""
    found: IndexArray
    lits: IndexArray
    touched: IndexArray
    """(t,) int32 each: entries that explain something; entries of the clause to be; entries
    marked."""
    stamp: IndexArray
    """(l,) int32: conflict at which a level was counted last."""
    chosen: IndexArray
    """(2n,) int32: entry that stands for a code in the clause to be, or -1."""


class State(NamedTuple):
    """A search over n columns, the count of the objective among them."""

    bound: FloatArray
    root: FloatArray
    """(2n,) float64 each: by codes, now and before any decision."""
    sums: SideSums
    trail: Trail
    clauses: Clauses
    order: Order
    analysis: Analysis
    rung: FloatArray
    """(MOST_RUNGS,) float64: counts that are decided to be the most before anything else is,
    falling: assumptions."""
    counts: npt.NDArray[np.int64]
    """(len(Count),) int64."""
    numbers: FloatArray
    """(1,) float64: what the next contradiction adds to a column's score."""


def state_of(sides: Sides, right: FloatArray, bound: FloatArray, preferred: FloatArray) -> State:
    """Return the state at the root; activities are still to be summed."""
    n, r = sides.is_integer.size, right.size
    integers = int(np.count_nonzero(sides.is_integer))
    levels = 2 * integers + 2 + MOST_RUNGS
    others = int(np.count_nonzero((sides.is_integer == 1) & (-bound[1::2] - bound[0::2] > 1.0)))
    trail = PER_BINARY * (n - others) + PER_OTHER * others + levels + TRAIL_SPARE

    def whole(size: int, value: int = 0) -> IndexArray:
        return np.full(size, value, dtype=np.int32)

    return State(
        bound=bound.copy(),
        root=bound.copy(),
        sums=SideSums(right.copy(), np.zeros(r), whole(r), whole(r), np.zeros(r, dtype=np.uint8)),
        trail=Trail(
            *(whole(trail), whole(trail), whole(trail), whole(trail)),
            *(np.zeros(trail), np.zeros(trail)),
            latest=whole(2 * n, -1),
            level_start=whole(levels),
        ),
        clauses=Clauses(
            start=whole(MOST_CLAUSES + 1),
            code=whole(MOST_LITERALS),
            value=np.zeros(MOST_LITERALS),
            spread=whole(MOST_CLAUSES),
            watch_next=whole(2 * MOST_CLAUSES, -1),
            watch_first=whole(2 * n, -1),
        ),
        order=Order(
            score=np.zeros(n),
            heap=whole(n),
            place=whole(n, -1),
            preferred=np.append(preferred, 0.0),
            closest=np.append(preferred, 0.0),
        ),
        analysis=Analysis(
            seen=np.zeros(trail, dtype=np.uint8),
            found=whole(trail),
            lits=whole(trail),
            touched=whole(trail),
            stamp=whole(levels, -1),
            chosen=whole(2 * n, -1),
        ),
        rung=np.zeros(MOST_RUNGS),
        counts=np.zeros(len(Count), dtype=np.int64),
        numbers=np.ones(1),
    )


class SliceEnd(IntEnum):
    """How a slice of the search ends."""

    RUNNING = 0
    """Its work is spent."""
    CANDIDATE = auto()
    """All integers are decided."""
    RESTART = auto()
    """A restart is due."""
    EXHAUSTED = auto()
    """Nothing is left to search."""
    REFUTED = auto()
    """Nothing is left below a rung."""


ALWAYS_KEPT = 2
"""Clauses of at most this spread are kept for good (Audemard, Simon 2009)."""


def reduce_clauses(state: State) -> None:
    """Drop half of the clauses, those of the widest spread, and those that always hold.

    Only at the root, where no clause is a reason. The lists of watches are to be rebuilt.
    """
    counts = state.counts
    number = int(counts[Count.CLAUSES])
    start = state.clauses.start[: number + 1].astype(np.int64)
    spread = state.clauses.spread[:number]
    keep = spread <= ALWAYS_KEPT
    keep[np.lexsort((-np.arange(number), spread))[: number // 2]] = True
    keep &= ~_always_true(state, start)
    _compact(state, start, keep)


def _always_true(state: State, start: np.ndarray) -> BoolArray:
    codes, values = state.clauses.code[: start[-1]], state.clauses.value[: start[-1]]
    true = state.bound[codes] >= values
    total = np.concatenate([[0], np.cumsum(true)])
    holds: BoolArray = total[start[1:]] > total[start[:-1]]
    return holds


def _compact(state: State, start: np.ndarray, keep: BoolArray) -> None:
    lengths = np.diff(start)
    kept = np.repeat(keep, lengths)
    size, number = int(kept.sum()), int(keep.sum())
    state.clauses.code[:size] = state.clauses.code[: start[-1]][kept]
    state.clauses.value[:size] = state.clauses.value[: start[-1]][kept]
    state.clauses.spread[:number] = state.clauses.spread[: keep.size][keep]
    state.clauses.start[1 : number + 1] = np.cumsum(lengths[keep])
    state.counts[Count.CLAUSES] = number
    state.counts[Count.LITERALS] = size
