"""The figures of a point by compiled loops are those of NumPy, for any number of threads."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from solvers.core import lp_answer
from solvers.core.lp_answer import Answer, Norms, allowed_duals, errors, judge
from solvers.core.problem import Problem
from tests.cases import through
from tests.pdlp.lps import random_lp

SIZES = [(1, 1), (40, 60), (300, 700), (0, 3), (5, 0)]


def point(problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a point that leaves its bounds and duals that lean on sides that are not there."""
    rng = np.random.default_rng(seed)
    return 3.0 * rng.normal(size=problem.num_columns), rng.normal(size=problem.num_rows)


@through(("rows", "columns"), SIZES)
@through("seed", range(3))
def test_figures_are_those_of_the_formulas(rows: int, columns: int, seed: int) -> None:
    problem = random_lp(seed, rows, columns)
    x, y = point(problem, seed)
    found = judge(problem, x, y)
    np.testing.assert_array_equal(found.x, np.clip(x, problem.lower, problem.upper))
    allowed = allowed_duals(y, problem.row_lower, problem.row_upper)
    np.testing.assert_array_equal(found.row_dual, allowed)
    np.testing.assert_array_equal(found.row_activity, problem.matrix @ found.x)
    np.testing.assert_array_equal(found.reduced_cost, problem.cost - problem.matrix.T @ allowed)
    expected = errors(problem, x, y, Norms.of(problem))
    np.testing.assert_allclose(astuple(found.statistics), astuple(expected), rtol=1e-12)
    side = np.where(found.reduced_cost > 0, problem.lower, problem.upper)
    unsupported = ~np.isfinite(side) & (found.reduced_cost != 0)
    bound = -np.inf if unsupported.any() else found.statistics.dual_objective
    assert found.proven_bound == bound


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_lp(5, 900, 1100, density=0.02)
    x, y = point(problem, 5)
    alone = judge(problem, x, y)
    monkeypatch.setattr(lp_answer, "threads_for", lambda work, threads: threads)
    assert bits(judge(problem, x, y, threads=3)) == bits(alone)


def bits(answer: Answer) -> list[bytes]:
    """Return all figures of an answer as they stand in memory."""
    figures = np.array(astuple(answer.statistics))
    arrays = (answer.x, answer.row_dual, answer.row_activity, answer.reduced_cost, figures)
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_not_taken_for_small(bad: float) -> None:
    problem = random_lp(2, 20, 30)
    x, y = point(problem, 2)
    free = np.isinf(problem.lower) & np.isinf(problem.upper)
    x[np.flatnonzero(free)[0]] = bad
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(judge(problem, x, y).statistics.worst)


def test_what_leaves_the_bounds_counts_where_nothing_is_clipped() -> None:
    problem = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], row_lower=[1.0])
    x = np.array([-3.0, 2.0])
    found = judge(problem, x, np.array([5.0]), clipped=False)
    assert found.x is x
    assert found.statistics.primal_residual == np.hypot(3.0, 2.0)
    assert found.largest_violation == 3.0
    assert found.largest_unsupported == 4.0
    assert found.statistics.side_norm == 1.0
    assert found.statistics.cost_norm == np.sqrt(5.0)


def test_what_is_owned_is_not_copied_and_judged_alike() -> None:
    problem = random_lp(4, 30, 40)
    generator = np.random.default_rng(4)
    x, y = 10.0 * generator.standard_normal(40), generator.standard_normal(30)
    expected = judge(problem, x, y)
    found = judge(problem, x, y, owned=True)
    assert found.x is x
    assert found.row_dual is y
    np.testing.assert_array_equal(x, expected.x)
    np.testing.assert_array_equal(y, expected.row_dual)
    assert found.statistics == expected.statistics


def test_a_brief_answer_has_the_same_figures_without_activities_and_reduced_costs() -> None:
    problem = random_lp(3, 40, 60)
    x, y = point(problem, 3)
    whole, brief = judge(problem, x, y), judge(problem, x, y, brief=True)
    assert brief.statistics == whole.statistics
    assert (brief.x == whole.x).all()
    assert (brief.row_dual == whole.row_dual).all()
    assert brief.row_activity.size == brief.reduced_cost.size == 0
    assert brief.proven_bound == whole.proven_bound
