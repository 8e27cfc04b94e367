"""Whole runs on the CPU: what is submitted holds, small optima are reached, and runs repeat."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from solvers.core.device import cpu
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search import run as run_module
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.run import run_walkers
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import Found, InfeasiblePoints, Pool
from tests.mip.heuristics.local_search.cases import CASES, INF, model_of


class Acceptance:
    """Takes points as the real acceptance does, but checks only."""

    def __init__(self, model: MipModel) -> None:
        self.model = model
        self.pool = Pool(8, model.integers)
        self.sources: set[str] = set()
        self.refused = 0

    def __call__(self, x: np.ndarray, source: str) -> bool:
        self.sources.add(source)
        if not is_feasible(self.model, x):
            self.refused += 1
            return False
        return self.pool.add(Found(x, self.model.objective_at(x), 0.0, source))


def optimum(model: MipModel) -> float:
    problem = model.problem
    rows = LinearConstraint(problem.matrix, problem.row_lower, problem.row_upper)
    found = milp(
        problem.cost,
        constraints=rows if problem.num_rows else None,
        bounds=Bounds(model.lower, model.upper),
        integrality=model.is_integer,
    )
    assert found.success
    return float(found.fun)


def search(
    model: MipModel, work: float, seed: int = 1, **more: object
) -> tuple[Acceptance, object]:
    acceptance = Acceptance(model)
    counts = run_walkers(
        model,
        cpu(),
        acceptance,
        Budget(work=work),
        seed,
        pool=acceptance.pool,
        **more,  # type: ignore[arg-type]
    )
    return acceptance, counts


@pytest.mark.parametrize(
    ("name", "work"), [("covering", 4e6), ("partition", 4e6), ("single", 8e5), ("no rows", 8e5)]
)
def test_small_optima_are_reached(name, work):
    model = CASES[name]()
    acceptance, counts = search(model, work)
    assert acceptance.pool.objective == pytest.approx(optimum(model))
    assert acceptance.refused == 0
    assert acceptance.sources == {"local search on the GPU"}
    assert counts.walkers == 4
    assert 0 < counts.submitted <= counts.found
    assert counts.steps == counts.slices * counts.walkers * run_module.UNTIMED_STEPS


def test_general_integers_reach_their_optimum():
    rng = np.random.default_rng(5)
    weights = rng.integers(3, 12, (2, 8)).astype(float)
    model = model_of(-rng.integers(4, 15, 8), weights, [-INF, -INF], [60.0, 55.0], 0.0, 4.0)
    acceptance, _ = search(model, 4e6)
    assert acceptance.pool.objective == optimum(model)


def test_a_run_without_an_objective_ends_at_its_first_point():
    acceptance, counts = search(CASES["no objective"](), 1e9)
    assert len(acceptance.pool) >= 1
    assert counts.visited < 1e8


def test_the_same_seed_offers_the_same_points():
    model = CASES["covering"]()
    runs = [search(model, 3e5, seed) for seed in (1, 1, 2)]
    points = [[tuple(found.x) for found in acceptance.pool.points()] for acceptance, _ in runs]
    assert points[0] == points[1]
    assert runs[0][1].moves == runs[1][1].moves
    assert runs[0][1].visited == runs[1][1].visited != runs[2][1].visited


def test_nothing_is_offered_that_does_not_hold():
    """x + y = 1 and x + y = 2 cannot both hold; the least violated point is shown instead."""
    model = model_of([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0], [1.0, 2.0])
    shown = InfeasiblePoints()
    acceptance, counts = search(model, 6e6, infeasible_points=shown)
    assert len(acceptance.pool) == 0
    assert counts.submitted == 0
    assert counts.rounds >= 1
    assert len(shown)
    assert all(one.violated_rows >= 1 and set(one.x) <= {0.0, 1.0} for one in shown.points())


def test_nearly_feasible_points_of_mixed_models_are_offered_for_completion():
    """Two continuous columns and two equations that no walk of single steps meets exactly."""
    matrix = [[1.0, 1.0, 3.7], [1.0, -1.0, 1.3], [0.0, 0.0, 1.0]]
    sides = [7.31, 0.77, 1.0]
    model = model_of([1.0, 1.0, 0.0], matrix, sides, sides, 0.0, 9.0, [False, False, True])
    rows = sp.csr_matrix(matrix[:2])
    assert rows.shape == (2, 3)
    acceptance, counts = search(model, 2e6)
    assert counts.infeasible_points + counts.submitted >= 1
    assert all(is_feasible(model, found.x) for found in acceptance.pool.points())


def test_a_better_point_from_elsewhere_is_what_has_to_be_beaten():
    model = CASES["covering"]()
    acceptance = Acceptance(model)
    best, _ = search(model, 4e6)
    known = best.pool.best
    assert known is not None
    acceptance.pool.add(known)
    counts = run_walkers(model, cpu(), acceptance, Budget(work=3e5), 2, pool=acceptance.pool)
    assert counts.submitted == 0


def test_walkers_go_on_from_the_best_point_of_the_pool(monkeypatch):
    shown: list[np.ndarray] = []
    followed: list[int] = []

    class Watched(run_module.Fleet):
        def set_points(self, points):
            shown.append(points[0].copy())
            super().set_points(points)

        def restart(self, origins, weights, shares):
            followed.append(int(np.sum(origins == self.walkers)))
            super().restart(origins, weights, shares)

    monkeypatch.setattr(run_module, "Fleet", Watched)
    model = CASES["covering"]()
    acceptance, counts = search(model, 2e7)
    best = acceptance.pool.best
    assert best is not None
    assert np.array_equal(shown[-1], Layout.of(model, wide=True).values_of(best.x))
    assert counts.rounds == len(followed) - 1
    assert sum(followed[1:]) > 0


def test_a_full_memory_means_fewer_walkers_and_then_none(monkeypatch):
    model, lines, tried = CASES["covering"](), [], []

    class Full:
        def __init__(self, layout, device, plan, seed):
            tried.append(plan.ladder[-1])
            raise MemoryError

    monkeypatch.setattr(run_module, "Fleet", Full)
    counts = run_walkers(model, cpu(), Acceptance(model), Budget(work=1e6), 1, log=lines.append)
    assert counts.walkers == 0
    assert tried == [4, 2, 1]
    assert "goes on without it" in lines[-1]


def test_an_attempt_that_filled_the_memory_is_gone_before_the_next(monkeypatch):
    model, attempts, held = CASES["covering"](), [], []

    class Filling(run_module.Fleet):
        def __init__(self, *arguments):
            gc.collect()
            held.extend(one for one in attempts if one() is not None)
            super().__init__(*arguments)
            attempts.append(weakref.ref(self))

        def launch(self, steps, walkers=None):
            raise MemoryError

    monkeypatch.setattr(run_module, "Fleet", Filling)
    run_walkers(model, cpu(), Acceptance(model), Budget(work=1e6), 1)
    assert len(attempts) == 3
    assert not held


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(run_module, "Fleet", broken)
    with pytest.raises(ValueError, match="broken"):
        search(CASES["covering"](), 1e6)


def test_a_spent_budget_and_an_empty_model_cost_nothing():
    assert search(CASES["covering"](), 0.0)[1].slices == 0
    empty = model_of(np.zeros(0), None, -INF, INF)
    assert search(empty, 1e6)[1].slices == 0


def test_walkers_leave_the_device_the_share_that_is_not_theirs(monkeypatch):
    """A quarter is theirs: after slices of 0.04 seconds they pause for 0.12."""
    pauses: list[float] = []

    class Steady(run_module.Fleet):
        def seconds(self):
            return 0.04

    monkeypatch.setattr(run_module, "Fleet", Steady)
    monkeypatch.setattr(run_module.time, "sleep", pauses.append)
    acceptance = Acceptance(CASES["covering"]())
    budget = Budget(seconds=600.0, stop=lambda: len(pauses) >= 5)
    counts = run_walkers(
        acceptance.model, cpu(), acceptance, budget, 1, pool=acceptance.pool, share=lambda: 0.25
    )
    assert counts.slices == 5
    assert pauses == [pytest.approx(0.12)] * 5


def test_nearly_feasible_points_of_others_are_places_to_restart_from():
    model = model_of([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0], [1.0, 2.0])
    infeasible_points, asked = InfeasiblePoints(), []
    infeasible_points.add(np.array([0.0, 1.0]), 1)

    class Asked(InfeasiblePoints):
        def points(self):
            asked.append(True)
            return infeasible_points.points()

    _, counts = search(model, 6e6, infeasible_points=Asked())
    assert asked
    assert counts.restarts >= counts.rounds >= 1


def test_a_timed_run_ends_in_time_with_points():
    acceptance = Acceptance(CASES["covering"]())
    run_walkers(
        acceptance.model, cpu(), Acceptance(acceptance.model), Budget(work=1e5), 1
    )  # compiles
    counts = run_walkers(
        acceptance.model, cpu(), acceptance, Budget(seconds=0.5), 1, pool=acceptance.pool
    )
    assert counts.slices >= 1
    assert len(acceptance.pool) >= 1
