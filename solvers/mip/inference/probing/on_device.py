"""Probing on a device: both sides of 16 columns at once, a side to each of 32 lanes."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing.build import DomainProber
from solvers.mip.inference.probing.store import Probes
from solvers.mip.inference.propagation import ALL, BatchBoxes, DeviceModel
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_probing import count, fill

ROUND_LIMIT = 30
"""Synchronous rounds of a batch: what a side implies farther away is not needed."""

LARGEST_DOWNLOAD = 4_000_000
"""Numbers fetched for each batch of columns that are not binary: 32 MB, some 3 ms. In a model with
more of them, only what is implied for binary columns is kept."""


class BatchProber:
    """Probes in batches of boxes; the CPU keeps the global box and confirms contradictions.

    Every probe starts from the same saved boxes, which are loaded anew when the global box has
    been narrowed. A side that the device finds empty is propagated again on the CPU, whose word is
    what counts: so nothing is fixed, nor the model called infeasible, on the device's word alone.

    Not for several threads at once; on a GPU within ``device.activate()``.

    Parameters
    ----------
    model : MipModel
    device_model : DeviceModel
        The same model, where to propagate.
    domain : Domain, optional
        Where to start from, the model's own bounds by default; it is copied.
    """

    batch = 16
    proves = True

    def __init__(
        self, model: MipModel, device_model: DeviceModel, domain: Domain | None = None
    ) -> None:
        self._cpu = DomainProber(model, domain)
        self._boxes = BatchBoxes(device_model)
        self._device = device_model.device
        self._is_integer = model.is_integer
        self._column = self._device.to_host(self._boxes.places.column)
        wide = self._boxes.wide
        self._fetched = wide if wide.size <= LARGEST_DOWNLOAD else wide[:0]
        self._lower, self._upper = np.zeros(0), np.zeros(0)
        self._work = 0.0

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the global box at present."""
        return self._cpu.lower

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the global box at present."""
        return self._cpu.upper

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far; on the device, each for all lanes at once."""
        return self._work + self._cpu.work

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns of the global box, whole bounds, and propagate; False if impossible."""
        return self._cpu.tighten(columns, low, high)

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate both sides of at most 16 columns."""
        columns = columns[: self.batch]
        self._reset()
        lanes = np.arange(2 * columns.size, dtype=np.int32)
        both = np.repeat(columns, 2)
        low, high = self.lower[both], self.upper[both]
        high[0::2] = first_upper[: columns.size]
        low[1::2] = second_lower[: columns.size]
        self._boxes.tighten(lanes, both, low, high)
        verdict = self._boxes.propagate(ROUND_LIMIT)
        self._work += verdict.work
        probes = self._read(columns, verdict.dead)
        return self._confirmed(probes, columns, first_upper, second_lower)

    def _reset(self) -> None:
        """Give all lanes the global box."""
        same = np.array_equal(self._lower, self.lower) and np.array_equal(self._upper, self.upper)
        if same:
            self._boxes.restore(ALL)
            return
        self._lower, self._upper = self.lower.copy(), self.upper.copy()
        self._boxes.load(self._lower, self._upper)
        self._boxes.save()

    def _read(self, columns: IndexArray, dead: int) -> Probes:
        """Fetch the boxes and list what differs from the global one."""
        to_host = self._device.to_host
        boxes = (
            to_host(self._boxes.masks),
            to_host(self._fetched),
            self._column,
            self._is_integer,
            self._lower,
            self._upper,
            columns,
            dead,
        )
        start = np.zeros(2 * columns.size + 1, dtype=np.int64)
        count(*boxes, start)
        start = np.cumsum(start)
        column = np.empty(int(start[-1]), dtype=np.int32)
        low, high = np.empty(column.size), np.empty(column.size)
        fill(*boxes, start[:-1].copy(), column, low, high)
        sides = np.arange(2 * columns.size)
        return Probes(((dead >> sides) & 1).astype(np.uint8), start, column, low, high)

    def _confirmed(
        self,
        probes: Probes,
        columns: IndexArray,
        first_upper: FloatArray,
        second_lower: FloatArray,
    ) -> Probes:
        """Replace the answers for columns with an empty side by the CPU's."""
        if not probes.infeasible.any():
            return probes
        parts, sides = [], []
        for c in range(columns.size):
            one, at = slice(c, c + 1), 2 * c
            part = probes
            if probes.infeasible[at : at + 2].any():
                part, at = self._cpu.probe(columns[one], first_upper[one], second_lower[one]), 0
            for side in (at, at + 1):
                entries = slice(int(part.start[side]), int(part.start[side + 1]))
                parts.append((part.column[entries], part.low[entries], part.high[entries]))
                sides.append(part.infeasible[side])
        column, low, high = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        start = np.cumsum([0, *(part[0].size for part in parts)]).astype(np.int64)
        return Probes(np.array(sides, dtype=np.uint8), start, column, low, high)
