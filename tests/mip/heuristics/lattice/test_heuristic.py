"""Which equations are solved in a lattice, and that it finds points where nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import mip
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.mip import heuristic_stage
from solvers.mip.heuristics.lattice.heuristic import Lattice
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.table import TABLE
from tests.mip.context_of import Taking, context_of, lines_of
from tests.mip.heuristics.lattice.models import model_of as system
from tests.mip.heuristics.lattice.models import random_system
from tests.mip.solutions.polish.test_polisher import model_of

LONG_TURNS = ("longer local search", "linear dive", "lazy clause", "meet in the middle")
"""Heuristics that come before, and find nothing here in turns of 100 million entries and more."""


def test_equations_that_only_imply_columns_take_no_lattice():
    """Two columns that are sums of others: a lattice would suit, but there is nothing to solve."""
    defining = np.hstack([np.ones((2, 3)), -np.eye(2)])
    defining[1, 0] = 2.0
    context = context_of(
        model_of(np.ones(5), defining, np.zeros(2), np.zeros(2), 0.0, np.full(5, 9.0), True)
    )
    lattice = Taking(Lattice, context)
    assert lattice.share() > 0.0
    lattice.run(Budget(work=1e6))
    assert lattice.share() == 0.0
    assert "'lattice' declines: the equations only imply columns" in lines_of(context)[0]


def test_equations_that_imply_nothing_are_solved_in_a_lattice():
    """3x + 5y + 7z = 23 leaves no column whole by itself."""
    row = np.array([[3.0, 5.0, 7.0]])
    context = context_of(
        model_of(np.ones(3), row, np.array([23.0]), np.array([23.0]), 0.0, np.full(3, 9.0), True)
    )
    Taking(Lattice, context).run(Budget(work=1e7))
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert row @ best.x == pytest.approx(23.0)


def test_a_solve_has_its_first_point_from_a_lattice_where_nothing_else_finds_one(monkeypatch):
    quick = tuple(row for row in TABLE if row.name not in LONG_TURNS)
    monkeypatch.setattr(heuristic_stage, "TABLE", quick)
    A, b, _ = random_system(3, 8, 60, largest=30)
    options = EngineOptions(
        heuristics_only=True,
        deterministic=True,
        work_limit=0.3,
        device="cpu",
        seed=1,
        presolve=False,
    )
    outcome = mip.solve(system(A, b).problem, options, Progress())
    assert outcome.pool[0].source == "lattice walk"
    np.testing.assert_array_equal(A @ outcome.x, b)
