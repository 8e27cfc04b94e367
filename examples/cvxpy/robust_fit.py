"""Fit a line by least absolute deviations in CVXPY, then again with three outliers left out.

The first fit is a linear program. Choosing which points to leave out makes it a mixed-integer one.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

import gpu_bridge  # noqa: F401 - makes "GPUHEUR" known to CVXPY

POINTS, OUTLIERS = 30, 3
SLOPE, HEIGHT = 1.7, 4.0
LARGEST = 100.0  # no residual is larger


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    t = np.linspace(0, 10, POINTS)
    y = SLOPE * t + HEIGHT + rng.normal(0, 0.2, POINTS)
    y[[4, 21, 27]] += (35, -40, -45)
    return t, y


def main() -> None:
    t, y = data()
    slope, height = cp.Variable(), cp.Variable()
    residual = cp.Variable(POINTS, nonneg=True)
    error = slope * t + height - y

    plain = cp.Problem(cp.Minimize(cp.sum(residual)), [cp.abs(error) <= residual])
    plain.solve(solver="GPUHEUR")
    print(f"All points:         slope {slope.value:.2f}, deviations {plain.value:.1f}")

    left_out = cp.Variable(POINTS, boolean=True)
    trimmed = cp.Problem(
        cp.Minimize(cp.sum(residual)),
        [cp.abs(error) <= residual + LARGEST * left_out, cp.sum(left_out) <= OUTLIERS],
    )
    trimmed.solve(solver="GPUHEUR", rel_gap=1e-6, time_limit=60)
    assert trimmed.status == cp.OPTIMAL
    print(f"Without the worst:  slope {slope.value:.2f}, deviations {trimmed.value:.1f}")
    print(f"Left out: {np.flatnonzero(left_out.value > 0.5).tolist()}")
    assert abs(slope.value - SLOPE) < 0.1


if __name__ == "__main__":
    main()
