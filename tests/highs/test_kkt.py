"""Random problems: optimality conditions for linear ones, enumeration for binary ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.highs import solve
from tests.highs.kkt import assert_basis, assert_farkas, assert_improving_ray, assert_optimal_lp
from tests.properties.strategies import problems


@given(problems(), st.sampled_from(["auto", "simplex", "ipm"]), st.booleans())
@settings(max_examples=150)
def test_every_answer_to_a_linear_problem_carries_its_proof(problem, algorithm, presolve):
    options = EngineOptions(lp_algorithm=algorithm, presolve=presolve)
    outcome = solve(problem, options, Progress())
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        assert_optimal_lp(problem, outcome)
        assert_basis(problem, outcome)
    elif outcome.solution_status is SolutionStatus.INFEASIBLE:
        assert_farkas(problem, outcome.dual_ray)
    else:
        assert outcome.solution_status is SolutionStatus.UNBOUNDED
        assert_improving_ray(problem, outcome.primal_ray)


@given(problems(binary=True), st.booleans())
@settings(max_examples=60)
def test_binary_problems_agree_with_enumeration(problem, presolve):
    options = EngineOptions(presolve=presolve, rel_gap=0.0)
    outcome = solve(problem, options, Progress())
    best = np.inf
    for bits in itertools.product((0.0, 1.0), repeat=problem.num_columns):
        x = np.array(bits)
        activity = problem.matrix @ x
        if np.all(activity >= problem.row_lower) and np.all(activity <= problem.row_upper):
            best = min(best, problem.objective_at(x))
    if np.isinf(best):
        assert outcome.solution_status is SolutionStatus.INFEASIBLE
    else:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert outcome.objective == pytest.approx(best)
        assert outcome.bound == pytest.approx(best, abs=1e-5)
