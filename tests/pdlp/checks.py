"""Inputs for the conclusions of a check: sums and a control array with chosen figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.pdlp.control import SIZE, Control
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import SUMS

SIDE_NORM, COST_NORM, OFFSET = 7.0, 3.0, 0.5
TOLERANCE = 1e-4

ON_THE_WAY = {
    Control.REFLECTION: 1.0,
    Control.ITERATIONS_SINCE_RESTART: 600.0,
    Control.STEP: 0.9,
    Control.WEIGHT: 2.0,
    Control.ITERATIONS: 10_000.0,
    Control.RESTARTS: 4.0,
    Control.CHECKS: 50.0,
    Control.FIRST_METRIC: 1.0,
    Control.PREVIOUS_METRIC: 0.9,
    Control.MARK_METRIC: 1.0,
    Control.MARK_ITERATIONS: 600.0,
    Control.BEST_WEIGHT: 3.0,
    Control.BEST_IMBALANCE: 0.0,
    Control.BEST_ERROR: 0.0,
    Control.BEST_OBJECTIVE: -np.inf,
    Control.PRIMAL_TOLERANCE: TOLERANCE,
    Control.DUAL_TOLERANCE: TOLERANCE,
    Control.GAP_TOLERANCE: TOLERANCE,
    Control.SIDE_NORM: SIDE_NORM,
    Control.COST_NORM: COST_NORM,
    Control.OFFSET: OFFSET,
    Control.SUFFICIENT: 0.2,
    Control.NECESSARY: 0.5,
    Control.ARTIFICIAL: 0.36,
    Control.STANDSTILL: 0.9,
    Control.STANDSTILL_SHARE: 0.05,
    Control.RESIDUAL_EXPONENT: 0.25,
    Control.SHORTEST_DISTANCE: 1e-16,
    Control.LONGEST_DISTANCE: 1e12,
    Control.LARGEST_IMBALANCE: 8.0,
    Control.REVERSAL: 0.5,
    Control.STEP_SHRINK: 1.0 / 1.05,
}
"""A control array some time after a restart, with nothing better to be found.

Its settings are of the tests' own, so that those of the engine can be tuned.
"""


@dataclass(frozen=True)
class Figures:
    """What a check is to find: relative errors, distances, the metric now and at first."""

    primal: float = 1.0
    dual: float = 1.0
    gap: float = 0.5
    primal_objective: float = 50.0
    primal_distance: float = 1.0
    dual_distance: float = 1.0
    square: float = 0.64
    first_square: float = 1.0


def control_of(**changes: float) -> np.ndarray:
    """Return the usual control array with some figures changed."""
    control = np.zeros(SIZE)
    control[list(ON_THE_WAY)] = list(ON_THE_WAY.values())
    for name, value in changes.items():
        control[Control[name.upper()]] = value
    return control


def sums_of(figures: Figures, control: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums (7,) of rows and of columns that amount to the figures."""
    p = figures.primal_objective
    # solves |p - d| = gap (1 + |p| + |d|) for d <= p, both positive
    d = (p - figures.gap * (1.0 + p)) / (1.0 + figures.gap)
    omega, eta = control[Control.WEIGHT], control[Control.STEP]
    rows, columns = np.zeros(SUMS), np.zeros(SUMS)
    rows[0] = (figures.primal * (1.0 + SIDE_NORM)) ** 2
    columns[0] = (figures.dual * (1.0 + COST_NORM)) ** 2
    rows[2], columns[2] = figures.dual_distance**2, figures.primal_distance**2
    rows[1], columns[1], columns[4] = 2.0, d - OFFSET - 2.0, p - OFFSET
    for total, (own, cross) in ((figures.square, (3, 4)), (figures.first_square, (5, 6))):
        # omega |dx|^2 + |dy|^2 / omega + 2 eta cross
        columns[own], rows[own] = 0.1, 0.3
        rows[cross] = (total - omega * 0.1 - 0.3 / omega) / (2.0 * eta)
    return rows, columns


def spread(sums: np.ndarray, slots: int, seed: int) -> np.ndarray:
    """Return partial sums (slots, 7) that add up to the sums."""
    parts = np.random.default_rng(seed).uniform(0.5, 1.5, (slots, SUMS))
    return parts / parts.sum(axis=0) * sums


def decide(figures: Figures, control: np.ndarray, count: int = 200, slots: int = 5) -> np.ndarray:
    """Let a check come to its conclusions; return the control array after it."""
    rows, columns = sums_of(figures, control)
    after = control.copy()
    arguments = (slots, spread(rows, slots, 1), slots + 2, spread(columns, slots + 2, 2))
    DECISIONS["decide"](*arguments, count, after)
    return after
