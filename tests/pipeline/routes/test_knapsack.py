"""The route of knapsack problems."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.pipeline.registry import choose
from gpu_bridge.pipeline.routes import knapsack
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress


@pytest.mark.parametrize("method", ["auto", "knapsack"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_the_engine_may_move_long_lists_to_the_device_asked_for(method, device, monkeypatch):
    asked = []

    def pack(problem, options, progress):
        asked.append(options.device)
        return Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)

    monkeypatch.setattr("solvers.knapsack.solve", pack, raising=False)
    problem = Problem.from_arrays(
        [-6.0, -5.0, -4.0], [[3.0, 2.0, 2.0]], -np.inf, 4.0, upper=1.0, integrality=True
    )
    options = make_options({"method": method, "device": device})
    choice = choose(problem, options)
    assert (choice.method, choice.device) == ("knapsack", "cpu")
    knapsack.run(problem, options, choice, Progress(), None)
    assert asked == [device]
