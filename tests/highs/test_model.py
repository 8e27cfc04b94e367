"""What HiGHS is handed: integer bounds, tiny and huge coefficients, options."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.highs.in_process import ProgressChannel, in_thread
from solvers.highs.model import lp_settings, mip_settings, prepare
from solvers.highs.session import Session
from solvers.highs.task import Quiet
from tests.highs.kkt import assert_optimal_lp
from tests.highs.models import covering, market_split


def test_integer_bounds_are_rounded_inwards_and_rounding_is_forgiven():
    problem = Problem.from_arrays(
        [0, 0, 0], lower=[0.3, 1.0000000001, 0.5], upper=[2.7, 2, 9], integrality=[1, 1, 0]
    )
    prepared = prepare(problem)
    np.testing.assert_array_equal(prepared.model.lower, [1.0, 1.0, 0.5])
    np.testing.assert_array_equal(prepared.model.upper, [2.0, 2.0, 9.0])
    assert prepared.empty_column is None


def test_an_integer_column_without_an_integer_is_named():
    problem = Problem.from_arrays(
        [0, 0], lower=0.2, upper=[1, 0.8], integrality=True, column_names=["a", "b"]
    )
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert "'b'" in outcome.message
    assert "0.2" in outcome.message


@pytest.mark.parametrize("tiny", [1e-12, 3e-13, 1e-14, 1e-10])
def test_tiny_coefficients_count(tiny):
    problem = Problem.from_arrays([1, 0], [[tiny, 0], [0, 1]], [tiny * 1e6, 1], upper=1e9)
    outcome = solve(problem, EngineOptions(presolve=False), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.x[0] == pytest.approx(1e6)
    assert outcome.row_dual[0] == pytest.approx(1 / tiny)
    assert outcome.row_activity[0] == pytest.approx(tiny * 1e6)


@pytest.mark.parametrize("huge", [1e9, 1e12, 1e15, 1e18])
def test_huge_coefficients_count(huge):
    problem = Problem.from_arrays([1, 3], [[huge, 1], [0, 1]], [huge, 1])
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(4.0)
    assert_optimal_lp(problem, outcome)


def test_a_row_beyond_reach_is_named():
    problem = Problem.from_arrays([1, 1], [[1e-14, 1e14]], [1], row_names=["capacity"])
    with pytest.raises(EngineError, match=r"'capacity' run from 1e-14 to 1e\+14"):
        solve(problem, EngineOptions(), Progress())


@pytest.mark.parametrize("size", [1e13, 1e15, 1e17])
def test_knapsacks_of_huge_weights_are_solved(size):
    rng = np.random.default_rng(3)
    for _ in range(12):
        weight, profit = np.floor(rng.random((2, 6)) * [[size], [1e6]])
        capacity = np.floor(weight.sum() * rng.random())
        choices = [np.array(x) for x in itertools.product([0, 1], repeat=6)]
        fitting = [x for x in choices if sum(int(w) for w in weight[x == 1]) <= int(capacity)]
        problem = Problem.from_arrays(
            -profit, [weight], row_upper=[capacity], upper=1.0, integrality=True
        )
        outcome = solve(problem, EngineOptions(rel_gap=0.0), Progress())
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert outcome.objective == -max(float(profit @ x) for x in fitting)


def test_rows_of_ordinary_size_are_not_scaled():
    assert prepare(market_split(4, 20)).row_scale is None


def test_duals_go_in_and_out_by_the_row_scale():
    problem = Problem.from_arrays([1, 1], [[1e-13, 1], [1, 1]], [1, 1])
    prepared = prepare(problem)
    scale = prepared.row_scale
    assert np.log2(scale) == pytest.approx(np.round(np.log2(scale)))
    assert scale[1] == 1.0
    duals = np.array([3.0, 4.0])
    np.testing.assert_array_equal(prepared.duals_back(prepared.duals_in(duals)), duals)


def test_a_large_cost_counts():
    problem = Problem.from_arrays([1e21, 1], [[1, 1]], [1])
    outcome = solve(problem, EngineOptions(), Progress())
    np.testing.assert_allclose(outcome.x, [0.0, 1.0], atol=1e-9)


def test_options_reach_highs():
    options = EngineOptions(
        tolerance=1e-9, seed=7, threads=3, rel_gap=0.1, abs_gap=2.0, node_limit=5, presolve=False
    )
    linear, mixed = lp_settings(options), mip_settings(options)
    assert linear["primal_feasibility_tolerance"] == pytest.approx(1e-10)
    assert mixed["mip_rel_gap"] == 0.1
    assert mixed["mip_abs_gap"] == 2.0
    assert mixed["mip_max_nodes"] == 5
    assert mixed["threads"] == 3
    assert linear["random_seed"] == mixed["random_seed"] == 7
    assert linear["presolve"] == mixed["presolve"] == "off"


@pytest.mark.parametrize("algorithm", ["auto", "simplex", "ipm", "pdlp"])
@pytest.mark.parametrize("tolerance", [1e-10, 1e-6, 1e-1])
def test_highs_accepts_every_setting(algorithm, tolerance):
    options = EngineOptions(
        lp_algorithm=algorithm, tolerance=tolerance, integrality_tolerance=tolerance
    )
    channel = ProgressChannel(Progress())
    model = prepare(covering(3, 3)).model
    for settings in (lp_settings(options), mip_settings(options)):
        assert in_thread(lambda given=settings: Session(model, given, channel), channel)


def test_an_unknown_setting_is_refused():
    channel = ProgressChannel(Progress())
    with pytest.raises(EngineError, match="solver = 'hipo-not-there'"):
        Session(prepare(covering(3, 3)).model, {"solver": "hipo-not-there"}, channel)


def test_what_a_callback_raises_comes_out():
    class Broken(Progress):
        def engine_output(self, line: str) -> None:
            raise ZeroDivisionError(line)

    with pytest.raises(ZeroDivisionError):
        solve(covering(20, 10), EngineOptions(), Broken())


def test_a_quiet_channel_passes_on_the_wish_to_stop_and_nothing_else():
    progress = Progress()
    quiet = Quiet(ProgressChannel(progress))
    quiet.incumbent(1.0, np.zeros(1))
    quiet.bound(0.0)
    assert progress.history == ()
    assert quiet.stop() is None
    progress.interrupt()
    assert quiet.stop() is not None
    assert quiet.offered_point() is None


def test_answers_are_tight_where_simplex_leaves_residuals():
    problem = market_split().relaxation()
    outcome = solve(problem, EngineOptions(), Progress())
    np.testing.assert_allclose(problem.matrix @ outcome.x, problem.row_lower, rtol=1e-12)
