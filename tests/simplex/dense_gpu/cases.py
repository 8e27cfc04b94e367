"""Linear programs in many shapes, and what a core makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from solvers.core.device import Device
from solvers.core.problem import Problem
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.state import (
    LOWER,
    PivotStatus,
    SimplexState,
    SlackForm,
    slack_form,
    slack_start,
)


@dataclass(frozen=True, eq=False)
class Solved:
    """What came of a solve, and the core and state to look closer at."""

    statuses: tuple[PivotStatus, ...]
    objective: float
    state: SimplexState
    core: DenseGpuCore


def random_problem(m: int, n: int, seed: int, density: float = 1.0, boxed: float = 0.3) -> Problem:
    """Return a feasible, bounded problem whose slack basis is dual feasible after flips."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(-1.0, 1.0, (m, n)) * (random.random((m, n)) < density)
    inside = matrix @ random.uniform(0.0, 1.0, n)
    row_lower = inside - random.uniform(0.0, 0.5, m)
    row_upper = np.where(random.random(m) < 0.5, np.inf, inside + 0.1)
    equation = random.random(m) < 0.2
    row_lower = np.where(equation, inside, row_lower)
    row_upper = np.where(equation, inside, row_upper)
    upper = np.where(random.random(n) < boxed, 1.0 + random.random(n), np.inf)
    cost = random.uniform(0.0, 1.0, n) - np.where(np.isfinite(upper), 0.5, 0.0)
    return Problem.from_arrays(cost, sp.csr_array(matrix), row_lower, row_upper, upper=upper)


def infeasible_problem(m: int, n: int, seed: int) -> Problem:
    """Return a problem with one row that its columns' bounds cannot satisfy."""
    problem = random_problem(m, n, seed, boxed=1.0)
    row_lower = problem.row_lower.copy()
    row_lower[m // 2] = np.abs(problem.matrix.toarray()[m // 2]) @ problem.upper + 1.0
    row_upper = np.maximum(problem.row_upper, row_lower)
    return Problem.from_arrays(
        problem.cost, problem.matrix, row_lower, row_upper, upper=problem.upper
    )


def primal_problem(m: int, n: int, seed: int, bounded: bool = True) -> Problem:
    """Return a problem whose slack basis is primal feasible, but not dual feasible."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(0.0 if bounded else -1.0, 1.0, (m, n))
    upper = np.where(random.random(n) < 0.3, random.random(n), np.inf)
    return Problem.from_arrays(
        random.uniform(-1.0, 0.2, n), sp.csr_array(matrix), -np.inf, random.random(m), upper=upper
    )


def run(
    problem: Problem, device: Device, order: tuple[str, ...] = ("dual", "primal"), most: int = 10**6
) -> Solved:
    """Run a core from the slack basis, in the phases named; structurals begin at lower bounds
    if primal pivots come first."""
    form = slack_form(problem)
    state = slack_start(form)
    if order[0] == "primal":
        state.status[: form.num_structurals] = LOWER
    core = DenseGpuCore(form, device)
    core.load(state)
    statuses = []
    for name in order:
        statuses.append(getattr(core, name)(most, lambda: False))
        core.store(state)
    return Solved(tuple(statuses), float(form.cost @ state.x), state, core)


def reference(problem: Problem) -> float:
    """Return the optimal value that HiGHS finds, by SciPy."""
    rows = LinearConstraint(problem.matrix, problem.row_lower, problem.row_upper)
    found = milp(problem.cost, constraints=rows, bounds=Bounds(problem.lower, problem.upper))
    assert found.success
    return float(found.fun)


def whole_matrix(form: SlackForm) -> sp.csc_array:
    """Return [A -I], scaled as the form is."""
    return sp.hstack([form.rows.csr, -sp.eye_array(form.num_rows)]).tocsc()


def check_state(solved: Solved, tolerance: float = 1e-6) -> None:
    """Check that point, duals and statuses are those of an optimal basis, from the form alone."""
    state, form = solved.state, solved.state.form
    whole = whole_matrix(form)
    assert np.abs(whole @ state.x).max(initial=0.0) <= tolerance
    assert (state.x >= form.lower - tolerance).all()
    assert (state.x <= form.upper + tolerance).all()
    basis = whole[:, state.basic]
    dual = solved.core.solve_transposed(state.cost[state.basic])
    assert np.abs(basis.T @ dual - state.cost[state.basic]).max(initial=0.0) <= tolerance
    reduced = state.cost - whole.T @ dual
    assert np.abs(reduced - state.reduced_cost).max(initial=0.0) <= tolerance
    assert set(np.flatnonzero(state.status == 1)) == set(state.basic.tolist())
    free = state.lower < state.upper
    assert (reduced[(state.status == 0) & free] >= -tolerance).all()
    assert (reduced[(state.status == 2) & free] <= tolerance).all()
