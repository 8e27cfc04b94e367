"""Fix-and-propagate dives on a GPU, 32 at a time, over a portfolio of orders and rules for values.

Section 2.3 of arXiv 2510.20499, and FPR (Salvagnin, Roberti, Fischetti 2025): which instances are
solved depends on the order of the columns most of all, so that many orders are tried. A batch is 32
dives along one order, from the root box until every integer column is fixed; its lanes differ in
rule, seed and share of chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.strategy import Guide, Order, guide_of, order_columns
from solvers.mip.inference.cliques import Cliques
from solvers.mip.inference.propagation.boxes import ALL, BatchBoxes, Verdict, lanes_of, signed
from solvers.mip.inference.propagation.kernels.batch import LANES, Control
from solvers.mip.inference.propagation.kernels.dive import DIVE, Amount, Driver, Rule
from solvers.mip.inference.propagation.on_device import DeviceModel, write
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Submit

NOISES = (0.0, 0.02, 0.1, 0.3)
"""Probabilities of a random value instead of the rule's, so that lanes of one rule differ."""

RULES = (
    *(Rule.GOOD, Rule.LOOSE, Rule.UP, Rule.DOWN),
    *(Rule.TIGHT, Rule.RANDOM, Rule.BAD, Rule.LOOSE),
)
"""Rules without a reference point, each with every noise. Loose ones, which solve most, twice."""

RULES_WITH_REFERENCE = (
    *(Rule.REFERENCE, Rule.REFERENCE, Rule.REFERENCE),
    *(Rule.GOOD, Rule.LOOSE, Rule.UP, Rule.DOWN, Rule.RANDOM),
)
"""Rules with one."""

ORDERS = (Order.CLIQUES, Order.LOCKS, Order.OBJECTIVE, Order.TYPE, Order.RANDOM)
"""Orders without a reference point; with one, its order comes first. Of FPR's those that solve
instances which no other does are all here: by locks (rail01) and by cliques (peg-solitaire-a3,
unitcal_7)."""


@dataclass(frozen=True, eq=False)
class Root:
    """Where dives begin, and what they go by.

    Parameters
    ----------
    bounds : (2, n) float64
        The box, propagated.
    reference : (n,) float64 or None
        A point that values may be rounded from, such as the relaxation's.
    cliques : Cliques or None
    """

    model: MipModel
    bounds: FloatArray
    reference: FloatArray | None = None
    cliques: Cliques | None = None

    @cached_property
    def guide(self) -> Guide:
        """What values are chosen by."""
        return guide_of(self.model, self.reference)

    @property
    def integers(self) -> IndexArray:
        """The integer columns that the box leaves open, rising."""
        columns = self.model.integers
        return np.asarray(columns[self.bounds[0, columns] < self.bounds[1, columns]])

    def order(self, order: Order, seed: int) -> IndexArray:
        """Return the open integer columns in an order, which seeds other than 0 disturb."""
        return order_columns(self.model, self.bounds, order, self.guide, self.cliques, seed)

    def by_blame(self, blame: npt.NDArray[np.int64], random: np.random.Generator) -> IndexArray:
        """Return first the columns that other dives found without a value left.

        What is decided while there is still a choice cannot run out of values later (the weighted
        degrees of constraint programming: Boussemart et al. 2004). Chance decides among equals.
        """
        columns = self.integers
        order = np.lexsort((random.random(columns.size), -blame[columns]))
        return np.asarray(columns[order], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Lanes:
    """Rule and seed of each lane, (32,) int32, and its probability of a random value, (32,)."""

    rule: IndexArray
    seed: IndexArray
    noise: FloatArray


def portfolio(root: Root, random: np.random.Generator) -> Lanes:
    """Return eight rules with four noises each."""
    rules = RULES if root.reference is None else RULES_WITH_REFERENCE
    return Lanes(
        rule=np.repeat(np.array(rules, dtype=np.int32), len(NOISES)),
        seed=random.integers(0, 2**31, LANES).astype(np.int32),
        noise=np.tile(np.array(NOISES), len(rules)),
    )


def reseeded(lanes: Lanes, which: npt.NDArray[np.int64], random: np.random.Generator) -> Lanes:
    """Return lanes of which some go on with other random numbers, and the most of chance."""
    seed, noise = lanes.seed.copy(), lanes.noise.copy()
    seed[which] = random.integers(0, 2**31, which.size).astype(np.int32)
    noise[which] = np.maximum(noise[which], NOISES[2])
    return Lanes(lanes.rule, seed, noise)


def good_directions(guide: Guide) -> IndexArray:
    """Return for each column (n,) the direction of a better objective: -1 or 1.

    Columns without a cost go where fewer rows stand in the way.
    """
    cost = guide.cost
    return np.where(cost == 0.0, loose_directions(guide), np.where(cost > 0.0, -1, 1)).astype(
        np.int32
    )


def loose_directions(guide: Guide) -> IndexArray:
    """Return for each column (n,) the direction with fewer locks: -1 or 1."""
    return np.where(guide.up_locks < guide.down_locks, 1, -1).astype(np.int32)


class Steps:
    """Chooses bulks and fixes them, in the boxes of a batch.

    Attributes
    ----------
    blame : (n,) int64
        How many lanes were given up because a column had no value left.
    """

    def __init__(self, boxes: BatchBoxes, root: Root) -> None:
        self._boxes = boxes
        device = boxes.model.device
        guide = root.guide
        self._good = device.to_device(good_directions(guide))
        self._loose = device.to_device(loose_directions(guide))
        self._reference = device.to_device(guide.reference)
        most = root.integers.size
        self._order = device.to_device(np.zeros(most, dtype=np.int32))
        self._bulk = device.to_device(np.zeros(int(np.sqrt(most)) + 1, dtype=np.int32))
        self._rule, self._seed = (device.to_device(np.zeros(LANES, np.int32)) for _ in range(2))
        self._noise = device.to_device(np.zeros(LANES))
        self.blame = np.zeros(guide.cost.size, dtype=np.int64)

    def begin(self, order: IndexArray, lanes: Lanes) -> None:
        """Take an order of all open integer columns, and what lanes do, for a new dive."""
        write(self._order, self._boxes.places.of_column[order])
        control = self._boxes.read_control()
        control[Driver.CURSOR] = 0
        write(self._boxes.control, control)
        self.set_lanes(lanes)

    def set_lanes(self, lanes: Lanes) -> None:
        """Change what lanes do."""
        write(self._rule, lanes.rule)
        write(self._seed, lanes.seed)
        write(self._noise, lanes.noise)

    def select(self, most: int) -> None:
        """Choose the next bulk of at most so many columns."""
        boxes = self._boxes
        order = (int(self._order.size), most, self._order, boxes.places.binaries)
        DIVE["dive_select"](*order, boxes.masks, boxes.wide, self._bulk, boxes.control)

    def blame_first(self, lanes: int) -> None:
        """Note that the bulk's first column had no value left in the lanes of a word."""
        boxes = self._boxes
        place = int(boxes.model.device.to_host(self._bulk[:1])[0])
        column = int(boxes.model.device.to_host(boxes.places.column[place : place + 1])[0])
        self.blame[column] += lanes.bit_count()

    def fix(self, lanes: int, amount: Amount) -> None:
        """Fix the bulk, or the part of it that ``amount`` says, in the lanes of a word."""
        boxes = self._boxes
        columns = (boxes.model.num_columns, boxes.places.binaries, boxes.places.column)
        rules = (self._rule, self._seed, self._noise)
        hints: tuple[Any, ...] = (self._good, self._loose, self._reference)
        changes = (boxes.column_changed, boxes.column_list, boxes.next_masks, boxes.next_wide)
        DIVE["dive_fix"](
            signed(lanes),
            amount.value,
            *columns,
            self._bulk,
            *rules,
            *hints,
            *changes,
            boxes.control,
        )


RETRIES = (Amount.HALF, Amount.FIRST, Amount.OTHER)
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
    root: Root,
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
    steps : Steps
        Of these boxes.
    order : (k,) int32
        All integer columns open in that box.
    random : Generator
        For adoptions.
    """
    boxes.load(*root.bounds)
    steps.begin(order, lanes)
    failed, adopted, made = 0, 0, 0
    most = order.size
    lost = 0  # the word of the lanes that are left alone
    while not budget.spent():
        steps.select(most)
        boxes.save()
        steps.fix(ALL, Amount.WHOLE)
        verdict = _charged(boxes, budget)
        bulk = verdict.driver[Driver.BULK - Control.FREE]
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
    for amount in RETRIES if bulk > 1 else (Amount.OTHER,):
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
    submit : callable
        Takes the points.
    budget : Budget
        Asked before every step.
    reference : (n,) float64, optional
        A point to round values from, such as the relaxation's; integers near to it are fixed first.
    cliques : Cliques, optional
        Gives an order of its own.
    box : pair of (n,) float64, optional
        Bounds to dive in instead of the model's.
    """
    lower, upper = (model.lower, model.upper) if box is None else box
    boxes = BatchBoxes(device_model)
    boxes.load(lower, upper)
    boxes.wake()
    verdict = boxes.propagate()
    budget.charge(verdict.work)
    if verdict.dead:
        return Dived(is_root_empty=True)
    root = Root(model, np.stack([side[:, 0] for side in boxes.bounds(1)]), reference, cliques)
    random = np.random.default_rng(seed)
    steps = Steps(boxes, root)
    found = Dived()
    for name, order in _all_orders(root, steps, random):
        if budget.spent():
            break
        ended = dive(boxes, steps, root, order, portfolio(root, random), budget, random)
        found = replace(
            found,
            batches=found.batches + 1,
            finished=found.finished + ended.finished.bit_count(),
            failed=found.failed + ended.failed,
        )
        if ended.finished:
            found = _submitted(found, _points(boxes, root, ended.finished), name, submit, budget)
    return found


def _all_orders(
    root: Root, steps: Steps, random: np.random.Generator
) -> Iterator[tuple[str, IndexArray]]:
    """Yield the orders known beforehand, then some that learn from the dives that failed."""
    for order in ORDERS if root.reference is None else (Order.REFERENCE, *ORDERS):
        if order is Order.CLIQUES and not root.cliques:
            continue
        yield order.name.lower(), root.order(order, int(random.integers(2**31)))
    for _ in range(LEARNING_ORDERS):
        if steps.blame.any():
            yield "conflicts", root.by_blame(steps.blame, random)


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


def _points(boxes: BatchBoxes, root: Root, finished: int) -> FloatArray:
    """Return the different points (n, k) of the finished lanes, the best objective first.

    Continuous columns are at the reference point, or 0, as far as their bounds allow.
    """
    model = root.model
    lower, upper = boxes.bounds(finished & ALL)
    points = np.clip(root.guide.reference[:, None], lower, upper)
    distinct = {points[model.integers, lane].tobytes(): lane for lane in range(points.shape[1])}
    lanes = np.array(sorted(distinct.values()))
    objective = model.cost @ points[:, lanes]
    return np.asarray(points[:, lanes[np.argsort(objective, kind="stable")]])
