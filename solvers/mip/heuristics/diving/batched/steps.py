"""Launches of a dive's own kernels, on the arrays of a batch of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.mip.heuristics.diving.batched.lanes import Lanes, good_directions, loose_directions
from solvers.mip.heuristics.diving.batched.orders import Guide
from solvers.mip.inference.propagation.boxes import BatchBoxes, signed
from solvers.mip.inference.propagation.kernels.dive import CURSOR, DIVE
from solvers.mip.inference.propagation.kernels.layout import LANES
from solvers.mip.inference.propagation.launches import write
from solvers.mip.model import IndexArray


class Steps:
    """Chooses bulks and fixes them, in the boxes of a batch.

    Parameters
    ----------
    boxes : BatchBoxes
    guide : Guide
        What values go by.

    Attributes
    ----------
    blame : (n,) int64
        How many lanes were given up because a column had no value left.
    """

    def __init__(self, boxes: BatchBoxes, guide: Guide) -> None:
        self._boxes = boxes
        device = boxes.model.device
        n = guide.model.num_columns
        reference = np.zeros(n) if guide.reference is None else guide.reference
        self._good = device.to_device(good_directions(guide))
        self._loose = device.to_device(loose_directions(guide))
        self._reference = device.to_device(reference.astype(np.float64))
        most = guide.integers.size
        self._order = device.to_device(np.zeros(most, dtype=np.int32))
        self._bulk = device.to_device(np.zeros(int(np.sqrt(most)) + 1, dtype=np.int32))
        self._rule, self._seed = (device.to_device(np.zeros(LANES, np.int32)) for _ in range(2))
        self._noise = device.to_device(np.zeros(LANES))
        self.blame = np.zeros(n, dtype=np.int64)

    def begin(self, order: IndexArray, lanes: Lanes) -> None:
        """Take an order of all open integer columns, and what lanes do, for a new dive."""
        write(self._order, self._boxes.places.of_column[order])
        control = self._boxes.read_control()
        control[CURSOR] = 0
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

    def fix(self, lanes: int, amount: int) -> None:
        """Fix the bulk, or the part of it that ``amount`` says, in the lanes of a word."""
        boxes = self._boxes
        columns = (boxes.model.num_columns, boxes.places.binaries, boxes.places.column)
        rules = (self._rule, self._seed, self._noise)
        hints: tuple[Any, ...] = (self._good, self._loose, self._reference)
        changes = (boxes.column_changed, boxes.column_list, boxes.next_masks, boxes.next_wide)
        DIVE["dive_fix"](
            signed(lanes), amount, *columns, self._bulk, *rules, *hints, *changes, boxes.control
        )
