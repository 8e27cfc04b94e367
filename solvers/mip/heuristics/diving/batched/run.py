"""The portfolio: batches of dives over all orders, whose points are submitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.diving.batched.dive import dive
from solvers.mip.heuristics.diving.batched.lanes import portfolio
from solvers.mip.heuristics.diving.batched.orders import Guide, by_blame, orders
from solvers.mip.heuristics.diving.batched.steps import Steps
from solvers.mip.inference.cliques import Cliques
from solvers.mip.inference.propagation.boxes import ALL, BatchBoxes
from solvers.mip.inference.propagation.on_device import DeviceModel
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit

SOURCE = "dives"

LEARNING_ORDERS = 4
"""Batches whose order puts the columns first that had no value left in those before."""


@dataclass(frozen=True)
class Dived:
    """What came of a run.

    Parameters
    ----------
    batches : int
        Orders tried.
    finished, failed : int
        Dives that fixed every integer column, and dives that were given up.
    submitted, improved : int
        Different points submitted, and those that were the best so far.
    is_root_empty : bool
        Whether propagation of the box to begin in left nothing.
    """

    batches: int = 0
    finished: int = 0
    failed: int = 0
    submitted: int = 0
    improved: int = 0
    is_root_empty: bool = False


def run_dives(
    device_model: DeviceModel,
    model: MipModel,
    submit: Submit,
    budget: Budget,
    seed: int,
    reference: FloatArray | None = None,
    cliques: Cliques | None = None,
    box: tuple[FloatArray, FloatArray] | None = None,
) -> Dived:
    """Dive along every order, 32 lanes each, and submit the points that come of it.

    Integer columns of a submitted point are fixed by the dive; continuous ones are somewhere in
    what propagation left them, for an LP to set. The same seed and an untimed budget give the same
    points in the same order, on GPU and CPU. On a GPU, call this within ``device.activate()``.

    Parameters
    ----------
    device_model : DeviceModel
        The model on the device to run on; on the CPU, twins of the kernels run.
    model : MipModel
    submit : callable
        Takes the points.
    budget : Budget
        Asked before every step.
    seed : int
    reference : (n,) float64, optional
        A point to round values from, such as the relaxation's; integers near to it are fixed first.
    cliques : Cliques, optional
        Gives an order of its own.
    box : pair of (n,) float64, optional
        Bounds to dive in instead of the model's, such as those that probing left.
    """
    lower, upper = (model.lower, model.upper) if box is None else box
    boxes = BatchBoxes(device_model)
    boxes.load(lower, upper)
    boxes.wake()
    verdict = boxes.propagate()
    budget.charge(verdict.work)
    if verdict.dead:
        return Dived(is_root_empty=True)
    first_lower, first_upper = boxes.bounds(1)
    guide = Guide.of(model, first_lower[:, 0], first_upper[:, 0], reference, cliques)
    random = np.random.default_rng(seed)
    steps = Steps(boxes, guide)
    found = Dived()
    for name, order in _all_orders(guide, steps, random):
        if budget.spent():
            break
        ended = dive(boxes, steps, guide, order, portfolio(guide, random), budget, random)
        found = replace(
            found,
            batches=found.batches + 1,
            finished=found.finished + ended.finished.bit_count(),
            failed=found.failed + ended.failed,
        )
        if ended.finished:
            found = _submitted(found, _points(boxes, guide, ended.finished), name, submit, budget)
    return found


def _all_orders(
    guide: Guide, steps: Steps, random: np.random.Generator
) -> Iterator[tuple[str, IndexArray]]:
    """Yield the orders known beforehand, then some that learn from the dives that failed."""
    yield from orders(guide, random)
    for _ in range(LEARNING_ORDERS):
        if steps.blame.any():
            yield "conflicts", by_blame(guide, steps.blame, random)


def _submitted(
    found: Dived, points: FloatArray, name: str, submit: Submit, budget: Budget
) -> Dived:
    """Submit points (n, k), one after the other, while there is time."""
    submitted, improved = found.submitted, found.improved
    for point in points.T:
        if budget.spent():
            break
        submitted += 1
        improved += bool(submit(np.ascontiguousarray(point), f"{SOURCE} {name}"))
    return replace(found, submitted=submitted, improved=improved)


def _points(boxes: BatchBoxes, guide: Guide, finished: int) -> FloatArray:
    """Return the different points (n, k) of the finished lanes, the best objective first.

    Continuous columns are at the reference point, or 0, as far as their bounds allow.
    """
    model = guide.model
    lower, upper = boxes.bounds(finished & ALL)
    preferred = np.zeros(model.num_columns) if guide.reference is None else guide.reference
    points = np.clip(preferred[:, None], lower, upper)
    distinct = {points[model.integers, lane].tobytes(): lane for lane in range(points.shape[1])}
    lanes = np.array(sorted(distinct.values()))
    objective = model.cost @ points[:, lanes]
    return np.asarray(points[:, lanes[np.argsort(objective, kind="stable")]])
