"""Device code of the moves against its twin, bit for bit, and improvement on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from solvers.mip.heuristics.one_opt.improve import Walk, improve
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.one_opt.models import awkward_models, random_model

pytestmark = pytest.mark.gpu

CASES = [
    *awkward_models(),
    *((f"random {seed}", *random_model(seed)) for seed in range(20)),
    ("dense", *random_model(7, m=40, n=300, density=0.5)),
]


@pytest.mark.parametrize(("name", "model", "x"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("limit", [1, 31, 256])
def test_scores_are_those_of_the_twin(name, model, x, limit):
    gpu = find_device("cuda")
    columns = np.flatnonzero(model.cost != 0).astype(np.int32)[:3000]
    host = Walk(model, x, cpu())
    with gpu.activate():
        there = Walk(model, x, gpu)
        shifts = there.score_shifts(columns)
        expected = host.score_shifts(columns)
        assert all(map(np.array_equal, shifts, expected))
        blocking = expected[1]
        pairs = there.score_pairs(columns, blocking, 5, limit)
        assert all(map(np.array_equal, pairs, host.score_pairs(columns, blocking, 5, limit)))


def test_some_case_has_pairs():
    found = 0
    for _, model, x in CASES:
        columns = np.flatnonzero(model.cost != 0).astype(np.int32)[:3000]
        walk = Walk(model, x, None)
        blocking = walk.score_shifts(columns)[1]
        found += int((walk.score_pairs(columns, blocking, 0, 64)[0] >= 0).sum())
    assert found > 100


@pytest.mark.parametrize(("name", "model", "x"), CASES, ids=[case[0] for case in CASES])
def test_improvement_is_as_good_as_on_the_cpu(name, model, x):
    there = find_device("cuda")
    better = improve(model, x, Budget(seconds=5.0), 0, there)
    assert model.objective_at(better) <= model.objective_at(x)
    if model.num_columns <= 20:
        assert np.array_equal(better, improve(model, x, Budget(), 0))
