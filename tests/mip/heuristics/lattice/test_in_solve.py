from __future__ import annotations

import numpy as np

from solvers import mip
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.mip.portfolio import table
from tests.mip.heuristics.lattice.models import model_of, random_system

LONG_TURNS = ("walk on", "linear dive", "clauses", "sums")
"""Heuristics that come before, and find nothing here in turns of 100 million entries and more."""


def test_a_solve_has_its_first_point_from_a_lattice_where_nothing_else_finds_one(monkeypatch):
    every = table.activities

    def quick(*arguments, **more):
        return [one for one in every(*arguments, **more) if one.name not in LONG_TURNS]

    monkeypatch.setattr(table, "activities", quick)
    A, b, _ = random_system(3, 8, 60, largest=30)
    options = EngineOptions(
        heuristics_only=True, deterministic=True, work_limit=0.3, device="cpu", seed=1
    )
    outcome = mip.solve(model_of(A, b).problem, options, Progress())
    assert outcome.pool[0].source == "lattice walk"
    np.testing.assert_array_equal(A @ outcome.x, b)
