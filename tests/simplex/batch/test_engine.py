"""The batched simplex method on the CPU: its answers, its endings, its starts and limits."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import BasisStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch import Ending, Parameters, Settings
from solvers.simplex.batch.run import STOP
from tests.simplex.batch.cases import (
    batch_of,
    boxed_batch,
    member,
    mixed_batch,
    mixed_problem,
)
from tests.simplex.batch.checks import assert_right

OPTIONS = EngineOptions(device="cpu", threads=1)


def solve(data, options=OPTIONS, progress=None, **settings):
    return engine.solve(data, options, progress or Progress(), **settings)


def objectives(data, answer):
    return np.array([member(data, k).objective_at(answer.x[k]) for k in range(data.count)])


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 14),
    columns=st.integers(1, 18),
    whole=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_ending_is_that_of_highs_and_proven(seed, rows, columns, whole):
    data = mixed_batch(seed, 3, rows, columns, whole=whole)
    answer = solve(data)
    for k in range(3):
        assert_right(data, answer, k)


@pytest.mark.parametrize("whole", [False, True])
def test_larger_lps_of_every_kind(whole):
    data = mixed_batch(4, 12, 45, 60, whole=whole)
    answer = solve(data)
    for k in range(data.count):
        assert_right(data, answer, k)


@pytest.mark.parametrize("name", ["cost", "lower", "upper", "row_upper", "values"])
def test_each_kind_of_data_may_vary(name):
    data = boxed_batch(3, 5, 12, 20, (name,))
    answer = solve(data)
    for k in range(5):
        assert_right(data, answer, k)


def test_lps_without_rows():
    problems = [
        Problem.from_arrays(cost, np.zeros((0, 2)), lower=[0.0, -np.inf], upper=[3.0, 2.0])
        for cost in ([-1.0, -2.0], [1.0, 0.0], [1.0, 1.0])
    ]
    answer = solve(batch_of(problems))
    np.testing.assert_array_equal(answer.ending, [Ending.OPTIMAL, Ending.OPTIMAL, Ending.UNBOUNDED])
    np.testing.assert_array_equal(answer.x[0], [3.0, 2.0])
    np.testing.assert_array_equal(answer.rays[2], [0.0, -1.0])


def test_lps_without_columns():
    problems = [
        Problem.from_arrays([], np.zeros((2, 0)), low, [1.0, 1.0])
        for low in ([0.0, -1.0], [0.5, 0.0])
    ]
    answer = solve(batch_of(problems))
    np.testing.assert_array_equal(answer.ending, [Ending.OPTIMAL, Ending.INFEASIBLE])
    np.testing.assert_array_equal(answer.row_dual[1], [1.0, 0.0])


def test_empty_rows_and_columns():
    A = np.zeros((3, 4))
    A[1, 2] = 2.0
    problem = Problem.from_arrays([1.0, -1.0, 1.0, 0.0], A, [-1.0, 3.0, 0.0], [1.0, 9.0, 0.0],
                                  upper=[5.0, 6.0, 7.0, np.inf])  # fmt: skip
    answer = solve(batch_of([problem]))
    np.testing.assert_allclose(answer.x[0], [0.0, 6.0, 1.5, 0.0])


def test_duplicate_rows_and_columns():
    one = mixed_problem(7, 6, 8, whole=True, density=1.0)
    A = np.vstack([np.hstack([one.matrix.toarray()] * 2)] * 2)
    problem = Problem.from_arrays(
        np.tile(one.cost, 2), A, np.tile(one.row_lower, 2), np.tile(one.row_upper, 2),
        lower=np.maximum(np.tile(one.lower, 2), -9.0), upper=np.minimum(np.tile(one.upper, 2), 9.0),
    )  # fmt: skip
    data = batch_of([problem])
    assert_right(data, solve(data), 0)


def beale() -> Problem:
    """The LP on which Dantzig's rule cycles (Beale 1955)."""
    A = [[0.25, -60.0, -1.0 / 25.0, 9.0], [0.5, -90.0, -1.0 / 50.0, 3.0], [0.0, 0.0, 1.0, 0.0]]
    return Problem.from_arrays([-0.75, 150.0, -0.02, 6.0], A, -np.inf, [0.0, 0.0, 1.0])


def klee_minty(n: int) -> Problem:
    """The cube on which Dantzig's rule visits all vertices (Klee and Minty 1972)."""
    A = np.eye(n)
    for i in range(n):
        A[i, :i] = [2.0 ** (i - j + 1) for j in range(i)]
    cost = [-(2.0 ** (n - 1 - j)) for j in range(n)]
    return Problem.from_arrays(cost, A, -np.inf, [5.0 ** (i + 1) for i in range(n)])


def assignment(n: int) -> Problem:
    """A highly degenerate LP: all vertices have n basic variables at zero beyond need."""
    generator = np.random.default_rng(n)
    A = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    return Problem.from_arrays(generator.integers(1, 9, n * n), A, 1.0, 1.0)


@pytest.mark.parametrize(
    ("problem", "objective"),
    [(beale(), -0.05), (klee_minty(8), -(5.0**8)), (assignment(9), None)],
    ids=["Beale", "Klee and Minty", "assignment"],
)
def test_models_that_cycle_or_stall(problem, objective):
    data = batch_of([problem])
    for parameters in (Parameters(), Parameters(stalled=0.0)):
        answer = solve(data, settings=Settings(parameters))
        assert_right(data, answer, 0)
        if objective is not None:
            assert problem.objective_at(answer.x[0]) == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("parameters", [
    Parameters(check_every=1.0),
    Parameters(check_every=1.0, accuracy=-1.0),
    Parameters(stalled=-1.0),
], ids=["looks often", "always builds", "always perturbs"])  # fmt: skip
def test_safeguards_do_not_change_the_answers(parameters):
    data = mixed_batch(9, 10, 12, 15, whole=True)
    plain, careful = solve(data), solve(data, settings=Settings(parameters))
    np.testing.assert_array_equal(careful.ending, plain.ending)
    optimal = plain.ending == Ending.OPTIMAL
    np.testing.assert_allclose(
        objectives(data, careful)[optimal], objectives(data, plain)[optimal], rtol=1e-9, atol=1e-9
    )


def test_shared_data_gives_what_own_data_gives():
    data = boxed_batch(5, 4, 9, 14, ("cost",))
    own = dataclasses.replace(data, values=np.repeat(data.values, 4, axis=0))
    np.testing.assert_array_equal(solve(own).x, solve(data).x)


def test_sides_that_move_start_well_from_a_basis_of_one():
    data = boxed_batch(6, 30, 20, 30, ("row_upper",))
    cold = solve(data)
    warm = solve(dataclasses.replace(data, basis=cold.basis[:1]))
    np.testing.assert_allclose(objectives(data, warm), objectives(data, cold), rtol=1e-10)
    assert warm.iterations.sum() < 0.5 * cold.iterations.sum()


def test_costs_that_move_start_well_from_a_basis_of_one():
    data = boxed_batch(6, 1, 20, 30, ())
    cost = data.cost * np.linspace(0.9, 1.1, 30 * 30).reshape(30, 30)
    data = dataclasses.replace(data, count=30, cost=cost)
    cold = solve(data)
    warm = solve(dataclasses.replace(data, basis=cold.basis[:1]))
    np.testing.assert_allclose(objectives(data, warm), objectives(data, cold), rtol=1e-10)
    assert warm.iterations.sum() < 0.5 * cold.iterations.sum()


@pytest.mark.parametrize("varying", [("cost",), ("values",)])
def test_an_optimal_basis_needs_no_pivots(varying):
    data = boxed_batch(8, 6, 15, 22, varying)
    cold = solve(data)
    warm = solve(dataclasses.replace(data, basis=cold.basis))
    np.testing.assert_array_equal(warm.iterations, 0)
    np.testing.assert_array_equal(warm.basis, cold.basis)
    np.testing.assert_allclose(warm.x, cold.x, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_any_statuses_may_be_where_to_start(seed):
    data = mixed_batch(seed, 4, 9, 12, whole=True)
    generator = np.random.default_rng(seed)
    for rows in (1, 4):
        basis = generator.integers(0, 5, (rows, 21)).astype(np.int8)
        answer = solve(dataclasses.replace(data, basis=basis))
        for k in range(4):
            assert_right(data, answer, k)


def test_a_singular_basis_is_repaired():
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [2.0, 2.0]], 1.0, 4.0, upper=1.0)
    basis = np.array([[BasisStatus.BASIC, BasisStatus.BASIC, 0, 0]], dtype=np.int8)
    data = batch_of([problem], basis)
    assert_right(data, solve(data), 0)


def test_coefficients_of_any_size_are_scaled():
    generator = np.random.default_rng(3)
    plain = mixed_problem(3, 10, 14, whole=False)
    rows, columns = (10.0 ** generator.integers(-4, 5, size) for size in (10, 14))
    problem = Problem(
        plain.cost * columns, plain.matrix.toarray() * rows[:, None] * columns,
        plain.row_lower * rows, plain.row_upper * rows, plain.lower / columns,
        plain.upper / columns, plain.integrality,
    )  # fmt: skip
    data, other = batch_of([problem]), batch_of([plain])
    answer, expected = solve(data), solve(other)
    assert answer.ending[0] == expected.ending[0] == Ending.OPTIMAL
    assert problem.objective_at(answer.x[0]) == pytest.approx(
        plain.objective_at(expected.x[0]), rel=1e-8
    )


def test_the_same_bits_again_in_any_company():
    data = boxed_batch(8, 9, 12, 20, ("cost", "values"))
    whole = solve(data)
    again = solve(data)
    one = dataclasses.replace(data, count=1, cost=data.cost[4:5], values=data.values[4:5])
    np.testing.assert_array_equal(again.x, whole.x)
    np.testing.assert_array_equal(again.row_dual, whole.row_dual)
    np.testing.assert_allclose(solve(one).x[0], whole.x[4], rtol=1e-12, atol=1e-12)


def test_a_limit_of_pivots_is_kept():
    data = boxed_batch(8, 5, 12, 20, ("cost",))
    needed = solve(data).iterations
    limit = int(needed.min()) - 1
    answer = solve(data, dataclasses.replace(OPTIONS, iteration_limit=limit))
    assert (answer.ending == Ending.LIMIT).all()
    np.testing.assert_array_equal(answer.iterations, limit)


def test_lps_that_nobody_waits_for_are_not_begun(monkeypatch):
    def stopped(work, flag, progress):
        flag[0] = STOP
        work()

    monkeypatch.setattr(
        importlib.import_module("solvers.simplex.batch.run"), "run_watched", stopped
    )
    answer = solve(mixed_batch(4, 5, 6, 8, whole=False))
    assert (answer.ending == Ending.NOT_REACHED).all()
    for array in (answer.iterations, answer.x, answer.row_dual, answer.basis):
        assert not array.any()


def test_who_is_interrupted_says_so():
    data = boxed_batch(8, 5, 4, 6, ("cost",))
    progress = Progress()
    progress.interrupt()
    answer = solve(data, progress=progress)
    assert (answer.ending == Ending.NOT_REACHED).all()


def test_a_time_limit_makes_slices():
    data = boxed_batch(8, 200, 4, 6, ("cost",))
    answer = solve(data, progress=Progress(1e6))
    np.testing.assert_array_equal(answer.x, solve(data).x)


def test_no_gpu_is_an_error(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceError):
        solve(boxed_batch(8, 5, 4, 6, ("cost",)), EngineOptions(device="cuda"))
