"""Rays of a simplex basis, proven on the original problem or not handed on."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray, Problem
from solvers.core.rays import proves_infeasible, proves_unbounded
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.state import SimplexState

NEGLIGIBLE = (0.0, 1e-13, 1e-11, 1e-9, 1e-7)
"""Parts of the largest entry below which a ray's entries are left out, one trial after another."""


def farkas_ray(problem: Problem, core: DenseGpuCore, state: SimplexState) -> FloatArray | None:
    """Return multipliers (m,) of the rows that prove infeasibility, from the dual's pivot row.

    The row of the inverse at the pivot row combines the rows of the problem into one that no
    point within the bounds satisfies; its sign is found by trying both.
    """
    form = state.form
    unit = np.zeros(form.num_rows)
    unit[core.pivot_row] = 1.0
    y = core.solve_transposed(unit)
    if not np.isfinite(y).all():
        return None
    y = _refined(core, state, y, unit)
    return _proven_dual(problem, y * form.row_scale)


def primal_ray(problem: Problem, core: DenseGpuCore, state: SimplexState) -> FloatArray | None:
    """Return the direction (n,) that improves without end, from the primal's pivot column."""
    form = state.form
    n = form.num_structurals
    entering = core.pivot_column
    column = np.zeros(form.num_rows)
    if entering < n:
        indices, values = form.columns[entering]
        column[indices] = values
    else:
        column[entering - n] = -1.0
    ray = np.zeros(form.num_variables)
    ray[state.basic] = -core.solve_basis(column)
    ray[entering] = 1.0
    if state.reduced_cost[entering] > 0.0:
        ray = -ray
    if not np.isfinite(ray).all():
        return None
    return _proven_primal(problem, ray[:n] * form.column_scale)


def _refined(
    core: DenseGpuCore, state: SimplexState, y: FloatArray, unit: FloatArray
) -> FloatArray:
    """Solve once more with what rounding has left of B'y = unit."""
    form = state.form
    everything = np.concatenate([form.columns.times(y), -y])
    return np.asarray(y + core.solve_transposed(unit - everything[state.basic]))


def _proven_dual(problem: Problem, y: FloatArray) -> FloatArray | None:
    largest = float(np.max(np.abs(y), initial=0.0))
    for sign in (1.0, -1.0):
        for part in NEGLIGIBLE:
            trial = np.where(np.abs(y) > part * largest, sign * y, 0.0)
            side = np.where(trial > 0.0, problem.row_lower, problem.row_upper)
            trial[~np.isfinite(side) & (np.abs(trial) <= 1e-7 * largest)] = 0.0
            if proves_infeasible(problem, trial):
                return np.asarray(trial)
    return None


def _proven_primal(problem: Problem, ray: FloatArray) -> FloatArray | None:
    largest = float(np.max(np.abs(ray), initial=0.0))
    for part in NEGLIGIBLE:
        trial = np.where(np.abs(ray) > part * largest, ray, 0.0)
        wrong = (trial < 0.0) & np.isfinite(problem.lower)
        wrong |= (trial > 0.0) & np.isfinite(problem.upper)
        trial[wrong & (np.abs(trial) <= 1e-7 * largest)] = 0.0
        if proves_unbounded(problem, trial):
            return np.asarray(trial)
    return None
