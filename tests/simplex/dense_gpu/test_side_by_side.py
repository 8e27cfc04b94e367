"""Each kernel's CUDA source, run on the host, leaves what its twin leaves."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.problem import Problem
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu import arrays
from tests.emulator import emulated, needs_compiler
from tests.simplex.dense_gpu.cases import primal_problem, random_problem, run
from tests.simplex.dense_gpu.side_by_side import SideBySide

pytestmark = needs_compiler


def without_costs(columns: int) -> Problem:
    """Return a problem whose break points are equal but for the tolerance, and too many to hold."""
    problem = random_problem(3, columns, 5, boxed=1.0)
    return Problem.from_arrays(
        np.zeros(columns), problem.matrix, problem.row_lower, problem.row_upper,
        upper=problem.upper,
    )  # fmt: skip


def short_columns(rows: int, columns: int) -> Problem:
    """Return a problem in which right sides are listed once some columns are basic."""
    return random_problem(rows, columns, 3, density=2.5 / rows, boxed=0.8)


PROBLEMS = {
    "dense": (lambda: random_problem(20, 40, 1), ("dual", "primal")),
    "boxed": (lambda: random_problem(130, 160, 2, density=0.1, boxed=1.0), ("dual",)),
    "short columns": (lambda: short_columns(150, 220), ("dual", "primal")),
    "primal": (lambda: primal_problem(20, 30, 9), ("primal",)),
    "more break points than are held": (lambda: without_costs(1500), ("dual",)),
    "one row": (lambda: random_problem(1, 33, 6), ("dual",)),
    "one column": (lambda: random_problem(33, 1, 7), ("dual",)),
}


@pytest.mark.parametrize("steepest", [True, False], ids=["steepest", "devex"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_kernels_do_what_their_twins_do(name, steepest, monkeypatch):
    def on_host(family, kernel, values):
        copies = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        emulated(family)[kernel](*copies)
        return copies

    monkeypatch.setattr(arrays, "prices_by_steepest_edge", lambda *sizes: steepest)
    make, order = PROBLEMS[name]
    both = SideBySide(on_host, Family.__getitem__)
    monkeypatch.setattr(Family, "__getitem__", lambda family, kernel: both.kernel(family, kernel))
    run(make(), cpu(), order)
    assert both.calls["pivot_row"]
