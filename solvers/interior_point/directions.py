"""Directions of the homogeneous embedding: Newton's, predictor and correctors.

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

Mehrotra (1992) chooses the centring from how far the affine direction goes and corrects for its
second-order error. Gondzio ("Multiple centrality correctors in a primal-dual method for linear
programming", 1996) then asks for a step longer by ``WIDEN`` and corrects, with the same factors,
the products that would leave a neighbourhood of their target there. A corrector computed for a
step that the direction cannot take may do harm, so that of each the part is taken with which the
step is longest (Colombo and Gondzio, "Further development of multiple centrality correctors for
interior point methods", 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.vectors import inners, norms
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import (
    Falls,
    Heights,
    Pairs,
    Point,
    Residuals,
    centrality,
    products,
    uniform,
    where_positive,
)
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Newton:
    """The system at a point, factorised, with its solution for the right-hand side of dtau.

    ``x`` are the columns of the point, with ones where they are free, to divide by.
    """

    form: StandardForm
    point: Point
    residuals: Residuals
    system: LinearSystem
    x: FloatArray
    weight: FloatArray
    tau_x: FloatArray
    tau_y: FloatArray
    curvature: float
    missing: tuple[float, float]

    @classmethod
    def at(
        cls, form: StandardForm, point: Point, residuals: Residuals, system: LinearSystem
    ) -> Newton:
        """Factorise the system at a point."""
        bounded = form.bounded
        x = where_positive(form, point.x)
        lower_weight = point.z / x
        upper_weight = point.v / point.t
        diagonal = lower_weight.copy()
        diagonal[bounded] += upper_weight
        f = form.c.copy()
        f[bounded] -= form.u * upper_weight
        dx, dy = system.factorise_for(diagonal, f, form.b)
        missing = dx[bounded] - form.u
        # -(c + u v/t)'dx + b'dy + u'(v/t)u, as a sum of squares, which rounding keeps positive
        curvature = sum(inners((lower_weight * dx, dx), (upper_weight * missing, missing)))
        left = norms(residuals.dual, residuals.primal)
        of_tau = dx, dy, curvature
        return cls(form, point, residuals, system, x, upper_weight, *of_tau, (left[0], left[1]))

    def direction(self, eta: float, pairs: Pairs, *, keep_tau: bool = False) -> Point:
        """Return the direction that takes ``eta`` off the residuals and adds ``pairs``.

        With ``keep_tau`` the gap's equation is left out and tau stays: the direction of the
        infeasible method (Mehrotra 1992), which needs no difference of nearly equal numbers where
        kappa and the curvature are nearly zero.
        """
        form, p, r = self.form, self.point, self.residuals
        bounded, x = form.bounded, self.x
        upper_part = (pairs.tv - eta * p.v * r.upper) / p.t
        f = eta * r.dual - pairs.xz / x
        f[bounded] += upper_part
        dx, dy = self.system.solve(f, eta * r.primal, self.missing)
        cost, of_upper, sides, lean = inners(
            *((form.c, dx), (form.u * self.weight, dx[bounded])),
            *((form.b, dy), (form.u, upper_part)),
        )
        top = eta * r.gap + (cost + of_upper - sides) + lean + pairs.gap / p.tau
        dtau = 0.0 if keep_tau else top / (p.kappa / p.tau + self.curvature)
        dx = dx + dtau * self.tau_x
        dy = dy + dtau * self.tau_y
        dt = eta * r.upper + form.u * dtau - dx[bounded]
        dz = (pairs.xz - p.z * dx) / x
        dv = (pairs.tv - p.v * dt) / p.t
        return Point(dx, dt, dy, dz, dv, dtau, (pairs.gap - p.kappa * dtau) / p.tau)


WIDEN = 0.3
"""How much longer a step a corrector tries for; Gondzio has 0.1 and later codes 0.3."""

LOW, HIGH = 0.1, 10.0
"""Products outside these multiples of their target are corrected (Gondzio 1996, section 4)."""

WORTH = 0.1
"""Part of ``WIDEN`` that a corrector has to gain to be taken."""

LEAST_PART, TRIES = 0.1, 5
"""Of a corrector at least this part is taken; parts that are tried between it and the whole."""


def predictor_corrector(
    newton: Newton, correctors: int, *, keep_tau: bool = False
) -> tuple[Point, float]:
    """Return a direction and the longest step along it.

    Parameters
    ----------
    newton : Newton
    correctors : int
        Gondzio's correctors at most, each of which costs a solve.
    keep_tau : bool
        Use directions of the infeasible method.
    """
    form, point = newton.form, newton.point
    mu = centrality(form, point)
    now = products(form, point)
    nothing = uniform(form, 0.0)
    affine = newton.direction(1.0, nothing - now, keep_tau=keep_tau)
    heights = Heights.of(form, point)
    falls = Falls.of(heights, affine)
    reach = min(1.0, falls.longest_step)
    sigma = (1.0 - reach) ** 3
    target = sigma * mu
    wanted = uniform(form, target) - now - products(form, affine)
    corrected = newton.direction(1.0 - sigma, wanted, keep_tau=keep_tau)
    change, least = corrected.moved(affine, -1.0), max(LEAST_PART, reach * reach)
    direction, falls = _best_part(affine, falls, change, Falls.of(heights, change), least)
    step = falls.longest_step
    for _ in range(correctors):
        if step >= 1.0:
            break
        longer = min(1.0, step + WIDEN)
        trial = products(form, point.moved(direction, longer))
        aim = max(target, 1e-3 * mu)
        missing = Pairs(
            np.where(form.free, 0.0, _into(trial.xz, aim)),
            _into(trial.tv, aim),
            float(_into(trial.gap, aim)),
        )
        corrector = newton.direction(0.0, missing, keep_tau=keep_tau)
        of_it = Falls.of(heights, corrector)
        corrected, reached = _best_part(direction, falls, corrector, of_it, LEAST_PART)
        before, further = step, reached.longest_step
        if further > step:
            direction, falls, step = corrected, reached, further
        if further < before + WORTH * WIDEN:
            break
    return direction, step


def _best_part(
    first: Point, falls: Falls, change: Point, of_change: Falls, least: float
) -> tuple[Point, Falls]:
    """Return a direction with the part of a change with which its step is longest, and its falls.

    At least ``least`` of it. Falls are linear in the direction, so that no trial needs another.
    """
    part, best = 1.0, falls.moved(of_change, 1.0)
    fastest = best.fastest
    for trial in np.linspace(1.0, least, TRIES + 1)[1:].tolist():
        if fastest <= 1.0:
            break  # nothing is in the way of a whole step
        between = falls.moved(of_change, trial)
        reached = between.fastest
        if reached > fastest:
            break  # the fastest fall is a convex function of the part
        best, part, fastest = between, trial, reached
    return first.moved(change, part), best


def _into(values: FloatArray | float, aim: float) -> FloatArray:
    """Return what brings products into their neighbourhood, large ones not beyond reason."""
    correction = np.clip(values, LOW * aim, HIGH * aim) - values
    limited: FloatArray = np.maximum(correction, -HIGH * aim)
    return limited
