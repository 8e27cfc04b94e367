"""Probing in batches of boxes says what sequential probing says."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.mip.inference.probing import build_cache
from solvers.mip.inference.probing.build import DomainProber, split
from solvers.mip.inference.probing.on_device import BatchProber
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.portfolio.budget import Budget
from tests.mip.inference.probing.models import INF, feasible_points, model_of, random_model


def sides(probes):
    """Return what each side says, in any order."""
    for side in range(2 * len(probes)):
        part = slice(int(probes.start[side]), int(probes.start[side + 1]))
        entries = zip(probes.column[part], probes.low[part], probes.high[part], strict=True)
        yield int(probes.infeasible[side]), set(entries)


def assert_same_probes(model, device):
    nothing = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)
    one, two = DomainProber(model), BatchProber(model, DeviceModel.of(model, device))
    assert one.tighten(*nothing) == two.tighten(*nothing)
    first, second, possible = split(one.lower, one.upper)
    columns = np.flatnonzero(possible).astype(np.int32)
    if not columns.size:
        return 0
    arguments = columns, first[columns], second[columns]
    assert list(sides(one.probe(*arguments))) == list(sides(two.probe(*arguments)))
    assert list(sides(one.probe(*arguments))) == list(sides(two.probe(*arguments)))
    return columns.size


@pytest.mark.parametrize("seed", range(25))
def test_both_probers_say_the_same(seed):
    nothing = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)
    model = random_model(seed)
    if DomainProber(model).tighten(*nothing):
        assert_same_probes(model, cpu())


def test_a_cache_built_in_batches_loses_no_point():
    for seed in range(25, 40):
        model = random_model(seed)
        prober = BatchProber(model, DeviceModel.of(model, cpu()))
        cache = build_cache(model, prober, Budget(), 0)
        points = feasible_points(model)
        if cache.is_infeasible:
            assert not len(points)
            continue
        assert (points >= cache.lower).all()
        assert (points <= cache.upper).all()


def test_more_columns_than_lanes_are_taken_in_several_batches():
    matrix = np.eye(20)[:-1] - np.eye(20)[1:]
    model = model_of(matrix, -INF, 0)
    prober = BatchProber(model, DeviceModel.of(model, cpu()))
    cache = build_cache(model, prober, Budget(), 0)
    assert cache.num_probed == 20
    assert [cache.implied(0, side)[0].size for side in range(2)] == [0, 19]
    assert prober.work > 0
