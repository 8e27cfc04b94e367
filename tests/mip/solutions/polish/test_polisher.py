from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers import pdlp
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.highs.warm_lp import Solved, WarmLp
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.polish import Polisher, PolishStatus, continuous
from solvers.mip.solutions.polish import polisher as polisher_module
from solvers.mip.solutions.polish.continuous import ContinuousPart


def model_of(cost, matrix, row_lower, row_upper, lower, upper, integrality, **more) -> MipModel:
    problem = Problem.from_arrays(
        cost,
        sp.csr_array(np.atleast_2d(np.asarray(matrix, dtype=float))),
        np.asarray(row_lower, dtype=float),
        np.asarray(row_upper, dtype=float),
        lower=lower,
        upper=upper,
        integrality=integrality,
        **more,
    )
    return MipModel.of(problem)


def random_model(seed: int, rows: int, columns: int, slack: int = 3) -> MipModel:
    """Return a model whose rows hold at a hidden point, some with equal or missing sides."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-4, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    integer = rng.random(columns) < 0.5
    lower = rng.integers(-3, 1, columns).astype(float)
    upper = lower + rng.integers(1, 5, columns)
    hidden = rng.uniform(lower, upper)
    hidden[integer] = np.round(hidden[integer])
    activity = matrix @ hidden
    row_lower = np.where(rng.random(rows) < 0.4, -np.inf, activity - rng.integers(0, slack, rows))
    row_upper = np.where(rng.random(rows) < 0.4, np.inf, activity + rng.integers(0, slack, rows))
    equal = rng.random(rows) < 0.2
    row_lower[equal] = row_upper[equal] = activity[equal]
    cost = rng.integers(-5, 6, columns)
    return model_of(cost, matrix, row_lower, row_upper, lower, upper, integer, offset=2.5)


def by_linprog(model: MipModel, x: np.ndarray):
    """Solve for the continuous columns with the integers of ``x`` fixed, by SciPy."""
    whole = model.is_integer == 1
    bounds = np.column_stack([np.where(whole, x, model.lower), np.where(whole, x, model.upper)])
    A = model.problem.matrix.toarray()
    low, high = np.isfinite(model.row_lower), np.isfinite(model.row_upper)
    return linprog(
        model.cost,
        A_ub=np.vstack([A[high], -A[low]]),
        b_ub=np.concatenate([model.row_upper[high], -model.row_lower[low]]),
        bounds=bounds,
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 8), columns=st.integers(2, 10))
def test_a_polished_point_has_the_objective_that_linprog_finds(seed, rows, columns):
    model = random_model(seed, rows, columns)
    rng = np.random.default_rng(seed + 1)
    with Polisher(model) as polisher:
        for _ in range(4):  # the later ones start from the basis of the one before
            x = model.rounded(rng.uniform(model.lower, model.upper))
            reference = by_linprog(model, x)
            polished = polisher.polish(x)
            assert polished.status.has_point == (reference.status == 0)
            if reference.status == 0:
                assert polished.status is PolishStatus.OPTIMAL
                assert polished.objective == pytest.approx(reference.fun + model.offset, abs=1e-5)
                assert is_feasible(model, polished.x)
                np.testing.assert_array_equal(
                    polished.x[model.integers], np.round(x[model.integers])
                )
            else:
                assert reference.status == 2
                assert polished.status is PolishStatus.INFEASIBLE


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_the_conflict_alone_rules_the_integers_out(seed):
    model = random_model(seed, rows=6, columns=8)
    rng = np.random.default_rng(seed)
    with Polisher(model) as polisher:
        for _ in range(6):
            x = model.rounded(rng.uniform(model.lower, model.upper))
            polished = polisher.polish(x)
            if polished.status is not PolishStatus.INFEASIBLE:
                continue
            assert polished.conflict.size
            keep = polished.conflict
            reduced = model_of(
                model.cost,
                model.problem.matrix.toarray()[keep],
                model.row_lower[keep],
                model.row_upper[keep],
                model.lower,
                model.upper,
                model.is_integer,
            )
            assert by_linprog(reduced, x).status == 2


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_warm_starts_that_take_too_long_give_way_to_presolve(seed):
    model = random_model(seed, rows=6, columns=9)
    rng = np.random.default_rng(seed + 1)
    with pytest.MonkeyPatch.context() as patch, Polisher(model) as polisher:
        patch.setattr(continuous, "WARM_AT_LEAST", 0)
        patch.setattr(continuous, "WARM_FACTOR", 0)
        for _ in range(4):
            x = model.rounded(rng.uniform(model.lower, model.upper))
            reference = by_linprog(model, x)
            polished = polisher.polish(x)
            if reference.status == 0:
                assert polished.status is PolishStatus.OPTIMAL
                assert polished.objective == pytest.approx(reference.fun + model.offset, abs=1e-5)
            else:
                assert polished.status is PolishStatus.INFEASIBLE
                assert polished.conflict.size


def test_who_asks_for_no_reason_is_told_of_infeasibility_all_the_same():
    model = model_of(
        [0, 0, 1, 1],
        [[0, 0, 1, 1], [-2, 0, 1, 0], [0, -2, 0, 1], [0, 0, 1, -1]],
        [3, -np.inf, -np.inf, 2],
        [3, 0, 0, np.inf],
        0.0,
        [1, 1, 10, 10],
        [True, True, False, False],
    )
    x = np.array([1.0, 1.0, 0.0, 0.0])  # each row alone can hold, but not all together
    with Polisher(model) as polisher:
        silent = polisher.polish(x, explain=False)
        told = polisher.polish(x)
    assert silent.status is told.status is PolishStatus.INFEASIBLE
    assert told.conflict.size


def test_a_warm_start_keeps_its_limit_of_iterations(monkeypatch):
    monkeypatch.setattr(continuous, "WARM_AT_LEAST", 0)
    monkeypatch.setattr(continuous, "WARM_FACTOR", 0)
    with ThreadPoolExecutor(1) as thread:  # HiGHS in this one may have begun otherwise
        thread.submit(solve_with_and_without_iterations).result()


def solve_with_and_without_iterations() -> None:
    model = balance_model()
    part = ContinuousPart.of(model)
    one = continuous.WarmSimplex(model, part)

    def sides(first: float, second: float):
        return [s[part.rows] for s in part.row_sides(model, np.array([first, second, 0, 0]))]

    assert one.solve_afresh(*sides(1, 1), np.inf).is_optimal
    assert one.is_warm
    assert one.solve_warm(*sides(1, 1), np.inf).is_optimal  # no iteration is needed
    assert one.solve_warm(*sides(0, 1), np.inf).stop_reason is StopReason.ITERATION_LIMIT
    assert one.solve(*sides(1, 0.5), np.inf).is_optimal


def balance_model() -> MipModel:
    """Two flows that a binary each opens, and a demand of three that both must meet together."""
    return model_of(
        [5, 4, 1, 2],
        [[0, 0, 1, 1], [-2, 0, 1, 0], [0, -2, 0, 1]],
        [3, -np.inf, -np.inf],
        [3, 0, 0],
        0.0,
        [1, 1, 10, 10],
        [True, True, False, False],
    )


def test_a_walkers_rough_point_becomes_the_best_of_its_integers():
    with Polisher(balance_model()) as polisher:
        polished = polisher.polish(np.array([0.9999999, 1, 0, 7.0]))
    assert polished.status is PolishStatus.OPTIMAL
    np.testing.assert_allclose(polished.x, [1, 1, 2, 1])
    assert polished.objective == pytest.approx(13)


def test_rows_out_of_reach_are_named_without_an_lp():
    model = balance_model()
    with Polisher(model) as polisher:
        polished = polisher.polish(np.array([0, 0, 3.0, 0]))
    assert polished.status is PolishStatus.INFEASIBLE
    assert set(polished.conflict) <= {0, 1, 2}
    only_integers = model_of([1, 1], [[1, 1]], [1], [1], 0, 1, True)
    with Polisher(only_integers) as polisher:
        polished = polisher.polish(np.array([1.0, 1.0]))
    assert polished.status is PolishStatus.INFEASIBLE
    assert list(polished.conflict) == [0]
    assert polished.iterations == 0


def test_a_model_of_integers_is_only_rounded_and_checked():
    model = model_of([2, 3], [[1, 1]], [1], [2], 0, 1, True, offset=1)
    with Polisher(model) as polisher:
        polished = polisher.polish(np.array([1e-7, 1 - 1e-7]))
    assert polished.status is PolishStatus.OPTIMAL
    np.testing.assert_array_equal(polished.x, [0, 1])
    assert polished.objective == 4


def test_without_time_a_feasible_point_is_kept_as_it_is():
    with Polisher(balance_model()) as polisher:
        kept = polisher.polish(np.array([1, 1, 1.0, 2.0]), seconds=0)
        nothing = polisher.polish(np.array([1, 1, 0.0, 0.0]), seconds=0)
    assert kept.status is PolishStatus.FEASIBLE
    assert kept.objective == pytest.approx(14)
    assert nothing.status is PolishStatus.LIMIT
    assert nothing.x is None


def test_an_lp_without_limit_still_gives_a_feasible_point():
    model = model_of([0, -1], [[1, 1]], [2], [np.inf], [0, 0], [1, np.inf], [True, False])
    with Polisher(model) as polisher:
        polished = polisher.polish(np.array([1.0, 0.0]))
        again = polisher.polish(np.array([0.0, 0.0]))
    assert polished.status is PolishStatus.FEASIBLE
    assert is_feasible(model, polished.x)
    assert again.status is PolishStatus.FEASIBLE


def test_awkward_models():
    no_rows = model_of([1, -1], np.zeros((0, 2)), [], [], [0, 0], [3, 4], [True, False])
    with Polisher(no_rows) as polisher:
        np.testing.assert_array_equal(polisher.polish(np.array([1.2, 0])).x, [1, 4])
    empty_column_and_row = model_of(
        [0, 1, 0], [[0, 0, 0], [1, 0, 1]], [-1, 1], [1, 1], [0, 2, 0], [1, 5, 1], [1, 0, 0]
    )
    with Polisher(empty_column_and_row) as polisher:
        np.testing.assert_array_equal(polisher.polish(np.array([0, 4.0, 0])).x, [0, 2, 1])
        wild = polisher.polish(np.array([np.nan, np.inf, -np.inf]))
        np.testing.assert_array_equal(wild.x, [0, 2, 1])
    free_integer = model_of([1, 0], [[1, -1]], [0], [0], -np.inf, np.inf, [True, False])
    with Polisher(free_integer) as polisher:
        np.testing.assert_array_equal(polisher.polish(np.array([-7.4, 0])).x, [-7, -7])


def test_many_threads_may_share_one():
    model = random_model(3, rows=3, columns=12, slack=12)
    rng = np.random.default_rng(0)
    points = [model.rounded(rng.uniform(model.lower, model.upper)) for _ in range(24)]
    answers: dict[int, float] = {}
    with Polisher(model) as polisher:

        def work(first: int) -> None:
            for k in range(first, len(points), 4):
                answers[k] = polisher.polish(points[k]).objective

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Polisher(model) as polisher:
        alone = [polisher.polish(x).objective for x in points]
    assert np.isfinite(alone).sum() >= 3
    np.testing.assert_allclose([answers[k] for k in range(len(points))], alone, atol=1e-6)


def test_the_same_points_in_the_same_order_give_the_same_bits():
    model = random_model(11, rows=8, columns=16, slack=12)
    rng = np.random.default_rng(1)
    points = [model.rounded(rng.uniform(model.lower, model.upper)) for _ in range(12)]

    def run() -> list[bytes]:
        with Polisher(model) as polisher:
            answers = [polisher.polish(x) for x in points]
        return [b"" if a.x is None else a.x.tobytes() for a in answers]

    first = run()
    assert sum(map(len, first)) >= 3 * 8 * model.num_columns
    assert first == run()


def test_pdlp_takes_over_from_simplex_where_the_model_is_large(monkeypatch):
    monkeypatch.setattr(polisher_module, "LARGE_MODEL", 0)
    with Polisher(balance_model()) as polisher:
        polished = polisher.polish(np.array([1, 1, 0.0, 0.0]))
        hopeless = polisher.polish(np.array([0, 1, 0.0, 0.0]))
    assert polished.status is PolishStatus.OPTIMAL
    assert polished.objective == pytest.approx(13, abs=1e-4)
    assert not hopeless.status.has_point
    assert hopeless.x is None


def test_pdlp_stays_off_a_gpu_where_that_is_asked_for(monkeypatch):
    asked, solve = [], pdlp.solve

    def listen(problem, options, *rest):
        asked.append(options.device)
        return solve(problem, options, *rest)

    monkeypatch.setattr(polisher_module, "LARGE_MODEL", 0)
    monkeypatch.setattr(pdlp, "solve", listen)
    for device in ("cpu", "cuda:all"):
        with Polisher(balance_model(), device) as polisher:
            assert polisher.polish(np.array([1, 1, 0.0, 0.0])).status is PolishStatus.OPTIMAL
    assert asked == ["cpu", "auto"]


def test_where_simplex_takes_too_long_interior_point_goes_on(monkeypatch):
    rng = np.random.default_rng(2)
    matrix = np.hstack([rng.integers(1, 9, (40, 5)), rng.random((40, 60)) + 0.1])
    model = model_of(
        np.concatenate([np.ones(5), rng.random(60) + 0.5]),
        matrix,
        rng.random(40) * 50.0 + 40.0,
        np.full(40, np.inf),
        0.0,
        np.concatenate([np.ones(5), np.full(60, 99.0)]),
        np.arange(65) < 5,
    )
    x = np.concatenate([np.ones(5), np.zeros(60)])
    with Polisher(model) as polisher:
        by_simplex = polisher.polish(x)
    asked = []
    solve = WarmLp.solve

    def slow(self, channel, interior, **how):
        asked.append("ipm" if interior else "simplex")
        if not interior:
            return Solved(SolutionStatus.NOTHING, StopReason.TIME_LIMIT, None, None, 9)
        return solve(self, channel, interior=True, **how)

    monkeypatch.setattr(WarmLp, "solve", slow)
    with Polisher(model) as polisher:
        for _ in range(2):
            done = polisher.polish(x, 30.0)
            assert done.status is PolishStatus.OPTIMAL
            assert done.objective == pytest.approx(by_simplex.objective, rel=1e-6)
    assert asked == ["simplex", "ipm", "ipm"]
