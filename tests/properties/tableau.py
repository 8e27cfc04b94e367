"""Simplex in whole numbers: no rounding error, and no fraction to reduce.

All entries share one denominator, the last pivot, which divides each of them after the next pivot
(Edmonds, "Systems of distinct representatives and linear algebra", 1967). The largest reduced cost
enters; after pivots that gained nothing Bland's rule takes over until one does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.object_]
ARTIFICIAL = -1


class TooLongError(Exception):
    """The search takes more nodes or time than it is worth."""


@dataclass(frozen=True)
class Row:
    """Coefficients times non-negative variables = side, or <= side."""

    coefficients: Sequence[Fraction]
    is_equation: bool
    side: Fraction


class UnboundedError(Exception):
    """The objective falls without limit."""


def minimise(
    cost: Sequence[Fraction], rows: Sequence[Row], deadline: float = math.inf
) -> list[Fraction] | None:
    """Return values of the non-negative variables at a minimum; None where no point exists.

    Raises
    ------
    UnboundedError
        There are points, and no minimum.
    TooLongError
        ``time.monotonic()`` has passed the deadline.
    """
    tableau = _Tableau(cost, rows, deadline)
    tableau.descend(0)
    if tableau.entries[0, -1]:
        return None
    tableau.leave_artificials()
    if not tableau.descend(1):
        raise UnboundedError
    return tableau.values(len(cost))


class _Tableau:
    """Rows 0 and 1 are the reduced costs of both phases, the last column the sides."""

    def __init__(self, cost: Sequence[Fraction], rows: Sequence[Row], deadline: float) -> None:
        slacks = [i for i, row in enumerate(rows) if not row.is_equation]
        place = {i: len(cost) + k for k, i in enumerate(slacks)}
        width = len(cost) + len(slacks) + 1
        self.entries: Whole = np.zeros((len(rows) + 2, width), dtype=object)
        self.basis = [ARTIFICIAL] * len(rows)
        self.denominator = 1
        self.deadline = deadline
        self.entries[1, : len(cost)] = _whole(cost)
        for i, row in enumerate(rows):
            whole = _whole([*row.coefficients, row.side])
            sign = -1 if row.side < 0 else 1
            self.entries[i + 2, : len(cost)] = [sign * value for value in whole[:-1]]
            self.entries[i + 2, -1] = sign * whole[-1]
            if i in place:
                self.entries[i + 2, place[i]] = sign
                if sign > 0:
                    self.basis[i] = place[i]
            if self.basis[i] == ARTIFICIAL:
                self.entries[0] -= self.entries[i + 2]

    def descend(self, phase: int) -> bool:
        """Pivot until no reduced cost is negative; False where nothing limits a column."""
        stalled = 0
        while True:
            reduced = self.entries[phase, :-1]
            negative = [j for j in range(reduced.size) if reduced[j] < 0]
            if not negative:
                return True
            by_bland = stalled > 10
            column = negative[0] if by_bland else min(negative, key=lambda j: reduced[j])
            row = self._leaving(column)
            if row is None:
                return False
            stalled = stalled + 1 if not self.entries[row, -1] else 0
            self._pivot(row, column)

    def leave_artificials(self) -> None:
        """Let artificial variables, all zero by now, leave; their rows where nothing is in them."""
        kept = [0, 1]
        for i, j in enumerate(self.basis):
            row = i + 2
            if j == ARTIFICIAL:
                entering = np.flatnonzero(self.entries[row, :-1] != 0)
                if not entering.size:
                    continue
                if self.entries[row, entering[0]] < 0:
                    self.entries[row] = -self.entries[row]
                self._pivot(row, int(entering[0]))
            kept.append(row)
        self.basis = [self.basis[row - 2] for row in kept[2:]]
        self.entries = self.entries[kept]

    def values(self, count: int) -> list[Fraction]:
        """Return the values of the first variables."""
        found = [Fraction(0)] * count
        for i, j in enumerate(self.basis):
            if 0 <= j < count:
                found[j] = Fraction(self.entries[i + 2, -1], self.denominator)
        return found

    def _leaving(self, column: int) -> int | None:
        best: tuple[Fraction, int, int] | None = None
        for row in range(2, len(self.entries)):
            entry = self.entries[row, column]
            if entry > 0:
                ratio = (Fraction(self.entries[row, -1], entry), self.basis[row - 2], row)
                if best is None or ratio < best:
                    best = ratio
        return None if best is None else best[2]

    def _pivot(self, row: int, column: int) -> None:
        if time.monotonic() > self.deadline:
            raise TooLongError
        old = self.entries
        pivot = old[row, column]
        new = old * pivot
        touched = np.flatnonzero(old[:, column] != 0)
        new[touched] -= np.outer(old[touched, column], old[row])
        if self.denominator != 1:
            new //= self.denominator
        new[row] = old[row]
        self.entries, self.denominator = new, pivot
        self.basis[row - 2] = column


def _whole(values: Iterable[Fraction]) -> list[int]:
    """Return numbers times the least that makes all of them whole."""
    listed = list(values)
    scale = math.lcm(1, *(value.denominator for value in listed))
    return [value.numerator * (scale // value.denominator) for value in listed]
