"""A model in rational numbers: what its doubles say, digit by digit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from solvers.core.outcome import BasisStatus, SolutionStatus
from solvers.highs.model import Prepared
from solvers.highs.task import ByteArray, Channel, FloatArray, Model, Quiet
from solvers.highs.warm_lp import WarmLp

Limit = Fraction | None
"""A side or bound; None stands for none."""

Limits = tuple[Limit, ...]
Entries = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, eq=False)
class RationalModel:
    """A minimisation whose rows are pairs of column and coefficient, zeros left out."""

    cost: tuple[Fraction, ...]
    offset: Fraction
    rows: tuple[Entries, ...]
    row_lower: Limits
    row_upper: Limits
    lower: Limits
    upper: Limits
    integer: tuple[bool, ...]

    @classmethod
    def of(cls, model: Model) -> RationalModel:
        """Return a model's data as rational numbers."""
        index, value = model.index.tolist(), [Fraction(a) for a in model.value.tolist()]
        rows = tuple(
            tuple((j, a) for j, a in zip(index[begin:end], value[begin:end], strict=True) if a)
            for begin, end in zip(model.start[:-1].tolist(), model.start[1:].tolist(), strict=True)
        )
        return cls(
            cost=tuple(Fraction(c) for c in model.cost.tolist()),
            offset=Fraction(model.offset),
            rows=rows,
            row_lower=_limits(model.row_lower),
            row_upper=_limits(model.row_upper),
            lower=_limits(model.lower),
            upper=_limits(model.upper),
            integer=tuple(bool(kind) for kind in model.integer.tolist()),
        )

    def objective_at(self, x: Sequence[Fraction]) -> Fraction:
        """Return the objective of a point (n,), offset included."""
        return sum((c * v for c, v in zip(self.cost, x, strict=True) if c), self.offset)

    def dual_bound(self, y: Sequence[Fraction], lower: Limits, upper: Limits) -> Limit:
        """Return the bound that multipliers of the rows (m,) prove within a box, None for none.

        It is the minimum over the box of c'x + sum_i y_i (side_i - a_i'x), with the lower side
        where y_i is positive and the upper one where it is negative. A multiplier whose side is
        missing counts as zero.
        """
        return self._bound(y, self.cost, self.offset, lower, upper)

    def separates(self, y: Sequence[Fraction], lower: Limits, upper: Limits) -> bool:
        """Whether multipliers of the rows (m,) prove that no point of a box meets them."""
        gap = self._bound(y, (Fraction(0),) * len(self.cost), Fraction(0), lower, upper)
        return gap is not None and gap > 0

    def objective_step(self) -> Fraction:
        """Return what objectives of feasible points differ by multiples of; 0 if there is none."""
        priced = [(c, whole) for c, whole in zip(self.cost, self.integer, strict=True) if c]
        if not all(whole for _, whole in priced):
            return Fraction(0)
        denominator = math.lcm(*(c.denominator for c, _ in priced))
        return Fraction(math.gcd(*(int(c * denominator) for c, _ in priced)), denominator)

    def _bound(
        self,
        y: Sequence[Fraction],
        cost: Sequence[Fraction],
        offset: Fraction,
        lower: Limits,
        upper: Limits,
    ) -> Limit:
        value, reduced_cost = offset, list(cost)
        for i, multiplier in enumerate(y):
            side = self.row_lower[i] if multiplier > 0 else self.row_upper[i]
            if not multiplier or side is None:
                continue
            value += multiplier * side
            for j, a in self.rows[i]:
                reduced_cost[j] -= multiplier * a
        for j, z in enumerate(reduced_cost):
            if z:
                end = lower[j] if z > 0 else upper[j]
                if end is None:
                    return None
                value += z * end
        return value


def _limits(values: FloatArray) -> Limits:
    return tuple(Fraction(v) if math.isfinite(v) else None for v in values.tolist())


# What a simplex basis says in rational numbers: multipliers, and rays of infeasible ones.
#
# Multipliers that HiGHS computed in doubles prove nothing where a column has no bound: its reduced
# cost has to be zero, not nearly so.


Matrix = list[list[Fraction]]


class RationalBasis:
    """A basis of a model: its basic columns, and the rows that are not basic.

    Parameters
    ----------
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


# Linear relaxations of a small model solved by HiGHS, one box after the other.


ROUNDING = 1e-9
"""Part of an objective by which a bound may miss it before a dearer one is asked for."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What simplex in doubles says of a box, for proofs in rational numbers to begin with."""

    x: FloatArray | None
    """(n,): a point of the relaxation; None where the box seems empty."""
    objective: float
    """Its objective, less what rounding may take of it; -inf without a point."""
    duals: Iterator[list[Fraction]]
    rays: Iterator[list[Fraction]]
    """Lists (m,) of multipliers that may bound the objective, or prove the box
    empty, the cheapest first."""


class Relaxation:
    """HiGHS's simplex with one model, from basis to basis; for a single thread.

    Parameters
    ----------
    model : RationalModel
        The same in rational numbers, its rows not scaled.
    channel : Channel
        Has the time and the wish to stop.
    """

    def __init__(self, prepared: Prepared, model: RationalModel, channel: Channel) -> None:
        self._prepared = prepared
        self._model = model
        self._channel = Quiet(channel)
        self._lp = WarmLp(prepared.model, channel=self._channel)

    def solve(self, lower: Limits, upper: Limits) -> Guess:
        """Solve the relaxation within a box."""
        self._lp.change(lower=_doubles(lower, -np.inf), upper=_doubles(upper, np.inf))
        found = self._lp.solve(self._channel)
        x, y = found.x, found.row_dual
        rays = self._rays(found.solution_status, lower, upper)
        if (
            found.solution_status is not SolutionStatus.OPTIMAL
            or x is None
            or not np.isfinite(x).all()
        ):
            return Guess(None, -np.inf, self._duals(y), rays)
        objective = self._prepared.model.objective_at(x)
        return Guess(x, objective - ROUNDING * (1.0 + abs(objective)), self._duals(y), rays)

    def _duals(self, row_dual: FloatArray | None) -> Iterator[list[Fraction]]:
        if row_dual is not None and np.isfinite(row_dual).all():
            yield self._rational(row_dual)
        basis = self._basis()
        if basis is not None:
            y = basis.multipliers()
            if y is not None:
                yield y

    def _rays(
        self, status: SolutionStatus, lower: Limits, upper: Limits
    ) -> Iterator[list[Fraction]]:
        ray = self._lp.dual_ray() if status is SolutionStatus.INFEASIBLE else None
        if ray is not None and np.isfinite(ray).all():
            y = self._rational(ray)
            yield y
            yield [-value for value in y]
        basis = self._basis()
        if basis is not None:
            yield from basis.rays(lower, upper)

    def _rational(self, row_dual: FloatArray) -> list[Fraction]:
        back = self._prepared.duals_back(row_dual)
        assert back is not None  # nothing is made of nothing
        return [Fraction(value) for value in back.tolist()]

    def _basis(self) -> RationalBasis | None:
        basis = self._lp.basis()
        if basis is None:
            return None
        return RationalBasis(self._model, basis.column_status, basis.row_status)


def _doubles(limits: Limits, missing: float) -> FloatArray:
    return np.array([missing if limit is None else float(limit) for limit in limits])
