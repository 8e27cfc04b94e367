"""solve_many with models that are all knapsack problems."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge import Batch, Problem, SolutionStatus, StopReason

CPU = {"device": "cpu", "threads": 1}


def model(seed, columns=12, maximize=True, largest=40, upper=1.0):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, largest, columns)
    return Problem.from_arrays(
        rng.integers(1, largest, columns) * (1.0 if maximize else -1.0),
        weight[np.newaxis].astype(float),
        row_upper=float(weight.sum() // 2),
        upper=upper,
        integrality=True,
        offset=2.5,
        maximize=maximize,
    )


def varied(count=6):
    """Return a batch of one base model whose costs, weights and capacities differ."""
    rng = np.random.default_rng(7)
    base = model(0)
    return Batch(
        base,
        cost=-rng.integers(-3, 30, (count, 12)).astype(float),
        coefficients=rng.integers(1, 30, (count, 12)).astype(float),
        row_upper=rng.integers(20, 90, (count, 1)).astype(float),
    )


def assert_like_single_solves(found, problems):
    for k, problem in enumerate(problems):
        alone = gpu_bridge.solve(problem, explain=False, method="highs")
        assert found[k].solution_status is alone.solution_status
        assert found[k].stop_reason is StopReason.CONVERGED
        assert found[k].engine == "knapsack"
        if alone.x is not None:
            assert found[k].objective == pytest.approx(alone.objective, abs=1e-9)
            assert found[k].bound == found[k].objective
            assert problem.objective_at(found[k].x) == pytest.approx(
                -found[k].objective if problem.maximize else found[k].objective
            )


@pytest.mark.parametrize("method", ["auto", "knapsack"])
def test_models_of_all_kinds(method):
    fractions = Problem.from_arrays(
        [1.5, 0.25, 2.0], [[0.5, 0.25, 1.25]], row_upper=1.5, upper=1.0, integrality=True
    )
    problems = [
        model(1),
        model(2, columns=30, maximize=False),
        model(3, upper=4.0),
        dataclasses.replace(model(4), row_upper=[-1.0]),
        dataclasses.replace(fractions, cost=-fractions.cost),
    ]
    found = gpu_bridge.solve_many(problems, method=method, **CPU)
    assert "5 knapsack problems together" in found.log
    assert found.statuses[3] is SolutionStatus.INFEASIBLE
    assert_like_single_solves(found, problems)


@pytest.mark.parametrize("method", ["auto", "knapsack"])
def test_a_batch(method):
    batch = varied()
    found = gpu_bridge.solve_many(batch, method=method, **CPU)
    assert found.x.shape == (6, 12)
    assert np.isnan(found.row_dual).all()
    assert_like_single_solves(found, [batch.member(k) for k in range(6)])
    np.testing.assert_array_equal(found.objectives, [outcome.objective for outcome in found])
    np.testing.assert_array_equal(found.bounds, found.objectives)


def changed(**data):
    """Return the varied batch with other data."""
    batch = varied()
    given = {name: getattr(batch, name) for name in ("cost", "coefficients", "row_upper")}
    return Batch(batch.problem, **(given | data))


def test_whole_numbers_need_no_models_of_members(monkeypatch):
    monkeypatch.setattr("gpu_bridge.batch.solve_many.solve_knapsacks", None)
    batch = changed(row_upper=np.array([[40.0], [-1.0], [0.0], [1e4], [7.0], [-5.0]]))
    found = gpu_bridge.solve_many(batch, **CPU)
    assert found.statuses == [outcome.solution_status for outcome in found]
    assert found.statuses.count(SolutionStatus.INFEASIBLE) == 2
    for name in ("objectives", "bounds"):
        values = [getattr(outcome, name[:-1]) for outcome in found]
        np.testing.assert_array_equal(getattr(found, name), values)
    for name in ("x", "row_activity"):
        for k in (0, 2, 3, 4):
            np.testing.assert_array_equal(getattr(found, name)[k], getattr(found[k], name))
        assert np.isnan(getattr(found, name)[[1, 5]]).all()
    assert found.reduced_cost.shape == (6, 12)
    assert_like_single_solves(found, [batch.member(k) for k in range(6)])


@pytest.mark.parametrize(
    "data",
    [
        {"row_upper": np.linspace(20.5, 90.0, 6)[:, np.newaxis]},
        {"cost": -np.arange(72.0).reshape(6, 12) / 4},
        {"upper": np.full((6, 12), 2.0)},
        {"row_lower": np.full((6, 1), 3.0), "row_upper": np.full((6, 1), np.inf)},
    ],
    ids=["fractional capacities", "fractional profits", "two copies", "a lower side"],
)
def test_other_batches_are_solved_together_too(data):
    batch = changed(**data)
    found = gpu_bridge.solve_many(batch, **CPU)
    assert "6 knapsack problems together" in found.log
    assert_like_single_solves(found, [batch.member(k) for k in range(6)])


def test_no_time_for_a_batch():
    found = gpu_bridge.solve_many(varied(), method="knapsack", time_limit=0, **CPU)
    assert found.statuses == [SolutionStatus.NOTHING] * 6
    assert np.isnan(found.objectives).all()
    assert np.isnan(found.x).all()
    assert (found.bounds == [outcome.bound for outcome in found]).all()


def test_one_that_is_no_knapsack_problem_has_all_solved_as_before():
    other = Problem.from_arrays(
        [-1.0, -1.0], [[1.0, 2.0], [2.0, 1.0]], row_upper=2.0, upper=1.0, integrality=True
    )
    found = gpu_bridge.solve_many([model(1), other], **CPU)
    assert "together" not in found.log
    assert [outcome.solution_status for outcome in found] == [SolutionStatus.OPTIMAL] * 2


def test_relaxations_and_other_methods_are_none():
    for options in ({"relax": True}, {"method": "highs"}):
        found = gpu_bridge.solve_many([model(1), model(2)], **options, **CPU)
        assert "together" not in found.log


def test_no_time():
    found = gpu_bridge.solve_many([model(1), model(2)], method="knapsack", time_limit=0, **CPU)
    assert {outcome.stop_reason for outcome in found} == {StopReason.TIME_LIMIT}
    assert found.statuses == [SolutionStatus.NOTHING] * 2
