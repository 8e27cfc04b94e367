"""Several GPUs of a host as one, beside one of them."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device, find_device, list_devices
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.pdlp import find_place
from solvers.pdlp.control import Control
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.distributed.test_group import PROBLEMS, after_blocks
from tests.pdlp.lps import random_lp
from tests.pdlp.solving import assert_kkt

pytestmark = pytest.mark.gpu

LAUNCHES = {"flow_up_to": -1, "barrier_from": 2**62, "launches_from": 0}


@pytest.fixture(scope="module")
def group() -> Device:
    if sum(device.kind == "cuda" for device in list_devices()) < 2:
        pytest.skip("one GPU")
    return find_place("cuda:all")


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_iterates_are_those_of_one_gpu(name, group):
    problem = PROBLEMS[name]()
    settings = DEFAULT.changed(execution=LAUNCHES)
    x, y, control = after_blocks(problem, find_device("cuda"), settings, (200,))
    x2, y2, control2 = after_blocks(problem, group, settings, (200,))
    if control[Control.RESTART] == 0.0:
        assert np.array_equal(x, x2)
        assert np.array_equal(y, y2)
    np.testing.assert_allclose(control2, control, rtol=1e-9, atol=1e-12)


def test_blocks_of_any_length_follow_each_other(group):
    problem = random_lp(9, 400, 600, density=0.05)
    lengths = (200, 200, 137, 200)
    one = after_blocks(problem, find_device("cuda"), DEFAULT, lengths)
    several = after_blocks(problem, group, DEFAULT, lengths)
    for here, there in zip(one, several, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_those_of_one_gpu(seed, group):
    problem = random_lp(seed, 600, 900, density=0.05)
    found = [
        pdlp.solve(problem, EngineOptions(device=device, tolerance=1e-8), Progress(60.0))
        for device in ("cuda", "cuda:all")
    ]
    for outcome in found:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)
    assert found[1].objective == pytest.approx(found[0].objective, rel=1e-6)
