"""Perturbed costs against dual degeneracy, as HiGHS chooses them (Huangfu and Hall 2018)."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.simplex.state import SimplexState

BASE = 5e-7
"""Size of the perturbation of a cost of one."""

LARGE_COST = 100.0
"""Largest cost from which its fourth root is what the perturbation grows with."""

FEW_BOXED = 0.01
"""Share of boxed variables below which large costs do not enlarge the perturbation."""

LOGICAL = 1e-12
"""Size of the perturbation of logicals, which only has to tell them apart."""


def perturbed_costs(state: SimplexState, seed: int) -> FloatArray:
    """Return (n + m,) costs moved at random in the direction that keeps duals feasible.

    A variable that may only rise gets a dearer cost, one that may only fall a cheaper one, a boxed
    one by the sign of its cost; free and fixed ones keep theirs.
    """
    n = state.form.num_structurals
    cost, lower, upper = state.cost, state.lower, state.upper
    largest = float(np.max(np.abs(cost), initial=0.0))
    if largest == 0.0:
        largest = 1.0
    if largest > LARGE_COST:
        largest = largest**0.25
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    boxed = has_lower & has_upper & (lower < upper)
    if boxed.sum() < FEW_BOXED * boxed.size:
        largest = min(largest, 1.0)
    random = np.random.default_rng(seed).random(cost.size)
    size = (1.0 + np.abs(cost)) * BASE * largest * (1.0 + random)
    size[n:] = LOGICAL * random[n:]
    direction = np.where(has_lower, 1.0, -1.0)
    direction[boxed] = np.where(cost[boxed] >= 0.0, 1.0, -1.0)
    direction[~has_lower & ~has_upper] = 0.0
    direction[lower == upper] = 0.0
    return np.asarray(cost + direction * size)
