"""Certificates where tau goes to zero: the iterate itself tends to a ray of the primal or dual.

A candidate is believed only if it passes on the problem as it is given (:mod:`solvers.core.rays`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import allowed_duals
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray, Problem
from solvers.core.rays import cleaned, proves_infeasible, proves_unbounded
from solvers.core.vectors import inner
from solvers.interior_point.point import Point
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Ray:
    """A proven ray: of the rows (m,) where infeasible, of the columns (n,) where unbounded."""

    status: SolutionStatus
    values: FloatArray


def certificate(problem: Problem, form: StandardForm, point: Point, device: Device) -> Ray | None:
    """Return a proof that there is no optimum, if the point has one to offer.

    Looked for only while kappa exceeds tau, which is the sign of it.
    """
    if point.kappa <= point.tau:
        return None
    if inner(form.b, point.y) > inner(form.u, point.v):
        y = device.to_host(form.origin.row_dual(point.y, problem.num_rows))
        for candidate in cleaned(allowed_duals(y, problem.row_lower, problem.row_upper)):
            if proves_infeasible(problem, candidate):
                return Ray(SolutionStatus.INFEASIBLE, candidate)
    if inner(form.c, point.x) < 0.0:
        direction = np.clip(
            device.to_host(form.origin.direction(point.x)),
            np.where(np.isfinite(problem.lower), 0.0, -np.inf),
            np.where(np.isfinite(problem.upper), 0.0, np.inf),
        )
        for candidate in cleaned(direction):
            if proves_unbounded(problem, candidate):
                return Ray(SolutionStatus.UNBOUNDED, candidate)
    return None
