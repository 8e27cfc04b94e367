"""Dives on a GPU find the points that their twins find, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from solvers.mip.heuristics.diving.batched import run_dives
from solvers.mip.inference.cliques import find_cliques
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.diving.batched.test_dives import Collect, assignment
from tests.mip.inference.propagation.models import AWKWARD, random_model

pytestmark = pytest.mark.gpu

MODELS = {
    **AWKWARD,
    "assignment": lambda: assignment(9),
    "whole": lambda: random_model(5, 40, 70)[0],
    "mixed": lambda: random_model(6, 40, 70, mixed=True)[0],
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_reference", [False, True])
def test_same_points_as_on_the_cpu(name, with_reference):
    model = MODELS[name]()
    reference = np.full(model.num_columns, 0.4) if with_reference else None
    found = []
    for device in (cpu(), find_device("cuda")):
        with device.activate():
            submit = Collect(model)
            counts = run_dives(
                DeviceModel.of(model, device),
                model,
                submit,
                Budget(work=2e6),
                7,
                reference=reference,
                cliques=find_cliques(model),
            )
            found.append((counts, submit.points))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
