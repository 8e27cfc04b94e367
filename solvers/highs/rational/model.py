"""A model in rational numbers: what its doubles say, digit by digit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from solvers.highs.task import FloatArray, Model

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
