from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.lattice import LatticeSearch, Status, lattice_search, suits, supports
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.lattice.models import model_of, random_system


def found_by(model: MipModel, work: float, seed: int = 0, slices: int = 1):
    """Return the points that a search submits, all checked, and how it ended."""
    points: list[np.ndarray] = []

    def submit(x: np.ndarray, source: str) -> bool:
        assert is_feasible(model, x)
        points.append(x)
        return True

    one = LatticeSearch(model, model.lower, model.upper, seed, submit)
    for _ in range(slices):
        status = one.run(Budget(work=work / slices))
        if status is Status.OVER:
            break
    return points, status


@pytest.mark.parametrize("seed", range(4))
def test_a_system_of_general_integers_is_solved(seed):
    A, b, _ = random_system(seed, 8, 60, largest=30)
    model = model_of(A, b)
    points, status = found_by(model, 2e8)
    assert status is Status.OVER  # nothing to improve
    assert len(points) == 1
    np.testing.assert_array_equal(A @ points[0], b)


def test_columns_may_be_left_out(monkeypatch):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 50)
    A, b, _ = random_system(1, 6, 400, largest=12)
    points, _ = found_by(model_of(A, b), 5e8)
    np.testing.assert_array_equal(A @ points[0], b)
    assert np.count_nonzero(points[0]) <= 50


def test_columns_are_added_where_the_first_ones_have_no_integer_solution(monkeypatch):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 30)
    monkeypatch.setattr(supports, "LEAST_COLUMNS", 0)
    first = np.arange(20, dtype=np.int32)
    monkeypatch.setattr(supports, "columns_of_vertices", lambda *_: first)
    monkeypatch.setattr(
        supports.Vertices, "another", lambda self, budget: self.found.append(np.zeros(62))
    )
    # tens alone do not add up to 1237
    matrix = np.array([[*np.full(60, 10.0), 1.0, 3.0], [*np.arange(60) % 7 + 1.0, 4.0, 4.0]])
    x = np.zeros(62)
    x[:10], x[60:] = 12, [1, 12]
    model = model_of(matrix, matrix @ x)
    points, _ = found_by(model, 1e8)
    np.testing.assert_array_equal(matrix @ points[0], matrix @ x)
    assert points[0][60:].any()


def test_few_equations_of_many_columns(monkeypatch):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 80)
    A, b, _ = random_system(9, 2, 200, largest=40, mean=1.0)
    points, _ = found_by(model_of(A, b), 1e8)
    np.testing.assert_array_equal(A @ points[0], b)


def test_a_lattice_in_which_no_point_was_found_is_reduced_further(monkeypatch):
    monkeypatch.setattr(lattice_search, "WALK_WORK", 1.0)
    A, b, _ = random_system(3, 10, 60, largest=60)
    model = model_of(A, b)
    points: list[np.ndarray] = []
    one = LatticeSearch(model, model.lower, model.upper, 0, lambda x, _: not points.append(x))
    for _ in range(100):
        if one.lattices < 2:
            one.run(Budget(work=5e6))  # no walk makes a step
    assert one.lattices == 2  # it was reduced further, once
    assert not points
    monkeypatch.setattr(lattice_search, "WALK_WORK", 1e8)
    one.run(Budget(work=5e7))
    np.testing.assert_array_equal(A @ points[0], b)


def test_the_best_of_three_columns_is_found():
    # the smallest x with 31013 x = 41014 y + 51015 z for positive y and z (MIPLIB's ej)
    model = model_of([[31013, -41014, -51015]], [0], cost=[1, 0, 0], lower=1)
    points, _ = found_by(model, 2e7)
    assert min(x[0] for x in points) == 25508


def test_other_rows_and_columns_are_kept_too():
    A, b, hidden = random_system(3, 4, 30, largest=20)
    rng = np.random.default_rng(0)
    more = rng.integers(-2, 3, (5, 40)).astype(float)
    point = np.concatenate([hidden, rng.integers(0, 2, 10)])
    activity = more @ point
    model = model_of(
        np.hstack([A, np.zeros((4, 10))]),
        b,
        cost=np.concatenate([np.zeros(30), np.ones(10)]),
        upper=np.concatenate([np.full(30, 15.0), np.ones(10)]),
        more=(more, activity - 3, activity + 3),
    )
    points, _ = found_by(model, 6e7)
    assert points


def test_short_turns_lead_where_one_long_turn_does():
    A, b, _ = random_system(7, 8, 60, largest=30)
    model = model_of(A, b, cost=np.arange(60) % 7)
    whole, _ = found_by(model, 6e7)
    again, _ = found_by(model, 6e7)
    parts, _ = found_by(model, 6e7, slices=20)
    assert len(whole) > 0
    np.testing.assert_array_equal(np.array(whole), np.array(again))  # by work it repeats
    np.testing.assert_array_equal(whole[0], parts[0])


def test_no_integer_solution_ends_the_search():
    points, status = found_by(model_of([[1, 1], [1, -1]], [3, 0]), 1e9)
    assert status is Status.OVER
    assert points == []


def test_what_suits():
    def suited(model: MipModel) -> bool:
        return suits(model, model.lower, model.upper)

    assert suited(model_of([[3, 5]], [31]))
    assert not suited(model_of([[3, 5]], [31], upper=1))  # binaries
    assert not suited(model_of([[3, 5]], [31], integrality=False))
    assert not suited(model_of([[3.5, 5]], [31]))
    assert not suited(model_of([[2, 4]], [31]))  # even and odd
    for columns, expected in ((8, True), (9, False)):  # two of them in the equation
        more = np.ones((1, columns)), [0.0], [5.0]
        equation = np.array([[3.0, 5.0, *np.zeros(columns - 2)]])
        assert suited(model_of(equation, [31], upper=50, more=more)) == expected
    empty = model_of(np.zeros((0, 2)), np.zeros(0))
    assert not suited(empty)
    assert found_by(empty, 1e6) == ([], Status.OVER)
