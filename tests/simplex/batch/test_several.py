"""A batch over several devices: the answers of one, in their order."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import Device, cpu, list_devices
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch import BatchAnswer, BatchData, Ending, between, joined
from tests.simplex.batch.cases import member, mixed_batch
from tests.simplex.batch.checks import assert_right


def solve(data: BatchData, device: str, *, check: bool = False) -> BatchAnswer:
    return engine.solve(data, EngineOptions(device=device), Progress(), check=check)


def assert_same_answers(data: BatchData, one: BatchAnswer, several: BatchAnswer) -> None:
    assert np.array_equal(one.ending, several.ending)
    for k in range(data.count):
        assert_right(data, several, k)
        if one.ending[k] == Ending.OPTIMAL:
            here, there = (member(data, k).objective_at(answer.x[k]) for answer in (one, several))
            assert there == pytest.approx(here, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("count", [3, 7, 20])
@pytest.mark.parametrize("devices", [2, 3])
def test_answers_are_those_of_one_device(devices, count, monkeypatch):
    data = mixed_batch(4, count, 12, 15, whole=True)
    monkeypatch.setattr(engine, "find_devices", lambda wanted: (cpu(),) * devices)
    several = solve(data, "cuda:all")
    monkeypatch.undo()
    assert_same_answers(data, solve(data, "cpu"), several)


def test_another_solves_what_a_lost_gpu_had(monkeypatch):
    data = mixed_batch(4, 20, 12, 15, whole=True)
    lines: list[str] = []
    progress = Progress()
    monkeypatch.setattr(progress, "log", lines.append)
    lost = Device("cuda", "a lost one", index=1)
    error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda"})

    def solve_range(own: BatchData, place: str) -> BatchAnswer:
        if place == "cuda:1":
            raise error("unspecified launch failure")
        return solve(own, place)

    several = engine.solve_on_each(data, (cpu(), lost), solve_range, progress)
    assert_same_answers(data, solve(data, "cpu"), several)
    assert lines == [
        "cuda: a lost one was lost (unspecified launch failure); its 10 LPs go to the CPU."
    ]


def test_rays_keep_their_numbers():
    data = mixed_batch(4, 40, 12, 15, whole=True)
    whole = solve(data, "cpu")
    parts = [solve(between(data, *ends), "cpu") for ends in ((0, 9), (9, 40))]
    together = joined(parts)
    assert sorted(together.rays) == sorted(whole.rays)
    assert whole.rays, "some are unbounded"
    for k, ray in together.rays.items():
        np.testing.assert_allclose(ray, whole.rays[k], atol=1e-9)


@pytest.mark.gpu
def test_answers_of_several_gpus_are_those_of_one():
    if sum(device.kind == "cuda" for device in list_devices()) < 2:
        pytest.skip("one GPU")
    data = mixed_batch(5, 500, 20, 30, whole=True)
    one, several = (solve(data, device, check=True) for device in ("cuda", "cuda:all"))
    assert_same_answers(data, one, several)
    assert several.figures is not None
    assert several.figures.shape == one.figures.shape
