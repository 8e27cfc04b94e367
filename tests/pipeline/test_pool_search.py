"""The k best points against all points of small models, counted out."""

from __future__ import annotations

import itertools

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest

import gpu_bridge as gb
from gpu_bridge.pipeline.pool_search import without_point

LOWER = np.array([0.0, 0.0, -1.0, 0.0, 2.0])
UPPER = np.array([1.0, 1.0, 3.0, 2.0, 2.0])


def small(seed: int, maximize: bool = False) -> tuple[gb.Problem, list[float]]:
    """Return a model with binaries, integers and a fixed one, and its objectives, best first."""
    generator = np.random.default_rng(seed)
    A = generator.integers(1, 9, (2, 5)).astype(float)
    cost = generator.integers(-9, 9, 5).astype(float)
    side = 0.7 * A.sum(axis=1) + A[:, 4]
    grid = itertools.product(*(np.arange(a, b + 1) for a, b in zip(LOWER, UPPER, strict=True)))
    values = [float(cost @ x) for x in map(np.array, grid) if (A @ x <= side).all()]
    problem = gb.Problem.from_arrays(
        *(cost, A),
        row_upper=side,
        lower=LOWER,
        upper=UPPER,
        integrality=True,
        maximize=maximize,
    )
    return problem, sorted(values, reverse=maximize)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_points_are_those_of_an_enumeration(seed: int) -> None:
    problem, values = small(seed, maximize=bool(seed % 2))
    outcome = gb.solve(problem, pool_search="best", pool_size=9, rel_gap=0.0)
    assert [entry.objective for entry in outcome.pool] == pytest.approx(values[:9])
    assert len({tuple(np.rint(entry.x)) for entry in outcome.pool}) == 9
    assert all(entry.x.size == problem.num_columns for entry in outcome.pool)


def test_all_points_are_found_where_there_are_fewer() -> None:
    problem, values = small(1)
    outcome = gb.solve(problem, pool_search="best", pool_size=len(values) + 5, rel_gap=0.0)
    assert [entry.objective for entry in outcome.pool] == pytest.approx(values)
    assert "there are no others" in outcome.log


def test_continuous_parts_are_the_best_for_each_point() -> None:
    # max a + 2 b + y, y <= 3 - a - b
    problem = gb.Problem.from_arrays(
        [1.0, 2.0, 1.0],
        [[1.0, 1.0, 1.0]],
        row_upper=3.0,
        upper=[1.0, 1.0, np.inf],
        integrality=[True, True, False],
        maximize=True,
    )
    outcome = gb.solve(problem, pool_search="best", pool_size=4)
    assert [entry.objective for entry in outcome.pool] == pytest.approx([4.0, 4.0, 3.0, 3.0])


def test_a_model_whose_integers_are_fixed_has_one_point() -> None:
    problem = gb.Problem.from_arrays([1.0], lower=2.0, upper=2.0, integrality=True)
    assert without_point(problem, 1, np.array([2.0])) is None
    assert len(gb.solve(problem, pool_search="best").pool) == 1


def test_an_integer_without_a_bound_is_refused_by_name() -> None:
    problem = gb.Problem.from_arrays([1.0], integrality=True, column_names=["many"])
    with pytest.raises(gb.ProblemError, match=r"'many'.*\[0, inf\]"):
        gb.solve(problem, pool_search="best")


def test_without_time_for_more_the_pool_has_what_was_found() -> None:
    problem, values = small(2)
    outcome = gb.solve(problem, pool_search="best", pool_size=50, time_limit=0.0)
    objectives = [entry.objective for entry in outcome.pool]
    assert set(objectives) <= set(values)
    assert len(objectives) < len(values)


def test_gurobis_names_from_pyomo_and_pulp() -> None:
    model = pyo.ConcreteModel()
    model.take = pyo.Var(range(3), domain=pyo.Binary)
    model.worth = pyo.Objective(
        expr=sum((j + 1) * model.take[j] for j in range(3)), sense=pyo.maximize
    )
    model.few = pyo.Constraint(expr=sum(model.take.values()) <= 2)
    names = {"PoolSolutions": 3, "PoolSearchMode": 2}
    results = pyo.SolverFactory("gpuheur").solve(model, options=names)
    pool = results.solution_loader.pool
    assert [entry.objective for entry in pool] == pytest.approx([5.0, 4.0, 3.0])

    lp = pulp.LpProblem("few", pulp.LpMaximize)
    take = [lp.add_variable(f"take_{j}", cat="Binary") for j in range(3)]
    lp += pulp.lpSum((j + 1) * one for j, one in enumerate(take))
    lp += pulp.lpSum(take) <= 2
    solver = gb.GPUHEUR(msg=False, **names)
    lp.solve(solver)
    assert [plan.objective for plan in solver.pool] == pytest.approx([5.0, 4.0, 3.0])
