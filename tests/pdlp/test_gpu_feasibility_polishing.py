"""Ending a long solve at a feasible point near by, on a GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.lp_answer import judge
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.progress import Progress
from solvers.pdlp.feasibility_polishing import PolishingSchedule
from tests.pdlp.lps import random_lp
from tests.pdlp.test_feasibility_polishing import (
    EAGER,
    OPTIONS,
    SETTINGS,
    TOLERANCE,
    Listener,
    solved,
)

pytestmark = pytest.mark.gpu

ON_GPU = replace(OPTIONS, device="cuda")


@pytest.mark.parametrize("is_primal", [True, False])
def test_what_does_not_hold_is_mended_with_the_coefficients_that_are_there(is_primal, gpu):
    problem = random_lp(1, 30, 40)
    small = ("cost",) if is_primal else ("row_lower", "row_upper", "lower", "upper")
    problem = replace(problem, **{name: 1e-3 * getattr(problem, name) for name in small})
    answer = solved(problem)
    x, y = answer.x, answer.row_dual
    generator = np.random.default_rng(1)
    if is_primal:
        x = x + 1e-3 * generator.standard_normal(x.size)
    else:
        y = y + 1e-3 * generator.standard_normal(y.size)
    before = judge(problem, x, y)
    assert before.statistics.worst > TOLERANCE
    with gpu.activate():
        state = pdlp.prepare(problem, ON_GPU, gpu, Progress(), Start(x, y), SETTINGS)
        schedule = PolishingSchedule(SETTINGS, TOLERANCE, 0, pdlp.run)
        found, spent = schedule.polish(state, before, 1000, ON_GPU, Progress())
    assert found is not None
    assert spent > 0
    assert judge(problem, found.x, found.row_dual).statistics.worst <= TOLERANCE


def test_solves_on_the_gpu_end_so_or_by_themselves(gpu):
    """Blocks that are under way when a try is due may reach the optimum first."""
    often = EAGER.changed(restart={"check_interval": 5})
    tried = []
    for seed in range(10):
        problem = random_lp(seed, rows=40, columns=60)
        problem = replace(problem, cost=1e-3 * problem.cost)
        listener = Listener()
        options = replace(ON_GPU, tolerance=1e-6)
        outcome = pdlp.solve(problem, options, listener, settings=often)
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert judge(problem, outcome.x, outcome.row_dual).statistics.worst <= 1e-6
        tried.append(listener.tried)
    assert any(tried)
