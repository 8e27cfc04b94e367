"""Stages and searches on a GPU, against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from solvers.core.progress import Progress
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.gpu_lists import list_search, memory
from solvers.knapsack.dp.gpu_lists.kernels.stages import Field, Mode
from solvers.knapsack.dp.gpu_lists.list_search import Handover
from solvers.knapsack.exact_search import solve_knapsack
from tests.knapsack.brute import CLASSES, instance
from tests.knapsack.dp.gpu_lists.cases import (
    CASES,
    assert_same,
    changed,
    front,
    lists_of,
    seen,
    stages,
)
from tests.knapsack.dp.gpu_lists.test_search import (
    KINDS,
    go_on,
    ordered,
    packing,
    poor_start,
    start,
)

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu():
    return find_device("cuda")


@pytest.fixture(autouse=True)
def current(gpu):
    with gpu.activate():
        yield


def compare(case, gpu, **more):
    twin, there = stages(case, **more), stages(case, gpu, **more)
    for one, other in zip(twin, there, strict=True):
        assert_same(one, other)
    return twin


@pytest.mark.parametrize("name", CASES)
def test_stages_are_those_of_the_twin(name, gpu):
    compare(CASES[name], gpu)
    compare(CASES[name], gpu, each=16)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [100_000, 1_000_003])
def test_long_lists(count, seed, gpu):
    gap = (2, 50, 1000, 10**6)[seed]
    case = front(count, seed, items=24, gap=gap, best=0.99999)
    found = compare(changed(case, room=3 * count), gpu, each=4)
    assert found[0]["VISITED"] > 2 * count


def test_a_list_of_ten_million(gpu):
    count = 10**7
    case = front(count, 5, gap=20, best=0.0)
    found = compare(changed(case, room=2 * count), gpu, each=16)
    assert found[0]["VISITED"] > 2 * count


def test_stages_repeated_are_the_same(gpu):
    case = changed(front(3_000_000, 6, items=24, best=0.99), room=10**7)
    first = stages(case, gpu, each=8)
    for _ in range(5):
        for one, other in zip(first, stages(case, gpu, each=8), strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("mode", range(8))
@pytest.mark.parametrize("count", [1, 1792, 2_000_001])
def test_states_are_chosen_as_by_the_twin(mode, count, gpu):
    case = front(count, 4)
    found = []
    for device in (cpu(), gpu):
        lists = lists_of(case, device)
        lists[Field.COMES_PROFIT], lists[Field.COMES_WEIGHT] = 11, 10
        lists[Field.GOES_PROFIT], lists[Field.GOES_WEIGHT] = 13, 10
        by_bound = int(case.states.profit[count // 2])
        lists[Field.LEVEL] = count // 3 if mode & Mode.PLACES else by_bound
        length = lists.choose(mode)
        found.append(seen(lists, 0 if mode & Mode.COUNTING else length, other=True))
    assert_same(*found)


@pytest.mark.parametrize("blocks", [1, 7, 100_000])
def test_any_number_of_blocks_gives_the_same(blocks, gpu, monkeypatch):
    case = changed(front(200_000, 8, items=20, best=0.999), room=10**6)
    usual = stages(case, gpu)
    monkeypatch.setattr(memory, "_blocks", lambda device: blocks)
    for one, other in zip(usual, stages(case, gpu), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("room", [32, 10**6])
@pytest.mark.parametrize("kind", KINDS)
def test_searches_are_those_of_the_twin(kind, room, gpu, monkeypatch):
    monkeypatch.setattr(list_search, "FIRST_ROOM", 16)
    items = ordered(kind)
    here, there = start(items, room=room), start(items, room=room, device=gpu)
    for one in (here, there):
        assert one.run(go_on)
    assert (there.profit, there.visited) == (here.profit, here.visited)
    assert packing(items, there.found) == there.profit == there.bound()


@pytest.mark.parametrize("trail", [0.0, 0.25])
def test_histories_are_followed(trail, gpu, monkeypatch):
    monkeypatch.setattr(list_search, "HISTORY_SHARE", trail)
    items = ordered("circle", 2000, 10**6, 2)
    there = start(items, device=gpu)
    assert there.run(go_on)
    assert there._history.before is not None
    assert packing(items, there.found) == there.profit


def test_a_stopped_search_has_the_twins_bound(gpu):
    items = ordered("circle", 2000, 10**6, 2)
    here, there = start(items), start(items, device=gpu)
    for _ in range(5):
        for one in (here, there):
            one.run(go_on, work=200_000)
        assert (there.profit, there.bound()) == (here.profit, here.bound())


@pytest.mark.parametrize("kind", CLASSES)
def test_whole_solves(kind, monkeypatch):
    monkeypatch.setattr(list_search, "LONG_LIST", 100)
    problem = instance(kind, 500, 10**5, 3)
    here = solve_knapsack(problem, Progress(20.0))
    there = solve_knapsack(problem, Progress(60.0), device="cuda")
    assert there.profit >= here.profit
    assert there.bound <= here.bound
    assert problem.value_of(there.x) == (there.profit, problem.value_of(there.x)[1])


def test_a_search_of_the_cpu_goes_on_there():
    items, said = ordered("circle", 1000, 10**7, 1), []
    place = Handover("cuda", said.append)
    helped = CoreSearch(items, poor_start(items) - 1, items.dantzig_bound, 10**6, place)
    assert helped.run(go_on)
    result = helped.result()
    assert place._device is not None  # it was asked for
    assert said == []
    assert result.profit == result.bound == 5_020_513_070
    assert items.profit[result.packed].sum() == result.profit


def test_without_memory_on_the_gpu_the_cpu_goes_on(gpu, monkeypatch):
    def full(*given):
        gpu.xp.empty(2**50, dtype=np.int8)

    monkeypatch.setattr(list_search, "GpuListSearch", full)
    monkeypatch.setattr(list_search, "LONG_LIST", 100)
    items, said = ordered("almost", 1000, 10**5, 2), []
    start = poor_start(items) - 1
    helped = CoreSearch(items, start, items.dantzig_bound, 10**6, Handover("cuda", said.append))
    assert helped.run(go_on)
    assert len(said) == 1
    assert "out of memory" in said[0]
