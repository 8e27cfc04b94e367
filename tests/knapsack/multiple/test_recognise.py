"""Models that are multiple knapsack problems in disguise, and some that are none."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.engine import solve
from solvers.knapsack.multiple.engine import solve_multiple
from solvers.knapsack.multiple.items import MultipleKnapsack
from solvers.knapsack.multiple.recognise import recognise
from tests.cases import through
from tests.knapsack.multiple.instances import as_model, drawn


@given(
    st.integers(0, 10**6),
    st.integers(4, 7),
    st.integers(2, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_models_in_any_guise_are_recognised(seed, n, m, only_fitting, at_least, maximize):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 20, n)
    small = MultipleKnapsack(rng.integers(1, 30, n), weight, rng.integers(15, 60, m))
    factor = rng.choice([1.0, 0.1, 2.5, 0.125, 7.0], m)
    problem = as_model(
        small,
        row_factor=factor,
        only_fitting=only_fitting,
        at_least=at_least,
        maximize=maximize,
    )
    # rows and columns in any order
    rows, columns = rng.permutation(problem.num_rows), rng.permutation(problem.num_columns)
    mixed = Problem.from_arrays(
        problem.cost[columns],
        problem.matrix[rows][:, columns],
        row_lower=problem.row_lower[rows],
        row_upper=problem.row_upper[rows],
        upper=1.0,
        integrality=problem.integrality,
    )
    assert recognise(mixed) is not None
    outcome = solve(mixed, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(-solve_multiple(small).profit)
    assert outcome.bound == outcome.objective
    assert outcome.x is not None
    assert (mixed.matrix @ outcome.x <= mixed.row_upper + 1e-9).all()
    assert (mixed.matrix @ outcome.x >= mixed.row_lower - 1e-9).all()


def changed(**changes: object) -> Problem:
    """Return the model of six items and two knapsacks, with something else about it."""
    model = as_model(BASE)
    parts: dict[str, object] = {
        "cost": model.cost,
        "matrix": model.matrix,
        "row_lower": model.row_lower,
        "row_upper": model.row_upper,
        "lower": model.lower,
        "upper": model.upper,
        "integrality": model.integrality,
    }
    parts.update(changes)
    return Problem.from_arrays(parts.pop("cost"), parts.pop("matrix"), **parts)  # type: ignore[arg-type]


BASE = drawn("uncorrelated", 6, 2, seed=2)
SIZE = 12


def entry(row: int, column: int, value: float) -> sp.csr_array:
    """Return the base model's matrix with another entry."""
    matrix = as_model(BASE).matrix.tolil()
    matrix[row, column] = value
    return matrix.tocsr()


def with_row(row: list[float]) -> sp.csr_array:
    return sp.csr_array(sp.vstack([as_model(BASE).matrix, np.array([row])]))


def ones(place: int, value: float, size: int = 8, fill: float = -np.inf) -> np.ndarray:
    values = np.full(size, fill)
    values[place] = value
    return values


def test_what_was_recognised_is_said():
    model = recognise(changed())
    assert model is not None
    assert model.sentence == "a multiple knapsack problem of 6 items and 2 knapsacks"
    assert np.array_equal(np.sort(model.knapsack.weight), np.sort(BASE.weight))


def test_a_variable_needs_no_upper_bound_where_its_item_has_a_row():
    assert recognise(changed(upper=np.inf)) is not None


def test_items_without_weight_are_packed_too():
    matrix = as_model(BASE).matrix.tolil()
    matrix[6, 0] = matrix[7, 1] = 0.0
    problem = changed(matrix=matrix.tocsr())
    model = recognise(problem)
    assert model is not None
    weight = BASE.weight.copy()
    weight[0] = 0
    expected = solve_multiple(MultipleKnapsack(BASE.profit, weight, BASE.capacity)).profit
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.objective == pytest.approx(-expected)


@through(
    "problem",
    [
        changed(integrality=np.arange(SIZE) > 0),
        changed(row_lower=ones(0, 1.0)),
        changed(row_lower=ones(6, 1.0)),
        changed(lower=np.eye(1, SIZE)[0]),
        changed(cost=as_model(BASE).cost + np.eye(1, SIZE)[0]),
        changed(matrix=entry(6, 0, float(BASE.weight[0] + 1))),
        changed(matrix=entry(6, 0, np.pi)),
        changed(matrix=entry(6, 0, -1.0)),
        changed(matrix=entry(6, 0, 0.0)),
        changed(matrix=entry(7, 0, 1.0)),
        changed(matrix=entry(0, 0, 2.0)),
        changed(row_upper=np.append(np.full(6, 2.0), BASE.capacity)),
        changed(upper=1.0 - np.eye(1, SIZE, 4)[0]),
        Problem.from_arrays(
            as_model(BASE).cost,
            with_row([1.0] * SIZE),
            row_upper=np.append(as_model(BASE).row_upper, 3.0),
            upper=1.0,
            integrality=np.ones(SIZE, dtype=bool),
        ),
    ],
)
def test_other_models_are_left_to_others(problem):
    assert recognise(problem) is None


def test_a_negative_capacity_is_infeasible():
    problem = changed(row_upper=np.append(as_model(BASE).row_upper[:7], -1.0))
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.INFEASIBLE


def test_the_bound_of_an_interrupted_solve_is_on_the_right_side():
    progress = Progress()
    progress.interrupt()
    outcome = solve(as_model(drawn("weakly", 40, 12, seed=0)), EngineOptions(), progress)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound < outcome.objective
    assert progress.best_bound <= outcome.objective
