"""Newton directions of the homogeneous embedding.

At a point (x, t, y, z, v, tau, kappa) a direction solves

    A dx - b dtau                     = eta r_p
    dx_B + dt - u dtau                = eta r_u
    A'dy + dz - dv - c dtau           = eta r_d
    -c'dx + b'dy - u'dv - dkappa      = eta r_g
    z dx + x dz = s_x,   v dt + t dv = s_t,   kappa dtau + tau dkappa = s_g

(Andersen and Andersen 2000, section 4, with upper bounds). Eliminating dz, dt and dv leaves

    [ -D  A' ] [dx]   [ eta r_d - s_x/x + (s_t - eta v r_u)/t ]        [ c - u v/t ]
    [  A     ] [dy] = [ eta r_p                              ] + dtau [ b         ]

with D = z/x + v/t, zero for free columns. So a factorisation serves one solve for the second
right-hand side and one for each direction.
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.core.vectors import inner
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import Pairs, Point, Residuals, where_positive
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Newton:
    """The system at a point, factorised, with its solution for the right-hand side of dtau."""

    form: StandardForm
    point: Point
    residuals: Residuals
    system: LinearSystem
    weight: FloatArray
    tau_x: FloatArray
    tau_y: FloatArray
    curvature: float

    @classmethod
    def at(
        cls, form: StandardForm, point: Point, residuals: Residuals, system: LinearSystem
    ) -> Newton:
        """Factorise the system at a point."""
        bounded = form.bounded
        lower_weight = point.z / where_positive(form, point.x)
        upper_weight = point.v / point.t
        diagonal = lower_weight.copy()
        diagonal[bounded] += upper_weight
        f = form.c.copy()
        f[bounded] -= form.u * upper_weight
        dx, dy = system.factorise_for(diagonal, f, form.b)
        missing = dx[bounded] - form.u
        # -(c + u v/t)'dx + b'dy + u'(v/t)u, as a sum of squares, which rounding keeps positive
        curvature = inner(lower_weight * dx, dx) + inner(upper_weight * missing, missing)
        return cls(form, point, residuals, system, upper_weight, dx, dy, curvature)

    def direction(self, eta: float, pairs: Pairs, *, keep_tau: bool = False) -> Point:
        """Return the direction that takes ``eta`` off the residuals and adds ``pairs``.

        With ``keep_tau`` the gap's equation is left out and tau stays: the direction of the
        infeasible method (Mehrotra 1992), which needs no difference of nearly equal numbers where
        kappa and the curvature are nearly zero.
        """
        form, p, r = self.form, self.point, self.residuals
        bounded, x = form.bounded, where_positive(form, p.x)
        upper_part = (pairs.tv - eta * p.v * r.upper) / p.t
        f = eta * r.dual - pairs.xz / x
        f[bounded] += upper_part
        dx, dy = self.system.solve(f, eta * r.primal)
        slope = inner(form.c, dx) + inner(form.u * self.weight, dx[bounded]) - inner(form.b, dy)
        top = eta * r.gap + slope + inner(form.u, upper_part) + pairs.gap / p.tau
        dtau = 0.0 if keep_tau else top / (p.kappa / p.tau + self.curvature)
        dx = dx + dtau * self.tau_x
        dy = dy + dtau * self.tau_y
        dt = eta * r.upper + form.u * dtau - dx[bounded]
        dz = (pairs.xz - p.z * dx) / x
        dv = (pairs.tv - p.v * dt) / p.t
        return Point(dx, dt, dy, dz, dv, dtau, (pairs.gap - p.kappa * dtau) / p.tau)
