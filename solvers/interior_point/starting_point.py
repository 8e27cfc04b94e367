"""A starting point after Mehrotra (1992, section 7), with upper bounds and free columns.

The least squares solutions of the primal and of the dual equations, moved into the interior by as
much as their most negative entry asks and then until no product is far below the mean.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.vectors import inner
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import Point, centrality
from solvers.interior_point.standard_form import StandardForm

OVERSHOOT = 1.5
"""Part by which the first shift goes beyond the most negative entry."""


def starting_point(form: StandardForm, system: LinearSystem) -> Point:
    """Return a point in the interior; one factorisation and two solves."""
    weight = np.ones(form.c.size)
    weight[form.bounded] = 2.0
    system.factorise(weight)
    f = np.zeros(form.c.size)
    f[form.bounded] = -form.u
    x, _ = system.solve(f, form.b)
    t = form.u - x[form.bounded]
    dx, y = system.solve(form.c, np.zeros(form.b.size))
    z, v = np.where(form.free, 0.0, -dx), dx[form.bounded]
    positive = ~form.free
    x_inside, t = _inside(x[positive], t, z[positive], v)
    z_inside, v = _inside(z[positive], v, x_inside, t)
    x[positive], z[positive] = x_inside, z_inside
    point = Point(x, t, y, z, v, 1.0, 1.0)
    return Point(x, t, y, z, v, 1.0, centrality(form, point))


def _inside(
    values: FloatArray, more: FloatArray, partner: FloatArray, more_partner: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return values and their slacks shifted into the interior, as their partners ask."""
    least = min(np.min(values, initial=0.0), np.min(more, initial=0.0))
    shift = -OVERSHOOT * least
    values, more = values + shift, more + shift
    partners = np.maximum(partner, 0.0).sum() + np.maximum(more_partner, 0.0).sum()
    product = inner(values, np.maximum(partner, 0.0)) + inner(more, np.maximum(more_partner, 0.0))
    second = 0.5 * product / partners if partners > 0 else 0.0
    second = max(second, 1e-3)
    return values + second, more + second
