"""The CUDA source, run on the host, makes the same pivots as the twins."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.kernels.family import Family
from tests.emulator import emulated, needs_compiler
from tests.simplex.dense_gpu.cases import infeasible_problem, primal_problem, random_problem, run

pytestmark = needs_compiler


CASES = {
    "dense": (random_problem(11, 16, 1), ("dual", "primal")),
    "sparse": (random_problem(12, 30, 2, density=0.15, boxed=0.9), ("dual", "primal")),
    "infeasible": (infeasible_problem(6, 9, 3), ("dual",)),
    "primal": (primal_problem(12, 20, 4), ("primal",)),
    "unbounded": (primal_problem(5, 9, 5, bounded=False), ("primal",)),
    "one row": (random_problem(1, 3, 6), ("dual", "primal")),
}


@pytest.mark.parametrize("name", CASES)
def test_device_code_makes_the_pivots_of_the_twins(name, monkeypatch):
    problem, order = CASES[name]
    twins = run(problem, cpu(), order)
    launched = []

    def on_host(family, kernel):
        launched.append(kernel)
        return emulated(family)[kernel]

    monkeypatch.setattr(Family, "__getitem__", on_host)
    device = run(problem, cpu(), order)
    assert launched
    assert device.statuses == twins.statuses
    assert device.state.iterations == twins.state.iterations
    np.testing.assert_array_equal(device.state.basic, twins.state.basic)
    np.testing.assert_array_equal(device.state.status, twins.state.status)
    np.testing.assert_allclose(device.state.x, twins.state.x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        device.state.edge_weight, twins.state.edge_weight, rtol=1e-7, atol=1e-9
    )
