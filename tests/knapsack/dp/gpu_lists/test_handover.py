"""Lists of a search on the CPU that go on on a GPU, and come back where there is no memory."""

from __future__ import annotations

import pytest

from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack import engine
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.gpu_lists import list_search, memory
from solvers.knapsack.dp.gpu_lists.list_search import Handover
from solvers.knapsack.exact_search import solve_knapsack
from tests.emulator.gpu import EmulatedGpu
from tests.knapsack.brute import instance
from tests.knapsack.dp.gpu_lists.test_search import go_on, ordered, poor_start

GPU = EmulatedGpu("cuda", "a GPU", memory_free=2**28)
DEVICE_FOR = list_search.device_for


class Place(Handover):
    """Notes how many lists it took."""

    begun = 0

    def begin(self, *given):
        self.begun += 1
        return super().begin(*given)


@pytest.fixture(autouse=True)
def gpu(monkeypatch, device_code):
    monkeypatch.setattr(memory, "FAMILY", device_code)
    monkeypatch.setattr(list_search, "device_for", lambda wanted: GPU if wanted == "cuda" else None)
    monkeypatch.setattr(list_search, "LONG_LIST", 100)
    monkeypatch.setattr(list_search, "FIRST_ROOM", 2**12)


def searches(items, place, room=10**6):
    start = poor_start(items) - 1  # below the break solution's profit: both begin with its packing
    alone = CoreSearch(items, start, items.dantzig_bound, room)
    helped = CoreSearch(items, start, items.dantzig_bound, room, place)
    return alone, helped


def assert_packing(items, result):
    assert items.profit[result.packed].sum() == result.profit
    assert items.weight[result.packed].sum() <= items.capacity


@pytest.mark.parametrize(
    ("kind", "n", "largest"), [("almost", 1000, 10**5), ("circle", 300, 10**5)]
)
def test_a_long_list_goes_on_on_a_gpu(kind, n, largest):
    items, said = ordered(kind, n, largest, 2), []
    place = Place("cuda", said.append)
    alone, helped = searches(items, place)
    assert alone.run(go_on)
    assert helped.run(go_on)
    assert place.begun == 1
    assert place.search is None
    assert helped.result().profit == helped.result().bound == alone.result().profit
    assert_packing(items, helped.result())
    assert said == []


def test_a_search_on_a_gpu_can_be_stopped_told_and_gone_on_with():
    items = ordered("almost", 1000, 10**5, 2)
    place = Place("cuda", print)
    alone, helped = searches(items, place)
    alone.run(go_on)
    assert not helped.run(go_on, work=20_000)
    while not helped.run(go_on, work=20_000):
        assert place.search is not None
        assert helped.profit <= alone.profit <= helped.result().bound <= items.dantzig_bound
        assert_packing(items, helped.result())
    assert helped.result().profit == alone.profit
    again = searches(items, place)[1]
    assert not again.run(go_on, work=20_000)
    assert place.search is not None
    again.improve(alone.profit, alone.result().packed)
    again.lower(alone.profit)
    assert again.run(go_on)
    assert again.result().packed is alone.result().packed


@pytest.mark.parametrize("most_bytes", [0, 2**15])
def test_without_memory_the_cpu_goes_on(most_bytes, monkeypatch):
    monkeypatch.setattr(EmulatedGpu, "most_bytes", most_bytes)
    items, said = ordered("almost", 1000, 10**5, 2), []
    place = Place("cuda", said.append)
    alone, helped = searches(items, place)
    assert alone.run(go_on)
    assert helped.run(go_on)
    assert place.begun == 1
    assert said == ["a GPU is out of memory; going on on the CPU."]
    assert helped.result().profit == alone.profit
    assert_packing(items, helped.result())


def test_memory_that_ends_midway_brings_the_list_back(monkeypatch):
    items, said = ordered("almost", 1000, 10**5, 2), []
    place = Place("cuda", said.append)
    alone, helped = searches(items, place)
    alone.run(go_on)
    assert not helped.run(go_on, work=20_000)
    assert place.search is not None

    def full(lists):
        raise MemoryError

    monkeypatch.setattr(memory.GpuLists, "run_batch", full)
    assert helped.run(go_on)
    assert len(said) == 1
    assert helped.result().profit == alone.profit
    assert_packing(items, helped.result())


def test_the_device_option_reaches_the_search(monkeypatch):
    wanted = []

    class Noted(Handover):
        def __init__(self, device, say):
            wanted.append(device)
            super().__init__(device, say)

    monkeypatch.setattr("solvers.knapsack.exact_search.Handover", Noted)
    hard = instance("circle", 300, 10**5, 2)
    problem = Problem.from_arrays(
        -hard.profit.astype(float),
        hard.weight[None].astype(float),
        row_upper=float(hard.capacity),
        upper=1.0,
        integrality=True,
    )
    for device in ("cpu", "auto", "cuda"):
        outcome = engine.solve(problem, EngineOptions(device=device), Progress(60.0))
        assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert wanted == ["cpu", "auto", "cuda"]


def test_solving_with_a_gpu_gives_a_packing():
    problem = instance("circle", 300, 10**5, 2)
    here, there = (solve_knapsack(problem, Progress(60.0), device=d) for d in ("cpu", "cuda"))
    assert here.profit == there.profit == there.bound
    assert problem.value_of(there.x) == (there.profit, problem.value_of(there.x)[1])


def test_lists_stay_with_the_cpu_where_there_is_no_gpu(monkeypatch):
    assert DEVICE_FOR("cpu") is None
    monkeypatch.setattr("solvers.core.device._gpus", lambda: ())
    assert DEVICE_FOR("auto") is None
    with pytest.raises(DeviceError, match="no NVIDIA GPU"):
        DEVICE_FOR("cuda")


def test_a_gpu_is_asked_for_only_where_a_list_is_long(monkeypatch):
    monkeypatch.setattr(list_search, "device_for", DEVICE_FOR)
    monkeypatch.setattr("solvers.core.device._gpus", lambda: ())
    place = Handover("cuda", print)
    assert not place.takes(99)
    with pytest.raises(DeviceError, match="no NVIDIA GPU"):
        place.takes(100)
    assert not Handover("cpu", print).takes(10**9)
