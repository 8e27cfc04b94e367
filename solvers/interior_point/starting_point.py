"""A starting point after Mehrotra (1992, section 7), with upper bounds and free columns.

The least squares solutions of the primal and of the dual equations, moved into the interior by as
much as their most negative entry asks and then until no product is far below the mean. Where a
point near the optimum is known, like that of a first-order method, the start is between both
(Skajaa, Andersen and Ye, "Warmstarting the homogeneous and self-dual interior point method for
linear and conic quadratic problems", 2013). Where the first step from there is short, its products
are made equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.lp_answer import Norms, errors
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import inner
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import Point, centrality, where_positive
from solvers.interior_point.standard_form import StandardForm

OVERSHOOT = 1.5
"""Part by which the first shift goes beyond the most negative entry."""

WEIGHT_BY_ERROR, LEAST_WEIGHT = 1.0, 1e-3
"""Weight of the cold start for each unit of a known point's largest relative error, and at least.
With 1 and 1e-3 twelve models of Netlib took 117 iterations from PDLP's points within 1e-2 and 98
from those within 1e-4, and 170 without; with 10 for each unit 130 and 98."""


def starting_point(form: StandardForm, system: LinearSystem) -> Point:
    """Return a point in the interior; one factorisation and two solves."""
    weight = np.ones_like(form.c)
    weight[form.bounded] = 2.0
    system.factorise(weight)
    f = np.zeros_like(form.c)
    f[form.bounded] = -form.u
    x, _ = system.solve(f, form.b)
    t = form.u - x[form.bounded]
    dx, y = system.solve(form.c, np.zeros_like(form.b))
    z, v = np.where(form.free, 0.0, -dx), dx[form.bounded]
    x_inside, t = _inside(form, x, t, z, v)
    z_inside, v = _inside(form, z, v, x_inside, t)
    x, z = np.where(form.free, x, x_inside), np.where(form.free, 0.0, z_inside)
    point = Point(x, t, y, z, v, 1.0, 1.0)
    return Point(x, t, y, z, v, 1.0, centrality(form, point))


@dataclass(frozen=True, eq=False)
class Known:
    """A point near the optimum, not inside the form, and the weight of the cold start beside it."""

    point: Point
    weight: float

    @classmethod
    def of(
        cls, form: StandardForm, problem: Problem, start: Start | None, norms: Norms
    ) -> Known | None:
        """Return a start with columns and duals, if it is near enough to be of use.

        All arrays are on the same device.
        """
        if start is None or start.x is None or start.row_dual is None:
            return None
        worst = errors(problem, start.x, start.row_dual, norms).worst
        if not WEIGHT_BY_ERROR * worst < 1.0:  # so that NaN is not
            return None
        weight = max(LEAST_WEIGHT, WEIGHT_BY_ERROR * worst)
        return cls(_in_form(form, start.x, start.row_dual), weight)


def towards_known(form: StandardForm, cold: Point, start: Known) -> Point:
    """Return the point between the cold start and the known one.

    The part of the cold start is the least distance to the boundary.
    """
    known, weight = start.point, start.weight

    def between(own: FloatArray, other: FloatArray) -> FloatArray:
        least: FloatArray = np.maximum((1.0 - weight) * own, 0.0) + weight * other
        return least

    y = (1.0 - weight) * known.y + weight * cold.y
    x = np.where(form.free, known.x, between(known.x, cold.x))
    z = np.where(form.free, 0.0, between(known.z, cold.z))
    t, v = between(known.t, cold.t), between(known.v, cold.v)
    point = Point(x, t, y, z, v, 1.0, 1.0)
    return Point(x, t, y, z, v, 1.0, centrality(form, point))


def centred(form: StandardForm, start: Point, cold: Point) -> Point:
    """Return the point near a start whose complementary products are all their mean there.

    Of each pair (x, z), in the units s of the cold start, ``x / s - s z`` stays and ``x z`` becomes
    mu, as in the smoothing of Chen, Harker, Kanzow and Smale: what is large moves little.
    """
    mu = centrality(form, start)

    def moved(
        one: FloatArray, other: FloatArray, cold_one: FloatArray, cold_other: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        unit = np.sqrt(cold_one / cold_other)
        apart = one / unit - unit * other
        root = np.sqrt(apart * apart + 4.0 * mu)
        larger = 0.5 * (root + np.abs(apart))
        smaller = mu / larger
        return (
            unit * np.where(apart > 0.0, larger, smaller),
            np.where(apart > 0.0, smaller, larger) / unit,
        )

    pairs = (where_positive(form, part) for part in (start.x, start.z, cold.x, cold.z))
    x, z = moved(*pairs)
    x, z = np.where(form.free, start.x, x), np.where(form.free, 0.0, z)
    t, v = moved(start.t, start.v, cold.t, cold.v)
    return Point(x, t, start.y, z, v, 1.0, mu)


def _in_form(form: StandardForm, x: FloatArray, row_dual: FloatArray) -> Point:
    """Return what a point (n,) and row duals (m,) of the problem are in the form, not inside it."""
    structural, y = form.origin.standard(x, row_dual)
    count = structural.size
    slacks = np.zeros_like(structural, shape=form.c.size - count)
    missing = form.b - form.matrix @ np.concatenate([structural, slacks])
    of_slacks = form.transposed.data.size - slacks.size  # they are the last, with one entry each
    rows, entries = (part[of_slacks:] for part in (form.transposed.indices, form.transposed.data))
    values = np.concatenate([structural, missing[rows] / entries])
    reduced = form.c - form.transposed @ y
    t, v = form.u - values[form.bounded], -reduced[form.bounded]
    return Point(values, t, y, reduced, v, 1.0, 0.0)


def _inside(
    form: StandardForm,
    values: FloatArray,
    more: FloatArray,
    partner: FloatArray,
    more_partner: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return values and their slacks shifted into the interior, as their partners ask."""
    values, partner = np.where(form.free, 0.0, values), np.where(form.free, 0.0, partner)
    least = min(float(part.min()) for part in (values, more) if part.size)
    shift = -OVERSHOOT * min(0.0, least)
    values, more = values + shift, more + shift
    partners = float(np.maximum(partner, 0.0).sum() + np.maximum(more_partner, 0.0).sum())
    product = inner(values, np.maximum(partner, 0.0)) + inner(more, np.maximum(more_partner, 0.0))
    second = 0.5 * product / partners if partners > 0 else 0.0
    second = max(second, 1e-3)
    return values + second, more + second
