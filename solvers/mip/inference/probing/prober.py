"""Who propagates the two sides of each probed column: what the loop asks for, and the CPU's answer.

A prober owns a box of bounds that hold globally. ``probe`` propagates the sides of a few columns
from there and forgets them, ``tighten`` narrows the box for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.inference.domain import Domain
from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.mip.portfolio.budget import SLICE
from solvers.native.mip_inference_probing import collect

CAP = 300_000
"""Entries of the matrix that one propagation may visit: 1 to 3 ms. What it has found until then
holds all the same, and of what it finds only 64 entries are kept."""

WHOLE_BOX = 3
"""Entries that propagating the global box may visit, for each entry of the matrix."""

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
