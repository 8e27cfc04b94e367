"""One batch: 32 dives along one order, from the root box until every integer column is fixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.mip.heuristics.diving.batched.lanes import Lanes, reseeded
from solvers.mip.heuristics.diving.batched.orders import Guide
from solvers.mip.heuristics.diving.batched.steps import Steps
from solvers.mip.inference.propagation.boxes import ALL, BatchBoxes, Verdict, lanes_of
from solvers.mip.inference.propagation.kernels.dive import BULK, FIRST, HALF, OTHER, WHOLE
from solvers.mip.inference.propagation.kernels.layout import FREE, LANES
from solvers.mip.model import IndexArray
from solvers.mip.portfolio.budget import Budget

RETRIES = (HALF, FIRST, OTHER)
"""What a lane that became empty tries instead, one after the other, before it is given up."""

ADOPTIONS = 4 * LANES
"""Lanes of a batch that may be given the box of another lane after their own dive failed."""


@dataclass(frozen=True)
class Ended:
    """How a batch ended: lanes that fixed everything, lanes given up on the way, steps made."""

    finished: int
    failed: int
    steps: int


def dive(
    boxes: BatchBoxes,
    steps: Steps,
    guide: Guide,
    order: IndexArray,
    lanes: Lanes,
    budget: Budget,
    random: np.random.Generator,
) -> Ended:
    """Dive in all lanes along an order; the boxes then hold what the finished ones fixed.

    Each step fixes the next bulk in every lane and propagates. Lanes whose box becomes empty go
    back to before the bulk and try half of it, its first column, and that at another value; a lane
    that fails thrice is given up, and goes on with the box of a living lane and other random
    numbers. No lane finishes where the budget is spent before.

    Parameters
    ----------
    boxes : BatchBoxes
    steps : Steps
        Of these boxes.
    guide : Guide
        With the box to begin in, which has been propagated.
    order : (k,) int32
        All integer columns open in that box.
    lanes : Lanes
    budget : Budget
    random : Generator
        For adoptions.
    """
    boxes.load(guide.lower, guide.upper)
    steps.begin(order, lanes)
    failed, adopted, made = 0, 0, 0
    most = order.size
    lost = 0  # the word of the lanes that are left alone
    while not budget.spent():
        steps.select(most)
        boxes.save()
        steps.fix(ALL, WHOLE)
        verdict = _charged(boxes, budget)
        bulk = verdict.driver[BULK - FREE]
        if bulk == 0:
            return Ended(ALL & ~verdict.dead, failed, made)
        made += 1
        dead = verdict.dead & ~lost
        most = _next_bulk(bulk, dead, order.size)
        if not dead:
            continue
        dead = _retried(boxes, steps, dead, bulk, budget)
        if dead:
            failed += dead.bit_count()
            steps.blame_first(dead)
        if dead | lost == ALL:
            return Ended(0, failed, made)
        if adopted >= ADOPTIONS:
            lost |= dead
        elif dead:
            adopted += dead.bit_count()
            lanes = reseeded(lanes, lanes_of(dead), random)
            steps.set_lanes(lanes)
            boxes.adopt(_heirs(dead, ALL & ~(dead | lost), random))
    return Ended(0, failed, made)


def _next_bulk(bulk: int, dead: int, columns: int) -> int:
    """Return the most columns to fix next: fewer where many lanes died of this bulk."""
    if dead.bit_count() > LANES // 4:
        return max(1, bulk // 2)
    return min(columns, 2 * bulk)


def _charged(boxes: BatchBoxes, budget: Budget) -> Verdict:
    verdict = boxes.propagate()
    budget.charge(verdict.work)
    return verdict


def _retried(boxes: BatchBoxes, steps: Steps, dead: int, bulk: int, budget: Budget) -> int:
    """Let empty lanes try smaller steps from the saved boxes; return those that stay empty."""
    for amount in RETRIES if bulk > 1 else (OTHER,):
        boxes.restore(dead)
        steps.fix(dead, amount)
        dead &= _charged(boxes, budget).dead
        if not dead:
            break
    return dead


def _heirs(empty: int, living: int, random: np.random.Generator) -> IndexArray:
    """Return for each empty lane a living one whose box it gets, and -1 for the others."""
    source = np.full(LANES, -1, dtype=np.int32)
    source[lanes_of(empty)] = random.choice(lanes_of(living), empty.bit_count())
    return source
