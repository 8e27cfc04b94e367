"""Bounds of a list's states, and the one at which it is cut in two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.gpu_lists.kernels.fields import Field
from solvers.knapsack.dp.gpu_lists.memory import GpuLists
from solvers.knapsack.efficiency import Ordered

SAMPLES, SAMPLE = 64, 512
"""Places of a list, and states at each of them, from which its middle bound is taken."""


def see_sides(lists: GpuLists, items: Ordered) -> None:
    """Note in control what bounds the states of the list now, from its next items."""
    left, right = lists[Field.LEFT], lists[Field.RIGHT]
    comes, goes = (0, 1), (1, 0)
    if right < items.num_items:
        comes = int(items.profit[right]), int(items.weight[right])
    if left >= 0:
        goes = int(items.profit[left]), int(items.weight[left])
    lists[Field.COMES_PROFIT], lists[Field.COMES_WEIGHT] = comes
    lists[Field.GOES_PROFIT], lists[Field.GOES_WEIGHT] = goes


def middle_bound(lists: GpuLists, items: Ordered) -> int:
    """Return about the median of the states' bounds, from a sample; sides have been seen."""
    count, to_host = lists[Field.COUNT], lists.device.to_host
    bounds = []
    for first in np.linspace(0, max(count - SAMPLE, 0), SAMPLES).astype(int).tolist():
        part = lists.view(first, min(SAMPLE, count - first))
        bounds.append(_bounds(lists, items, to_host(part.profit), to_host(part.weight)))
    return int(np.median(np.concatenate(bounds)))


def _bounds(
    lists: GpuLists, items: Ordered, profit: npt.NDArray[np.int64], weight: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the bounds of states in double precision."""
    spare = (items.capacity - weight).astype(np.float64)
    gain = spare * (lists[Field.COMES_PROFIT] / lists[Field.COMES_WEIGHT])
    out = lists[Field.GOES_WEIGHT]
    loss = spare * (lists[Field.GOES_PROFIT] / out) if out else np.full(spare.size, -np.inf)
    return np.asarray(profit + np.where(spare >= 0, gain, loss), dtype=np.float64)
