"""The iterate of the homogeneous embedding, its residuals, and moving along a direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.vectors import inners, norms
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Point:
    """An iterate, or a direction.

    ``x`` and ``z`` (columns,): primal values and duals of ``x >= 0``, zero where free. ``t`` and
    ``v`` (bounded,): slacks of the upper bounds and their duals. ``y`` (rows,): duals of the rows.
    ``tau`` and ``kappa``: the homogenising variable and the gap.
    """

    x: FloatArray
    t: FloatArray
    y: FloatArray
    z: FloatArray
    v: FloatArray
    tau: float
    kappa: float

    def moved(self, direction: Point, step: float) -> Point:
        """Return the point a step along a direction."""
        return Point(
            self.x + step * direction.x,
            self.t + step * direction.t,
            self.y + step * direction.y,
            self.z + step * direction.z,
            self.v + step * direction.v,
            self.tau + step * direction.tau,
            self.kappa + step * direction.kappa,
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """One figure for each complementary pair: (x, z), (t, v) and (tau, kappa)."""

    xz: FloatArray
    tv: FloatArray
    gap: float

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(self.xz + other.xz, self.tv + other.tv, self.gap + other.gap)

    def __sub__(self, other: Pairs) -> Pairs:
        return Pairs(self.xz - other.xz, self.tv - other.tv, self.gap - other.gap)


def products(form: StandardForm, point: Point) -> Pairs:
    """Return the products of each complementary pair, zero for free columns."""
    return Pairs(point.x * point.z, point.t * point.v, point.tau * point.kappa)


def uniform(form: StandardForm, value: float) -> Pairs:
    """Return the same figure for every pair."""
    return Pairs(np.where(form.free, 0.0, value), np.full_like(form.u, value), value)


def centrality(form: StandardForm, point: Point) -> float:
    """Return mu, the mean of the complementary products."""
    products = inners((point.x, point.z), (point.t, point.v))
    return (sum(products) + point.tau * point.kappa) / form.pairs


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is missing in each equation of the embedding."""

    primal: FloatArray
    upper: FloatArray
    dual: FloatArray
    gap: float

    @property
    def size(self) -> float:
        """The largest 2-norm of them."""
        return max(norms(self.primal, self.upper, self.dual))


def residuals(form: StandardForm, p: Point) -> Residuals:
    """Return ``b tau - A x``, ``u tau - x - t``, ``c tau - A'y - z + v`` and the gap's residual."""
    dual = form.c * p.tau - form.transposed @ p.y - p.z
    dual[form.bounded] += p.v
    cost, sides, upper = inners((form.c, p.x), (form.b, p.y), (form.u, p.v))
    return Residuals(
        primal=form.b * p.tau - form.matrix @ p.x,
        upper=form.u * p.tau - p.x[form.bounded] - p.t,
        dual=dual,
        gap=p.kappa + cost - sides + upper,
    )


@dataclass(frozen=True, eq=False)
class Heights:
    """What has to stay positive at a point: all pairs less than zero in one, tau and kappa.

    Free columns, which need not, are infinitely high.
    """

    below_zero: FloatArray
    tau: float
    kappa: float

    @classmethod
    def of(cls, form: StandardForm, point: Point) -> Heights:
        """Return them at a point."""
        x, z = (np.where(form.free, np.inf, part) for part in (point.x, point.z))
        return cls(-np.concatenate([x, z, point.t, point.v]), point.tau, point.kappa)


@dataclass(frozen=True, eq=False)
class Falls:
    """How fast what has to stay positive falls along a direction, relative to what it is.

    Linear in the direction. ``values`` holds it for all pairs, ``tau`` and ``kappa`` for these.
    """

    values: FloatArray
    tau: float
    kappa: float

    @classmethod
    def of(cls, heights: Heights, direction: Point) -> Falls:
        """Return the falls along a direction."""
        along = np.concatenate([direction.x, direction.z, direction.t, direction.v])
        return cls(
            along / heights.below_zero,
            -direction.tau / heights.tau,
            -direction.kappa / heights.kappa,
        )

    def moved(self, change: Falls, part: float) -> Falls:
        """Return the falls along a direction with part of a change that has these ones."""
        return Falls(
            self.values + part * change.values,
            self.tau + part * change.tau,
            self.kappa + part * change.kappa,
        )

    @property
    def fastest(self) -> float:
        """The fastest fall."""
        return max(float(self.values.max()), self.tau, self.kappa)

    @property
    def longest_step(self) -> float:
        """The largest step at which every pair stays non-negative, inf if none limits it."""
        fastest = self.fastest
        return 1.0 / fastest if fastest > 0.0 else np.inf


def where_positive(form: StandardForm, values: FloatArray) -> FloatArray:
    """Return values (columns,) with ones in the places of free columns, to divide by."""
    positive: FloatArray = np.where(form.free, 1.0, values)
    return positive
