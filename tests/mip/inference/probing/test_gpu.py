"""Probing on a GPU says what it says on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import find_device
from solvers.mip.inference.probing import build_cache
from solvers.mip.inference.probing.build import DomainProber
from solvers.mip.inference.probing.on_device import BatchProber
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.portfolio.budget import Budget
from tests.mip.inference.probing.models import INF, model_of, random_model
from tests.mip.inference.probing.test_batch import assert_same_probes

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("seed", range(25))
def test_both_probers_say_the_same(seed):
    nothing = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)
    model, gpu = random_model(seed), find_device("cuda")
    if DomainProber(model).tighten(*nothing):
        with gpu.activate():
            assert_same_probes(model, gpu)


def test_a_large_model_gives_the_same_cache():
    rng = np.random.default_rng(0)
    matrix = (rng.random((300, 200)) < 0.03) * rng.integers(-3, 4, (300, 200))
    upper = np.where(rng.random(200) < 0.8, 1, 5)
    model = model_of(matrix, -INF, np.maximum(0, matrix @ (upper // 2) + 1), upper=upper)
    gpu = find_device("cuda")
    with gpu.activate():
        prober = BatchProber(model, DeviceModel.of(model, gpu))
        there = build_cache(model, prober, Budget(), 0)
    here = build_cache(model, None, Budget(), 0)
    assert there.num_probed == here.num_probed > 50
    assert np.array_equal(there.lower, here.lower)
    assert np.array_equal(there.upper, here.upper)
    assert np.array_equal(there.conflicts, here.conflicts)
