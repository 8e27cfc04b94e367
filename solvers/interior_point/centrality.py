"""Predictor, corrector, and Gondzio's multiple centrality correctors.

Mehrotra (1992) chooses the centring from how far the affine direction goes and corrects for its
second-order error. Gondzio ("Multiple centrality correctors in a primal-dual method for linear
programming", 1996) then asks for a step longer by ``WIDEN`` and corrects, with the same factors,
the products that would leave a neighbourhood of their target there.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.interior_point.newton import Newton
from solvers.interior_point.point import (
    Pairs,
    Point,
    centrality,
    longest_step,
    products,
    uniform,
)

WIDEN = 0.3
"""How much longer a step a corrector tries for; Gondzio has 0.1 and later codes 0.3."""

LOW, HIGH = 0.1, 10.0
"""Products outside these multiples of their target are corrected (Gondzio 1996, section 4)."""

WORTH = 0.1
"""Part of ``WIDEN`` that a corrector has to gain to be taken."""


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
    reach = min(1.0, longest_step(form, point, affine))
    sigma = (1.0 - reach) ** 3
    eta, target = 1.0 - sigma, sigma * mu
    wanted = uniform(form, target) - now - products(form, affine)
    direction = newton.direction(eta, wanted, keep_tau=keep_tau)
    step = longest_step(form, point, direction)
    for _ in range(correctors):
        if step >= 1.0:
            break
        longer = min(1.0, step + WIDEN)
        trial = products(form, point.moved(direction, longer))
        aim = max(target, 1e-3 * mu)
        wanted = wanted + Pairs(
            np.where(form.free, 0.0, _into(trial.xz, aim)),
            _into(trial.tv, aim),
            float(_into(trial.gap, aim)),
        )
        corrected = newton.direction(eta, wanted, keep_tau=keep_tau)
        further = longest_step(form, point, corrected)
        if further < step + WORTH * WIDEN:
            if further > step:
                direction, step = corrected, further
            break
        direction, step = corrected, further
    return direction, step


def _into(values: FloatArray | float, aim: float) -> FloatArray:
    """Return what brings products into their neighbourhood, large ones not beyond reason."""
    correction = np.clip(values, LOW * aim, HIGH * aim) - values
    limited: FloatArray = np.maximum(correction, -HIGH * aim)
    return limited
