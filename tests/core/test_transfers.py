"""Copies of large arrays, piece by piece through places that take turns."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core import transfers
from solvers.core.transfers import Pinned, copy, fetch, overwrite, send
from tests.emulator.gpu import EmulatedGpu, HostArray

GPU = EmulatedGpu("cuda", "the host")


@pytest.mark.parametrize("shape", [(0,), (1,), (1024,), (1025,), (5, 700), (3, 1, 1000)])
@pytest.mark.parametrize("kind", [np.float64, np.int32, np.uint8])
def test_arrays_arrive_whole_and_come_back(shape, kind, monkeypatch):
    monkeypatch.setattr(transfers, "PIECE", 1024)
    array = np.random.default_rng(0).integers(0, 200, shape).astype(kind)
    there = send(GPU.xp, array)
    assert there is not array
    assert there.dtype == kind
    np.testing.assert_array_equal(there, array)
    back = np.empty_like(array)
    fetch(GPU.xp, there, back)
    np.testing.assert_array_equal(back, array)
    overwrite(GPU.xp, there, array[::-1].copy())
    np.testing.assert_array_equal(there, array[::-1])


@pytest.mark.parametrize("size", [0, 1, 128, 129, 1000])
def test_elements_go_to_their_places(size, monkeypatch):
    monkeypatch.setattr(transfers, "PIECE", 1024)
    generator = np.random.default_rng(1)
    there, order = generator.random(size), generator.permutation(size).astype(np.int32)
    found = np.full(size, np.nan)
    fetch(GPU.xp, there.view(HostArray), found, order)
    assert np.array_equal(found[order], there)


def test_a_part_of_a_vector_is_fetched_alone(monkeypatch):
    monkeypatch.setattr(transfers, "PIECE", 1024)
    begun, begin = [], Pinned.begin_fetch
    monkeypatch.setattr(Pinned, "begin_fetch", lambda *of: begun.append(of[1].size) or begin(*of))
    there, found = np.arange(130.0), np.full(1000, np.nan)
    order = np.arange(990, 860, -1, dtype=np.int32)
    fetch(GPU.xp, there.view(HostArray), found, order)
    assert np.array_equal(found[order], there)
    assert np.isnan(found).sum() == 1000 - 130
    assert begun == [128, 2]


def test_another_type_is_converted_on_the_way():
    target = GPU.xp.empty(3, dtype=np.int32)
    with Pinned(GPU.xp) as pinned:
        pinned.send(np.array([1, 2, 2**31 - 1]), target)
    assert target.tolist() == [1, 2, 2**31 - 1]


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, (1 << 20) + 1, 12_000_001])
def test_memory_is_copied_on_any_number_of_threads(size):
    source = np.random.default_rng(1).integers(0, 255, size, dtype=np.uint8)
    target = np.zeros_like(source)
    copy(source, target)
    assert np.array_equal(source, target)
