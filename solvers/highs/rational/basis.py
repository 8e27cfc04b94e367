"""What a simplex basis says in rational numbers: multipliers, and rays of infeasible ones.

Multipliers that HiGHS computed in doubles prove nothing where a column has no bound: its reduced
cost has to be zero, not nearly so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from solvers.core.outcome import BasisStatus
from solvers.highs.rational.model import Limit, Limits, RationalModel
from solvers.highs.task import ByteArray

Matrix = list[list[Fraction]]


class RationalBasis:
    """A basis of a model: its basic columns, and the rows that are not basic.

    Parameters
    ----------
    model : RationalModel
    column_status, row_status : (n,) and (m,) arrays of :class:`~solvers.core.outcome.BasisStatus`
    """

    def __init__(
        self, model: RationalModel, column_status: ByteArray, row_status: ByteArray
    ) -> None:
        self._model = model
        self._column_status = column_status.tolist()
        self._row_status = row_status.tolist()
        basic = BasisStatus.BASIC
        self._columns = [j for j, status in enumerate(self._column_status) if status == basic]
        self._rows = [i for i, status in enumerate(self._row_status) if status != basic]
        place = {j: k for k, j in enumerate(self._columns)}
        self._matrix = [[Fraction(0)] * len(self._columns) for _ in self._rows]
        for row, i in zip(self._matrix, self._rows, strict=True):
            for j, a in model.rows[i]:
                if j in place:
                    row[place[j]] = a

    def multipliers(self) -> list[Fraction] | None:
        """Return the row duals (m,) that make the reduced cost of every basic column zero."""
        return self._spread([self._model.cost[j] for j in self._columns])

    def rays(self, lower: Limits, upper: Limits) -> Iterator[list[Fraction]]:
        """Return multipliers (m,) that may prove a box empty: of each violated basic variable."""
        x = self._point(lower, upper)
        if x is None:
            return
        for k, j in enumerate(self._columns):
            if _violates(x[j], lower[j], upper[j]):
                ray = self._spread([Fraction(int(k == other)) for other in range(len(self._rows))])
                yield from _both_ways(ray)
        model = self._model
        for i, status in enumerate(self._row_status):
            activity = sum((a * x[j] for j, a in model.rows[i]), Fraction(0))
            if status == BasisStatus.BASIC and _violates(
                activity, model.row_lower[i], model.row_upper[i]
            ):
                entries = dict(model.rows[i])
                ray = self._spread([-entries.get(j, Fraction(0)) for j in self._columns])
                if ray is not None:
                    ray[i] = Fraction(1)
                yield from _both_ways(ray)

    def _point(self, lower: Limits, upper: Limits) -> list[Fraction] | None:
        """Return the basic solution (n,) in a box."""
        x = [
            _end(status, low, high)
            for status, low, high in zip(self._column_status, lower, upper, strict=True)
        ]
        for j in self._columns:
            x[j] = Fraction(0)
        model = self._model
        sides = [
            _end(self._row_status[i], model.row_lower[i], model.row_upper[i])
            - sum((a * x[j] for j, a in model.rows[i]), Fraction(0))
            for i in self._rows
        ]
        values = solve_square(self._matrix, sides)
        if values is None:
            return None
        for j, value in zip(self._columns, values, strict=True):
            x[j] = value
        return x

    def _spread(self, target: Sequence[Fraction]) -> list[Fraction] | None:
        """Return multipliers (m,), zero in basic rows, whose A'y is given in the basic columns."""
        transposed = [list(column) for column in zip(*self._matrix, strict=True)]
        values = solve_square(transposed, target)
        if values is None:
            return None
        y = [Fraction(0)] * len(self._row_status)
        for i, value in zip(self._rows, values, strict=True):
            y[i] = value
        return y


def solve_square(matrix: Matrix, side: Sequence[Fraction]) -> list[Fraction] | None:
    """Solve a square system by Gauss-Jordan elimination; None where there is no single solution."""
    if any(len(row) != len(side) for row in matrix) or len(matrix) != len(side):
        return None
    rows = [[*row, value] for row, value in zip(matrix, side, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        inverse = 1 / rows[k][k]
        rows[k] = [value * inverse for value in rows[k]]
        for i, row in enumerate(rows):
            if i != k and row[k]:
                factor = row[k]
                rows[i] = [a - factor * b for a, b in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]


def _both_ways(ray: list[Fraction] | None) -> Iterator[list[Fraction]]:
    if ray is not None:
        yield ray
        yield [-value for value in ray]


def _end(status: int, low: Limit, high: Limit) -> Fraction:
    """Return where a nonbasic variable stands."""
    end = high if status == BasisStatus.UPPER or low is None else low
    return Fraction(0) if end is None else end


def _violates(value: Fraction, low: Limit, high: Limit) -> bool:
    return (low is not None and value < low) or (high is not None and value > high)
