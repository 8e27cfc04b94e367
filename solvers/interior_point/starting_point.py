"""A starting point after Mehrotra (1992, section 7), with upper bounds and free columns.

The least squares solutions of the primal and of the dual equations, moved into the interior by as
much as their most negative entry asks and then until no product is far below the mean.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.rows import inner
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import Point, centrality
from solvers.interior_point.standard_form import StandardForm

OVERSHOOT = 1.5
"""Part by which the first shift goes beyond the most negative entry."""


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
