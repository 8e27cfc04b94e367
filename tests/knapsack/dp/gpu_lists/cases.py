"""Lists of states for stages to begin with, random and awkward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device, cpu
from solvers.knapsack.dp.gpu_lists import memory
from solvers.knapsack.dp.gpu_lists.kernels.stages import Field, Reason
from solvers.knapsack.dp.gpu_lists.memory import GpuLists
from solvers.knapsack.dp.states import States

LARGEST = 2**62 - 1
BLIND = {Field.TICKET}
"""What the twin, which needs no tickets, leaves alone."""


@dataclass(frozen=True, eq=False)
class Case:
    """A list, the items to come (the first ``broken`` are packed), and what prunes."""

    states: States
    item_profit: npt.NDArray[np.int64]
    item_weight: npt.NDArray[np.int64]
    opposite: npt.NDArray[np.int64]
    broken: int
    capacity: int
    best: int
    room: int
    target: int = LARGEST
    stage: int = 0


def front(
    count: int, seed: int, *, items: int = 12, gap: int = 50, scale: int = 1, best: float = 1.0
) -> Case:
    """Return a random list around the capacity; ``best`` times the profit there has to be beaten.

    Numbers are up to ``gap`` apart, and all multiples of ``scale``.
    """
    rng = np.random.default_rng(seed)
    weight, profit = (np.cumsum(rng.integers(1, gap + 1, count)) * scale for _ in range(2))
    at = count // 2
    item_weight = rng.integers(1, 40 * gap, items) * scale
    item_profit = np.maximum(item_weight // scale * rng.integers(60, 140, items) // 100, 1) * scale
    order = np.argsort(-item_profit / item_weight, kind="stable")
    return Case(
        States(
            profit,
            weight,
            rng.integers(0, 2, count),
            rng.integers(0, 1000, count).astype(np.int32),
        ),
        item_profit[order],
        item_weight[order],
        np.full(items, LARGEST),
        items // 2,
        int(weight[at]),
        int(best * float(profit[at])),
        max(4 * count, 64),
        stage=1,
    )


def changed(case: Case, **more: Any) -> Case:
    """Return a case with other values."""
    return Case(**{**vars(case), **more})


def one_item(case: Case, profit: int, weight: int) -> Case:
    """Return a case whose only item may come in."""
    values = (np.array([value], dtype=np.int64) for value in (profit, weight))
    return changed(
        case,
        **dict(zip(("item_profit", "item_weight"), values, strict=True)),
        opposite=np.full(1, LARGEST),
        broken=0,
    )


def ordinary() -> dict[str, Case]:
    """Return lists of sizes around a tile's, and of several tiles."""
    sizes = (1, 2, 31, 32, 33, 895, 896, 897, 1792, 5000)
    return {f"{count} states": front(count, count, best=0.999) for count in sizes}


def awkward() -> dict[str, Case]:
    """Return lists in which something is out of the ordinary."""
    some = front(3000, 1)
    huge = front(3000, 2, scale=2**62 // (3000 * 50 + 12 * 2000), best=0.9999)
    skipping = some.opposite.copy()
    skipping[[0, 2, 3, 5, 6, 7, 10, 11]] = 0
    return {
        "nothing pruned": front(1500, 3, best=0.0),
        "all pruned": changed(some, best=LARGEST - 1),
        "all dominated": one_item(changed(some, best=0), 1, 10**6),
        "none dominated": one_item(changed(front(3000, 5), best=0), 10**7, 10**7),
        "all but own dominated": one_item(changed(some, best=0), 10**7, 1),
        "ties": one_item(
            changed(
                front(4000, 6, gap=1),
                best=0,
            ),
            7,
            7,
        ),
        "many ties": front(4000, 7, gap=2, best=0.998),
        "near the limit": huge,
        "near the limit, nothing pruned": changed(huge, best=0, room=10_000),
        "all too heavy": changed(some, capacity=1, best=0),
        "all too heavy, none can go": changed(some, capacity=1, best=0, broken=0),
        "all light": changed(some, capacity=10**9, best=0, room=20_000),
        "items skipped": changed(some, opposite=skipping),
        "all items skipped": changed(some, opposite=np.zeros(12, dtype=np.int64)),
        "more items than lanes": front(2000, 8, items=90, best=0.9999),
        "empty": changed(some, states=States(*(column[:0] for column in some.states))),
        "full": changed(some, room=5999),
        "target reached": changed(some, target=some.best + 1),
        "history full": changed(some, stage=64),
        "history nearly full": changed(some, stage=61, best=0, room=50_000),
    }


CASES = {**ordinary(), **awkward()}


def lists_of(case: Case, device: Device | None = None) -> GpuLists:
    """Return a case in the memory of a device."""
    device = cpu() if device is None else device
    lists = GpuLists(device, case.item_profit, case.item_weight, case.opposite, case.room)
    lists.fill(case.states)
    values = {
        Field.LEFT: case.broken - 1,
        Field.RIGHT: case.broken,
        Field.STAGE: case.stage,
        Field.PROFIT: case.best,
        Field.TARGET: case.target,
        Field.CAPACITY: case.capacity,
        Field.UNTIL: LARGEST,
        Field.REASON: Reason.NONE,
    }
    for field, value in values.items():
        lists[field] = int(value)
    return lists


def stages(
    case: Case, device: Device | None = None, family: Any = None, *, each: int = 1
) -> list[dict[str, Any]]:
    """Do stages, ``each`` of them at once, and return all that is to be seen after each time."""
    found = []
    family = memory.FAMILY if family is None else family
    with (
        mock.patch.object(memory, "FAMILY", family),
        mock.patch.object(memory, "STAGES_PER_BATCH", each),
    ):
        lists = lists_of(case, device)
        while lists[Field.REASON] == Reason.NONE and len(found) < 16 // each:
            lists.run_batch()
            found.append(seen(lists))
    return found


def seen(lists: GpuLists, count: int | None = None, *, other: bool = False) -> dict[str, Any]:
    """Return control, the items treated and the states of a list."""
    count = lists[Field.COUNT] if count is None else count
    known = {field.name: lists[field] for field in Field if field not in BLIND}
    columns = lists.to_host(count, other=other)._asdict()
    return known | {"treated": lists.treated()[: lists[Field.STAGE]]} | columns


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, values in one.items():
        np.testing.assert_array_equal(other[name], values, err_msg=name)
