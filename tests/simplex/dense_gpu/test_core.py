"""The dense GPU core on the CPU: optimal, infeasible and unbounded problems, and its safeguards."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import DeviceError
from solvers.core.problem import Problem
from solvers.simplex.dense_gpu import arrays, loop, nucleus
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.state import BASIC, LOWER, PivotStatus, slack_form, slack_start
from tests.cases import through
from tests.simplex.dense_gpu.cases import (
    check_state,
    infeasible_problem,
    primal_problem,
    random_problem,
    reference,
    run,
    whole_matrix,
)

SHAPES = {
    "wide": (30, 70, 1.0, 0.3),
    "tall": (70, 25, 1.0, 0.3),
    "sparse": (60, 90, 0.06, 0.3),
    "boxed": (40, 60, 0.3, 1.0),
    "no bounds above": (40, 50, 1.0, 0.0),
    "one row": (1, 9, 1.0, 0.5),
    "one column": (9, 1, 1.0, 0.0),
}


@pytest.fixture(params=["steepest", "devex"])
def pricing(request, monkeypatch):
    """Price by steepest edge, and by Devex with folds after few pivots."""
    if request.param == "devex":
        monkeypatch.setattr(arrays, "prices_by_steepest_edge", lambda *sizes: False)
        monkeypatch.setattr(arrays, "MOST_DELAYED", 5)
    return request.param


@through("name", SHAPES)
def test_optimal_basis_is_found(name, pricing):
    m, n, density, boxed = SHAPES[name]
    for seed in range(3):
        problem = random_problem(m, n, seed, density, boxed)
        solved = run(problem, cpu())
        assert solved.statuses == (PivotStatus.DONE, PivotStatus.DONE)
        assert solved.objective == pytest.approx(reference(problem), rel=1e-9, abs=1e-9)
        check_state(solved)


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 18), st.floats(0.1, 1.0))
@settings(max_examples=40)
def test_small_problems_agree_with_the_reference(seed, m, n, density):
    problem = random_problem(m, n, seed, density)
    solved = run(problem, cpu())
    assert solved.statuses == (PivotStatus.DONE, PivotStatus.DONE)
    assert solved.objective == pytest.approx(reference(problem), rel=1e-8, abs=1e-8)


def test_infeasible_problem_is_proven_by_the_pivot_row(pricing):
    for seed in range(4):
        problem = infeasible_problem(8, 12, seed)
        solved = run(problem, cpu(), ("dual",))
        assert solved.statuses == (PivotStatus.NO_PIVOT,)
        form, position = solved.state.form, solved.core.pivot_row
        assert 0 <= position < 8
        unit = np.zeros(8)
        unit[position] = 1.0
        y = solved.core.solve_transposed(unit)
        combined = whole_matrix(form).T @ y
        low = np.where(combined > 0.0, form.lower, form.upper)
        high = np.where(combined > 0.0, form.upper, form.lower)
        used = combined != 0.0
        least, most = (combined[used] @ side[used] for side in (low, high))
        assert least > 1e-7 or most < -1e-7  # combined'x = 0 for every x with [A -I]x = 0


def test_unbounded_problem_is_proven_by_the_pivot_column():
    problem = primal_problem(5, 9, 5, bounded=False)
    solved = run(problem, cpu(), ("primal",))
    assert solved.statuses == (PivotStatus.NO_PIVOT,)
    column = solved.core.pivot_column
    assert column >= 0
    assert solved.state.status[column] != BASIC


@pytest.mark.parametrize("seed", range(4))
def test_primal_pivots_find_the_optimum(seed):
    problem = primal_problem(25, 40, seed)
    solved = run(problem, cpu(), ("primal",))
    assert solved.statuses == (PivotStatus.DONE,)
    assert solved.objective == pytest.approx(reference(problem), rel=1e-9)
    check_state(solved)


BEALE = Problem.from_arrays(
    [-0.75, 150.0, -0.02, 6.0],
    sp.csr_array([[0.25, -60.0, -0.04, 9.0], [0.5, -90.0, -0.02, 3.0], [0.0, 0.0, 1.0, 0.0]]),
    -np.inf,
    [0.0, 0.0, 1.0],
)


def klee_minty(n: int) -> Problem:
    """Return a cube whose vertices Dantzig's rule visits one after the other."""
    matrix = np.tril(2.0 ** (np.subtract.outer(np.arange(n), np.arange(n)) + 1.0), -1) + np.eye(n)
    cost = -(2.0 ** np.arange(n - 1, -1, -1))
    return Problem.from_arrays(cost, sp.csr_array(matrix), -np.inf, 5.0 ** np.arange(1, n + 1))


@pytest.mark.parametrize(
    ("problem", "objective"), [(BEALE, -0.05), (klee_minty(9), -(5.0**9))], ids=["beale", "klee"]
)
def test_degenerate_and_long_paths_end(problem, objective):
    solved = run(problem, cpu(), ("primal",))
    assert solved.statuses == (PivotStatus.DONE,)
    assert solved.objective == pytest.approx(objective, rel=1e-9)


def test_run_that_seems_endless_ends_in_trouble(monkeypatch):
    monkeypatch.setattr(loop, "ENDLESS", (0, 3))
    assert run(random_problem(20, 30, 1), cpu(), ("dual",)).statuses == (PivotStatus.TROUBLE,)


def test_equal_inputs_give_equal_bits(pricing):
    first, second = (run(random_problem(40, 60, 7), cpu()) for _ in range(2))
    assert first.state.iterations == second.state.iterations
    np.testing.assert_array_equal(first.state.x, second.state.x)
    np.testing.assert_array_equal(first.state.reduced_cost, second.state.reduced_cost)


def test_folded_inverse_is_that_of_the_basis(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_DELAYED", 3)
    monkeypatch.setattr(nucleus, "WHOLE_UP_TO", 0)  # the inverse has to grow
    monkeypatch.setattr(nucleus, "SPARE", 1.0)
    monkeypatch.setattr(nucleus, "SLOTS_AT_ONCE", 1)
    problem = random_problem(20, 30, 3)
    for most in (4, 10, 17):
        solved = run(problem, cpu(), ("dual",), most)
        assert solved.statuses == (PivotStatus.LIMIT,)
        assert solved.state.iterations == most
        assert solved.core.refactorisations == 1
        basis = whole_matrix(solved.state.form).toarray()[:, solved.state.basic]
        for i in range(20):
            unit = np.zeros(20)
            unit[i] = 1.0
            np.testing.assert_allclose(basis @ solved.core.solve_basis(unit), unit, atol=1e-9)
            np.testing.assert_allclose(
                basis.T @ solved.core.solve_transposed(unit), unit, atol=1e-9
            )


def test_steepest_edge_weights_are_norms_of_rows():
    solved = run(random_problem(15, 20, 4), cpu(), ("dual",), 9)
    for position in range(15):
        unit = np.zeros(15)
        unit[position] = 1.0
        row = solved.core.solve_transposed(unit)
        assert solved.state.edge_weight[position] == pytest.approx(max(row @ row, 1e-4), rel=1e-6)


def test_flips_of_boxed_variables_are_counted():
    solved = run(random_problem(20, 60, 2, boxed=1.0), cpu(), ("dual",))
    assert solved.core.bound_flips > 0
    problem = random_problem(20, 60, 2, boxed=0.0)
    one_sided = Problem.from_arrays(problem.cost, problem.matrix, problem.row_lower)
    assert run(one_sided, cpu(), ("dual",)).core.bound_flips == 0


def test_singular_basis_is_repaired_by_slacks():
    problem = Problem.from_arrays(
        [1.0, 2.0, 1.0], sp.csr_array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]), 1.0, 4.0
    )
    form = slack_form(problem)
    state = slack_start(form)
    state.basic[:] = [0, 1]  # twice the same column
    state.status[:] = [BASIC, BASIC, LOWER, LOWER, LOWER]
    core = DenseGpuCore(form, cpu())
    core.load(state)
    core.store(state)
    assert np.count_nonzero(state.status == BASIC) == 2
    assert set(np.flatnonzero(state.status == BASIC)) == set(state.basic.tolist())
    assert state.basic.max() >= 3
    np.testing.assert_allclose(whole_matrix(form) @ state.x, 0.0, atol=1e-12)


def test_same_basis_is_not_factorised_again():
    solved = run(random_problem(10, 15, 8), cpu())
    before = solved.core.refactorisations
    solved.core.load(solved.state)
    assert solved.core.refactorisations == before


def test_stop_is_heeded_at_once():
    form = slack_form(random_problem(10, 15, 9))
    state = slack_start(form)
    core = DenseGpuCore(form, "cpu")
    core.load(state)
    assert core.dual(100, lambda: True) is PivotStatus.STOPPED
    core.store(state)
    assert state.iterations == 0


def test_problems_without_rows_or_columns():
    no_rows = Problem.from_arrays([1.0, -1.0], None, upper=[np.inf, 2.0])
    no_columns = Problem.from_arrays([], sp.csr_array((2, 0)), [-1.0, 0.0], [1.0, 0.0])
    for problem, objective in ((no_rows, -2.0), (no_columns, 0.0)):
        solved = run(problem, cpu())
        assert solved.statuses == (PivotStatus.DONE, PivotStatus.DONE)
        assert solved.objective == objective


def test_basis_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_STORED_COLUMNS", 3)
    with pytest.raises(DeviceError, match="columns that are no slacks"):
        run(random_problem(30, 60, 1), cpu())


def test_devex_is_for_large_sparse_problems():
    assert arrays.prices_by_steepest_edge(2500, 10**5, 10**5)
    assert not arrays.prices_by_steepest_edge(2501, 10**5, 10**6)
    assert arrays.prices_by_steepest_edge(10**4, 10**4, 10**8)


def test_memory_needed_is_counted():
    assert arrays.bytes_needed(10_000, 5_000) == 8 * 5_000 * (20_000 + 15_000)
