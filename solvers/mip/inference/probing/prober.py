"""Who propagates the two sides of each probed column: what the loop asks for, and the CPU's answer.

A prober owns a box of bounds that hold globally. ``probe`` propagates the sides of a few columns
from there and forgets them, ``tighten`` narrows the box for good.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.mip.inference.domain import Domain
from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.native.mip_inference_probing import collect

CAP = 300_000
"""Entries of the matrix that one propagation may visit: 1 to 3 ms. What it has found until then
holds all the same, and of what it finds only 64 entries are kept."""

WHOLE_BOX = 3
"""Entries that propagating the global box may visit, for each entry of the matrix."""

SLICE = 3_000_000
"""Entries of the matrix after which a batch of probes ends early, so that it asks the clock."""

ROOM = 4
"""Sides that change every integer column for which a batch of probes has room, at least."""

SMALLEST_ROOM = 1 << 16
"""Entries for which it has room in any case."""


@dataclass(frozen=True, eq=False)
class Probes:
    """What the sides of k columns imply for other integer columns, side s of column c at 2 c + s.

    Parameters
    ----------
    infeasible : (2k,) uint8
        1 where a side holds no feasible point.
    start : (2k+1,) int64
        A side's entries are ``start[2*c+s]:start[2*c+s+1]`` of the next three; none where it is
        infeasible.
    column, low, high : (entries,) int32, float64, float64
        Integer columns other than the probed one, and the bounds they then have.
    """

    infeasible: ByteArray
    start: np.ndarray
    column: IndexArray
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return self.infeasible.size // 2


class Prober(Protocol):
    """Propagates sides of columns from a box of bounds that hold globally."""

    batch: int
    """Columns that it takes at once."""

    proves: bool
    """Whether its word is a proof that the model is infeasible."""

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the box at present."""

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the box at present."""

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far."""

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate ``x <= first_upper`` and ``x >= second_lower`` of each column (k,).

        It may end early: the answer holds the first columns only, at least one.
        """

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns of the box, whole bounds, and propagate; False if no point is left."""

    def first_failure(self, literals: Sequence[int]) -> int:
        """Return the place of the decision ``2 j + v`` at which propagating them fails, or -1."""


class DomainProber:
    """Probes one side after the other by sequential propagation on the CPU.

    Parameters
    ----------
    model : MipModel
    domain : Domain, optional
        Where to start from, the model's own bounds by default; it is copied.
    """

    batch = 16
    proves = True

    def __init__(self, model: MipModel, domain: Domain | None = None) -> None:
        self._domain = Domain.of(model) if domain is None else domain.copy()
        self._domain.cap = min(self._domain.cap, CAP)
        self._domain.forget()
        self._cap_of_box = max(CAP, WHOLE_BOX * model.num_nonzeros)
        self._integers = model.integers.size
        room = max(SMALLEST_ROOM, ROOM * self._integers)
        self._column = np.empty(room, dtype=np.int32)
        self._low, self._high = np.empty(room), np.empty(room)

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the box at present."""
        return self._domain.lower

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the box at present."""
        return self._domain.upper

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far."""
        return float(self._domain.work)

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate both sides of the columns in turn until a slice of work is done."""
        infeasible = np.zeros(2 * columns.size, dtype=np.uint8)
        start = np.zeros(2 * columns.size + 1, dtype=np.int64)
        end = self.work + SLICE
        done = 0
        while done < columns.size and (done == 0 or self.work < end):
            if start[2 * done] + 2 * self._integers > self._column.size:
                break
            j = int(columns[done])
            sides = ((self.lower[j], first_upper[done]), (second_lower[done], self.upper[j]))
            for side, (low, high) in enumerate(sides, start=2 * done):
                start[side + 1] = self._probe_side(j, low, high, int(start[side]))
                infeasible[side] = start[side + 1] < 0
                start[side + 1] = max(start[side + 1], start[side])
            done += 1
        used = int(start[2 * done])
        return Probes(
            infeasible[: 2 * done],
            start[: 2 * done + 1],
            self._column[:used].copy(),
            self._low[:used].copy(),
            self._high[:used].copy(),
        )

    def _probe_side(self, j: int, low: float, high: float, at: int) -> int:
        """Write what a side implies from place ``at`` on; return the end, -1 if infeasible."""
        domain = self._domain
        place = domain.mark()
        consistent = domain.tighten(j, low, high)
        if consistent:
            at = collect(
                domain.model, domain.box, place, j, at, self._column, self._low, self._high
            )
        domain.undo(place)
        return at if consistent else -1

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns and propagate each; with no columns, propagate all rows."""
        domain, cap = self._domain, self._domain.cap
        domain.cap = self._cap_of_box
        consistent = True if columns.size else domain.propagate()
        for j, least, most in zip(columns.tolist(), low.tolist(), high.tolist(), strict=True):
            if not domain.tighten(j, least, most):
                consistent = False
                break
        domain.cap = cap
        domain.forget()
        return consistent

    def first_failure(self, literals: Sequence[int]) -> int:
        """Return the place of the decision at which propagating them fails, or -1."""
        domain = self._domain
        domain.reserve()
        place = domain.mark()
        failed = -1
        for at, literal in enumerate(literals):
            if not domain.fix(literal >> 1, float(literal & 1)):
                failed = at
                break
        domain.undo(place)
        return failed


# Sets of decisions that cannot stand together, learned from dives that failed.
#
# A no-good is a set of literals ``2 j + v`` of binary columns that are not all true in any
# feasible point. As a row it says ``sum of its literals <= k - 1``, with ``1 - x_j`` where v is 0,
# which walkers and sub-problems can use like any other row.


LONGEST = 5
"""Literals of the longest no-good kept: longer ones cut off too little."""

CAPACITY = 1000
"""No-goods kept by default; the rows they become cost a walker time in every move."""


class NoGoods:
    """No-goods of one model, distinct and none within another; safe to use from any thread.

    Parameters
    ----------
    capacity : int
        No-goods kept; once there are as many, new ones are only taken for those they replace.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._sets: list[frozenset[int]] = []
        self._lock = threading.Lock()
        self._version = 0

    @property
    def version(self) -> int:
        """Number of changes so far."""
        return self._version

    def __len__(self) -> int:
        return len(self._sets)

    def literals(self) -> tuple[tuple[int, ...], ...]:
        """Return the no-goods in the order they came, each with rising literals."""
        with self._lock:
            return tuple(tuple(sorted(literals)) for literals in self._sets)

    def add(self, literals: Iterable[int]) -> bool:
        """Keep a no-good of one to five literals unless it says nothing new."""
        new = frozenset(map(int, literals))
        opposed = any(literal ^ 1 in new for literal in new)
        if not 1 <= len(new) <= LONGEST or opposed:
            return False
        with self._lock:
            if any(known <= new for known in self._sets):
                return False
            rest = [known for known in self._sets if not new <= known]
            if len(rest) >= self._capacity:
                return False
            self._sets = [*rest, new]
            self._version += 1
            return True

    def rows(self, num_columns: int) -> tuple[sp.csr_array, FloatArray]:
        """Return a matrix (k, n) and the upper sides (k,) of the rows that the no-goods become."""
        sets = self.literals()
        sizes = [len(literals) for literals in sets]
        flat = np.array([literal for literals in sets for literal in literals], dtype=np.int64)
        start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        true = flat & 1
        matrix = sp.csr_array((2.0 * true - 1.0, flat >> 1, start), shape=(len(sets), num_columns))
        zeros = np.array([sum(1 for lit in literals if not lit & 1) for literals in sets])
        return matrix, np.array(sizes, dtype=np.float64) - 1.0 - zeros


def with_rows(model: MipModel, nogoods: NoGoods) -> MipModel:
    """Return the model with the no-goods as further rows, after its own.

    A point of the one is a point of the other; the rows' names are lost.
    """
    if not len(nogoods):
        return model
    problem = model.problem
    matrix, sides = nogoods.rows(model.num_columns)
    return MipModel.of(
        Problem(
            cost=problem.cost,
            matrix=sp.vstack([problem.matrix, matrix], format="csr"),
            row_lower=np.concatenate([model.row_lower, np.full(sides.size, -np.inf)]),
            row_upper=np.concatenate([model.row_upper, sides]),
            lower=problem.lower,
            upper=problem.upper,
            integrality=problem.integrality,
            offset=problem.offset,
            maximize=problem.maximize,
            name=problem.name,
            column_names=problem.column_names,
        )
    )


def learned(model: MipModel, prober: Prober, decisions: Iterable[int]) -> tuple[int, ...] | None:
    """Return at most five of a failed dive's decisions that already cannot stand together.

    The decisions are propagated in their order; the one at which that fails belongs to the
    no-good, and is put first the next time, until the chosen ones fail by themselves.

    Parameters
    ----------
    model : MipModel
    prober : Prober
        Propagates from the bounds that hold globally.
    decisions : iterable of int
        Literals of binary columns, in the order they were taken.

    Returns
    -------
    tuple of int or None
        A set of literals whose failure propagation has proven, or None: there is none as small,
        or propagation does not fail.
    """
    order = [literal for literal in decisions if model.is_binary[literal >> 1]]
    chosen: list[int] = []
    while len(chosen) <= LONGEST:
        failed = prober.first_failure([*chosen, *(lit for lit in order if lit not in chosen)])
        if failed < 0:
            return None
        if failed < len(chosen):
            return tuple(sorted(chosen[: failed + 1]))
        chosen.append([*chosen, *(lit for lit in order if lit not in chosen)][failed])
    return None
