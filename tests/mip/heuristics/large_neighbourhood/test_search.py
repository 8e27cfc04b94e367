from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.large_neighbourhood.search import make_bandit, search_neighbourhoods
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.credit import Kind
from solvers.mip.solutions.incumbents import Found, Pool
from solvers.mip.submip import SubMip, solve_submip
from tests.mip.heuristics.large_neighbourhood.situations import greedy, packing, relaxation_of


class Acceptance:
    """Checks and keeps points, as the real one does, without polishing them."""

    def __init__(self, model: MipModel) -> None:
        self.model = model
        self.pool = Pool(10, model.integers)
        self.objectives: list[float] = []

    def __call__(self, x: np.ndarray, source: str) -> bool:
        point = self.model.rounded(x)
        assert is_feasible(self.model, point)
        self.objectives.append(self.model.objective_at(point))
        return self.pool.add(Found(point, self.objectives[-1], 0.0, source))


def optimum(model: MipModel) -> float:
    acceptance = Acceptance(model)
    solve_submip(model, SubMip(model.lower, model.upper), acceptance, Budget())
    return acceptance.pool.objective


def started(model: MipModel) -> Acceptance:
    acceptance = Acceptance(model)
    acceptance(greedy(model, np.random.default_rng(1)), "start")
    return acceptance


@pytest.mark.parametrize("relaxed", [False, True])
def test_the_search_improves_to_the_optimum_and_knows_when_it_has_seen_everything(relaxed):
    model = packing(1, columns=30, rows=12)
    acceptance = started(model)
    before = acceptance.pool.objective
    relaxation = relaxation_of(model) if relaxed else None
    bandit = make_bandit(model)
    search_neighbourhoods(
        model, acceptance.pool, acceptance, Budget(), 0,
        bandit=bandit, relaxation=lambda: relaxation,
    )  # fmt: skip
    best = optimum(model)
    assert before > best
    assert acceptance.pool.objective == pytest.approx(best, abs=1.01e-4 * abs(best))
    assert any(arm.gain > 0.0 for arm in bandit.arms)
    assert acceptance.pool.best.source.kind is Kind.NEIGHBOURHOODS


def test_the_same_seed_takes_the_same_path():
    model = packing(2, columns=40, rows=12)

    def run(seed: int) -> list[float]:
        acceptance = started(model)
        search_neighbourhoods(model, acceptance.pool, acceptance, Budget(work=1e6), seed)
        return acceptance.objectives

    first = run(4)
    assert len(first) > 1
    assert first == run(4)


def test_a_spent_budget_starts_nothing_and_a_stop_ends_it():
    model = packing(3, columns=400, rows=150)
    acceptance = started(model)
    bandit = make_bandit(model)
    search_neighbourhoods(model, acceptance.pool, acceptance, Budget(seconds=0), 0, bandit=bandit)
    assert not any(arm.plays for arm in bandit.arms)
    asked = threading.Event()
    budget = Budget(stop=asked.is_set)
    threading.Timer(0.2, asked.set).start()
    search_neighbourhoods(model, acceptance.pool, lambda x, source: False, budget, 0)
    assert asked.is_set()


def test_searches_side_by_side_share_what_they_learn():
    model = packing(4, columns=30, rows=10)
    acceptance = started(model)
    bandit = make_bandit(model)
    budget = Budget()

    def work(seed: int) -> None:
        search_neighbourhoods(model, acceptance.pool, acceptance, budget, seed, bandit=bandit)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(arm.plays for arm in bandit.arms) >= 3
    assert all(arm.pending == 0 for arm in bandit.arms)
    best = optimum(model)
    assert acceptance.pool.objective == pytest.approx(best, abs=1.01e-4 * abs(best))
