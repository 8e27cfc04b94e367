"""A brief solve of the reference engine: what it leaves out for tiny models."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.options import make_options
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import engine, under_way
from tests.highs.models import covering

JUMP = "mip_heuristic_run_feasibility_jump"


@pytest.mark.parametrize(("coefficients", "jumps"), [(198, False), (200, True)])
def test_tiny_models_are_solved_without_the_feasibility_jump(coefficients, jumps, monkeypatch):
    asked = []

    def run(task, *more):
        asked.append(task.settings)
        return with_its_settings(task, *more)

    with_its_settings = under_way.run
    monkeypatch.setattr(under_way, "run", run)
    columns = coefficients // 2
    problem = Problem.from_arrays(
        -np.arange(1.0, columns + 1.0),
        np.ones((2, columns)),
        row_upper=[3.0, 5.0],
        upper=1.0,
        integrality=True,
    )
    found, goes_on = engine.search_briefly(problem, make_options({}), Progress(), None, 60.0)
    assert goes_on is None
    assert found is not None
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert found.objective == -(3.0 * columns - 3.0)
    assert [settings.get(JUMP, True) for settings in asked] == [jumps]


@pytest.mark.parametrize("algorithm", ["auto", "simplex", "ipm", "pdlp"])
def test_a_brief_solve_is_by_the_algorithm_asked_for(algorithm):
    options = make_options({"lp_algorithm": algorithm, "crossover": "off"})
    found = engine.solve_briefly(
        covering(20, 30), options, Progress(), None, 60.0, lambda outcome: True
    )
    assert found is not None
    assert found.solution_status is SolutionStatus.OPTIMAL
    expected = "simplex" if algorithm == "auto" else algorithm
    assert found.statistics[f"{expected}_iterations"] > 0
