"""Whole searches on lists: packings, bounds, cuts, and memory that ends."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.gpu_lists import list_search, memory
from solvers.knapsack.dp.gpu_lists.kernels.stages import Field
from solvers.knapsack.dp.gpu_lists.list_search import Given, GpuListSearch
from solvers.knapsack.dp.gpu_lists.memory import Budget
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.heuristics import first_packing
from solvers.knapsack.items import normal_form
from tests.emulator.gpu import EmulatedGpu
from tests.knapsack.brute import instance

KINDS = ("almost", "circle", "weakly", "strongly")


def ordered(kind, items=300, largest=10_000, seed=1):
    return by_efficiency(normal_form(instance(kind, items, largest, seed)).knapsack)


def relaxed(items, capacity):
    """Return the relaxation's value at a capacity, rounded down."""
    k = int(np.searchsorted(items.weight_before, capacity, side="right")) - 1
    whole = int(items.profit_before[k])
    if k == items.num_items:
        return whole
    rest = int(capacity - items.weight_before[k])
    return whole + rest * int(items.profit[k]) // int(items.weight[k])


def opposite_of(items):
    """Bound the packings that differ from the break solution in each item."""
    sign = np.where(np.arange(items.num_items) < items.break_item, 1, -1)
    spare = items.capacity + sign * items.weight
    bounds = [relaxed(items, c) if c >= 0 else 0 for c in spare.tolist()]
    return np.where(spare >= 0, bounds - sign * items.profit, 0)


def poor_start(items):
    profit, _ = first_packing(items)
    return max(profit - profit // 50, int(items.profit_before[items.break_item]))


def start(items, *, device=None, room=10**6):
    b = items.break_item
    before = (items.profit_before[b : b + 1], items.weight_before[b : b + 1])
    given = Given(*before, b - 1, b, poor_start(items), items.dantzig_bound)
    return GpuListSearch(
        cpu() if device is None else device, items, opposite_of(items), given, room
    )


def packing(items, found):
    origin, changed = found
    assert origin == 0
    flags = np.arange(items.num_items) < items.break_item
    np.logical_xor.at(flags, changed, True)
    assert items.weight[flags].sum() <= items.capacity
    return int(items.profit[flags].sum())


def go_on(profit, bound):
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_finds_what_the_one_on_the_cpu_finds(kind):
    items = ordered(kind)
    whole = CoreSearch(items, poor_start(items), items.dantzig_bound, 10**6)
    assert whole.run(go_on)
    here = start(items)
    assert here.run(go_on)
    assert here.profit == here.bound() == whole.profit
    assert packing(items, here.found) == here.profit


@pytest.mark.parametrize("kind", KINDS)
def test_lists_that_are_cut_give_the_same(kind, monkeypatch):
    monkeypatch.setattr(list_search, "FIRST_ROOM", 16)
    items = ordered(kind)
    whole, cut = start(items), start(items, room=32)
    parts = 0

    def count_parts(profit, bound):
        nonlocal parts
        parts = max(parts, len(cut._waiting))
        assert cut.count <= 32
        return False

    assert whole.run(go_on)
    assert cut.run(count_parts)
    assert parts > 1
    assert whole.profit == cut.profit == cut.bound()
    assert packing(items, cut.found) == packing(items, whole.found) == whole.profit


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_search_has_a_valid_bound(kind, monkeypatch):
    monkeypatch.setattr(list_search, "FIRST_ROOM", 16)
    items = ordered(kind)
    best = start(items)
    assert best.run(go_on)
    stopped, bounds = start(items, room=64), []
    for _ in range(10_000):
        if stopped.run(go_on, work=300):
            break
        bounds.append(stopped.bound())
        assert stopped.profit <= best.profit <= bounds[-1] <= items.dantzig_bound
    assert len(bounds) > 2
    assert stopped.profit == best.profit


def test_what_others_find_ends_a_search():
    items = ordered("circle")
    best = start(items)
    best.run(go_on)
    told = start(items)
    told.told(best.profit, items.dantzig_bound)
    assert told.run(go_on)
    assert (told.profit, told.found) == (best.profit, None)
    assert told.visited <= best.visited
    brief = start(items)
    brief.told(0, poor_start(items))
    assert brief.run(go_on)
    assert brief.visited == 0


def test_histories_longer_than_a_word_are_followed(device_code, monkeypatch):
    items = ordered("almost", 1000, 10**5, 2)
    here = start(items)
    assert here.run(go_on)
    assert here._history.before is not None  # a history was full
    assert packing(items, here.found) == here.profit
    monkeypatch.setattr(memory, "FAMILY", device_code)
    there = start(items, device=EmulatedGpu("cuda", "", memory_free=2**33))
    assert there.run(go_on)
    assert packing(items, there.found) == there.profit == here.profit
    assert there.visited == here.visited


@pytest.mark.parametrize("free", [0, 2**30])
def test_the_device_code_drives_a_search_with_cuts(free, device_code, monkeypatch):
    monkeypatch.setattr(list_search, "FIRST_ROOM", 64)
    items = ordered("weakly")
    here = start(items, room=256)
    here.run(go_on)
    monkeypatch.setattr(memory, "FAMILY", device_code)
    gpu = EmulatedGpu("cuda", "", memory_free=free)
    there = start(items, room=256, device=gpu)
    assert there.run(go_on)
    assert (there.profit, there.visited) == (here.profit, here.visited)
    assert packing(items, there.found) == there.profit


def test_memory_that_ends_cuts_the_list(monkeypatch):
    monkeypatch.setattr(list_search, "FIRST_ROOM", 64)
    items = ordered("almost")
    best = start(items)
    best.run(go_on)
    monkeypatch.setattr(EmulatedGpu, "most_bytes", 2 * 64 * 8)
    gpu = EmulatedGpu("cpu", "")
    narrow = start(items, device=gpu)
    assert narrow.run(go_on)
    assert narrow._lists.room == 64
    assert narrow.profit == best.profit == packing(items, narrow.found)
    long = Given(np.arange(100), np.arange(100), 0, 1, 0, 9)
    with pytest.raises(MemoryError):
        GpuListSearch(gpu, items, opposite_of(items), long)


def test_histories_that_nobody_needs_make_room_for_others():
    items = ordered("almost", 1000, 10**5, 2)
    gpu = EmulatedGpu("cpu", "")
    there = start(items, device=gpu)
    budget = there._history._budget = Budget(10**6)
    assert there.run(go_on)
    assert budget.left < 10**6
    del there
    assert budget.left == 10**6


def test_room_follows_from_free_memory():
    gpu = EmulatedGpu("cuda", "", memory_free=141 * 10**9)
    assert 10**9 < list_search.room_for(gpu) <= memory.LARGEST_ROOM
    items = ordered("almost")
    lists = start(items, device=EmulatedGpu("cuda", "", memory_free=0), room=None)._lists
    assert lists.room == 2
    assert lists[Field.COUNT] == 1
