"""Thirty-two boxes of one model side by side: narrowed, propagated, saved and brought back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.propagation.kernels.batch import BATCH, LANES, LONG_COLUMN, Control
from solvers.mip.inference.propagation.on_device import (
    ROUND_LIMIT,
    DeviceModel,
    copy,
    queued,
    write,
)
from solvers.mip.model import IndexArray, MipModel

# A model laid out for batches of boxes: binary columns first, in the order of columns and in rows.
#
# Binary columns take two bits per candidate, others two numbers; a row that has its binary columns
# together is walked without asking at each entry which kind it is.


@dataclass(frozen=True, eq=False)
class Places:
    """Places of columns and entries; arrays are on the device but for ``of_column``.

    Parameters
    ----------
    of_column : (n,) int32, on the host
        Place of each column: below ``binaries`` for binary ones.
    binaries : int
        Number of columns that are binary in the model.
    column : (n,) int32
        Column at each place.
    whole : (n - binaries,) int32
        Whether each column at a later place is integer.
    long_columns : (k,) int32
        Places of columns with more entries than one warp should walk.
    row_split : (m,) int32
        Where the entries of binary columns end in each row.
    row_place, row_weight : (nnz,) int32, float64
        Place of the column and coefficient of each entry, in each row the binary ones first.
    row_largest : (m,) float64
        Largest magnitude of a binary column's coefficient in each row, or 0.
    """

    of_column: IndexArray
    binaries: int
    column: Any
    whole: Any
    long_columns: Any
    row_split: Any
    row_place: Any
    row_weight: Any
    row_largest: Any


def places_of(device_model: DeviceModel) -> Places:
    """Lay a model out for batches, on its device."""
    model, there = device_model.model, device_model.device.to_device
    is_binary = np.asarray(model.is_binary)
    column = np.argsort(~is_binary, kind="stable").astype(np.int32)
    of_column = np.empty_like(column)
    of_column[column] = np.arange(column.size, dtype=np.int32)
    binaries = int(np.count_nonzero(is_binary))
    lengths = model.columns.lengths[column]
    split, position = _binary_first(model, is_binary)
    place, weight = of_column[model.rows.indices], model.rows.data
    if position is not None:
        place, weight = _moved(place, position), _moved(weight, position)
    return Places(
        of_column=of_column,
        binaries=binaries,
        column=there(column),
        whole=there(model.is_integer[column[binaries:]].astype(np.int32)),
        long_columns=there(np.flatnonzero(lengths > LONG_COLUMN).astype(np.int32)),
        row_split=there(split),
        row_place=there(place),
        row_weight=there(weight),
        row_largest=there(_largest(model, is_binary)),
    )


def _binary_first(model: MipModel, is_binary: BoolArray) -> tuple[IndexArray, IndexArray | None]:
    """Return where binary entries end in each row, and where each entry goes (None: it stays)."""
    binary = is_binary[model.rows.indices]
    before = np.concatenate([[0], np.cumsum(binary)])  # binary entries before each entry
    starts = model.rows.indptr[:-1].astype(np.int64)
    split = starts + before[model.rows.indptr[1:]] - before[starts]
    if binary.all() or not binary.any():
        return split.astype(np.int32), None
    lengths = model.rows.lengths
    entry = np.arange(binary.size)
    binary_rank = before[:-1] - np.repeat(before[starts], lengths)
    first = np.repeat(starts, lengths)
    wide_rank = entry - first - binary_rank
    position = np.where(binary, first + binary_rank, np.repeat(split, lengths) + wide_rank)
    return split.astype(np.int32), position.astype(np.int32)


def _moved(values: Any, position: IndexArray) -> Any:
    moved = np.empty_like(values)
    moved[position] = values
    return moved


def _largest(model: MipModel, is_binary: BoolArray) -> FloatArray:
    largest = np.zeros(model.num_rows)
    filled = model.rows.lengths > 0
    if filled.any():
        sizes = np.where(is_binary[model.rows.indices], np.abs(model.rows.data), 0.0)
        largest[filled] = np.maximum.reduceat(sizes, model.rows.indptr[:-1][filled])
    return largest


ALL = 2**LANES - 1
"""The word of all lanes: bit k stands for lane k."""

PAIRS_PER_LOOK = 3
"""Pairs of rounds queued on a GPU before the host looks whether they go on: a propagation after a
bulk of fixings takes three to six rounds, and a round without work costs two empty launches."""

WORK_PIECE = 32
"""Entries that the kernels count as one."""


@dataclass(frozen=True)
class Verdict:
    """How a propagation ended.

    Parameters
    ----------
    dead : int
        The word of the lanes whose box is empty, now or since earlier.
    rounds : int
        Rounds that had something to do.
    work : float
        Entries of the matrix visited, each for all lanes at once.
    is_settled : bool
        Whether nothing is left to do; False if the limit of rounds was reached before.
    driver : tuple of int
        What ``control`` holds for whoever drives the batch.
    """

    dead: int
    rounds: int
    work: float
    is_settled: bool
    driver: tuple[int, ...]


class BatchBoxes:
    """Boxes of 32 candidates, one for each lane, on a device.

    Lanes are named by words: bit k stands for lane k. An empty box is *dead*: nothing happens in
    it any more until its lane is loaded, restored or given another box. Integer columns have whole
    bounds, and binary columns of the model keep within 0 and 1.

    Not for several threads at once. On a GPU the stream that is current at the first propagation
    serves all of them (``device.activate()`` gives one whose launches can be recorded).

    Parameters
    ----------
    device_model : DeviceModel
        What to propagate on. The batch takes 12 bytes per entry, 50 per row and column, 16 per
        binary column and 1 kB for each other one (1.5 kB once something is saved).
    """

    def __init__(self, device_model: DeviceModel) -> None:
        self.model = device_model
        self.places = places_of(device_model)
        rows, columns = device_model.num_rows, device_model.num_columns
        wide = columns - self.places.binaries
        self.row_changed, self.row_list = self._integers(rows), self._integers(rows)
        self.column_changed = self._integers(2, columns)
        self.column_list = self._integers(2, columns)
        self.masks = self._integers(self.places.binaries, 2)
        self.next_masks = self._integers(self.places.binaries, 2)
        self.wide = device_model.device.xp.zeros((wide, 2, LANES))
        self.next_wide = device_model.device.xp.zeros((wide, 2, LANES))
        self.control = self._integers(Control.SIZE.value)
        self._lower, self._upper = (device_model.device.xp.zeros(columns) for _ in range(2))
        self._source = self._integers(LANES)
        self._saved: tuple[Any, Any] | None = None
        self._queue: Callable[[], None] | None = None
        self._rounds_before = self._work_before = 0

    def load(self, lower: FloatArray, upper: FloatArray, lanes: int = ALL) -> None:
        """Give lanes the box lower, upper (n,), and let them live; nothing is propagated."""
        write(self._lower, lower)
        write(self._upper, upper)
        box = (self.places.binaries, self.places.column, self._lower, self._upper)
        columns = self.model.num_columns
        BATCH["batch_load"](signed(lanes), columns, *box, *self._boxes, self.control)

    def wake(self, lanes: int = ALL) -> None:
        """Have all rows looked at in these lanes at the next propagation."""
        rows = (self.model.num_rows, self.model.rows.indptr, self.row_changed, self.row_list)
        BATCH["batch_wake"](signed(lanes), *rows, self.control)

    def tighten(
        self, lane: IndexArray, column: IndexArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Narrow columns in single lanes, each item (k,) one; propagated with the next call.

        Bounds of integer columns are whole; bounds that are no tighter change nothing.
        """
        there = self.model.device.to_device
        items = (
            int(np.size(lane)),
            there(np.asarray(lane, dtype=np.int32)),
            there(self.places.of_column[column]),
            there(np.asarray(lower, dtype=np.float64)),
            there(np.asarray(upper, dtype=np.float64)),
        )
        columns = (self.model.num_columns, self.places.binaries)
        changes = (self.column_changed, self.column_list, self.next_masks, self.next_wide)
        BATCH["batch_tighten"](*items, *columns, *changes, self.control)

    def propagate(self, round_limit: int = ROUND_LIMIT) -> Verdict:
        """Propagate what was narrowed or woken, in all lanes that live, until nothing changes."""
        self._run_pairs(PAIRS_PER_LOOK)
        control = self.read_control()
        while control[Control.NUM_COLUMNS] and self._rounds_since(control) < round_limit:
            self._run_pairs(PAIRS_PER_LOOK)
            control = self.read_control()
        verdict = Verdict(
            dead=int(control[Control.DEAD]) & ALL,
            rounds=self._rounds_since(control),
            work=float((int(control[Control.WORK]) - self._work_before) % 2**32 * WORK_PIECE),
            is_settled=not control[Control.NUM_COLUMNS],
            driver=tuple(int(value) for value in control[Control.FREE :]),
        )
        self._rounds_before, self._work_before = (
            int(control[Control.ROUNDS]),
            int(control[Control.WORK]),
        )
        return verdict

    def save(self) -> None:
        """Keep all boxes as they are, to be brought back by :meth:`restore`."""
        if self._saved is None:
            xp = self.model.device.xp
            self._saved = xp.empty_like(self.masks), xp.empty_like(self.wide)
        for target, source in zip(self._saved, (self.masks, self.wide), strict=True):
            copy(target, source)

    def restore(self, lanes: int) -> None:
        """Give lanes back the boxes that were saved, and let them live."""
        if self._saved is None:
            raise RuntimeError("restore() without a save() before it")
        source = np.where(_bits(lanes), np.arange(LANES), -1)
        self._assign(source, *self._saved)

    def adopt(self, source: IndexArray) -> None:
        """Give each lane k the present box of lane ``source[k]``, (32,); -1 leaves it alone."""
        self._assign(source, self.masks, self.wide)

    def bounds(self, lanes: int = ALL) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds (n, k) of the k lanes of a word, rising, on the host."""
        which = lanes_of(lanes)
        to_host = self.model.device.to_host
        words = to_host(self.masks)
        wide = to_host(self.wide)
        binaries, of_column = self.places.binaries, self.places.of_column
        lower = np.empty((self.model.num_columns, which.size))
        upper = np.empty_like(lower)
        for place, lane in enumerate(which):
            lower[:binaries, place] = 1 - ((words[:, 0] >> lane) & 1)
            upper[:binaries, place] = (words[:, 1] >> lane) & 1
            lower[binaries:, place] = wide[:, 0, lane]
            upper[binaries:, place] = wide[:, 1, lane]
        return lower[of_column], upper[of_column]

    def read_control(self) -> npt.NDArray[np.int32]:
        """Return ``control`` on the host; waits for what is queued."""
        return self.model.device.to_host(self.control)

    @property
    def _boxes(self) -> tuple[Any, ...]:
        return (self.masks, self.wide, self.next_masks, self.next_wide)

    def _integers(self, *shape: int) -> Any:
        return self.model.device.xp.zeros(shape, dtype=np.int32)

    def _assign(self, source: IndexArray, masks: Any, wide: Any) -> None:
        write(self._source, np.asarray(source, dtype=np.int32))
        sizes = (self._source, self.model.num_columns, self.places.binaries, self.places.whole)
        BATCH["batch_assign"](*sizes, masks, wide, *self._boxes, self.control)

    def _run_pairs(self, count: int) -> None:
        """Run pairs of rounds, an even and an odd one."""
        if self.model.device.kind == "cpu":
            self._run_on_cpu(count)
            return
        if self._queue is None:
            columns, rows = self.arguments()
            launches: list[Callable[[], None]] = []
            for parity in (0, 1) * count:
                launches.append(BATCH.bind("batch_columns", parity, *columns))
                launches.append(BATCH.bind("batch_rows", parity, *rows))
            self._queue = queued(self.model.device, launches)
        self._queue()

    def _run_on_cpu(self, count: int) -> None:
        here, places = self.model, self.places
        sizes = (here.num_rows, here.num_columns, places.binaries)
        by_column = (places.column, here.columns.indptr, here.columns.indices)
        by_row = (here.rows.indptr, places.row_split, places.row_place, places.row_weight)
        sides = (places.row_largest, here.row_lower, here.row_upper, places.whole)
        changes = (self.row_changed, self.row_list, self.column_changed, self.column_list)
        BATCH.twin.rounds(
            count, *sizes, *by_column, *by_row, *sides, *changes, *self._boxes, self.control
        )

    def arguments(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the arguments of ``batch_columns`` and ``batch_rows`` after the parity."""
        here, places = self.model, self.places
        sizes = (here.num_rows, here.num_columns, places.binaries)
        changes = (self.row_changed, self.row_list, self.column_changed, self.column_list)
        by_column = (places.column, here.columns.indptr, here.columns.indices)
        long_columns = (places.long_columns, int(places.long_columns.size))
        by_row = (here.rows.indptr, places.row_split, places.row_place, places.row_weight)
        sides = (places.row_largest, here.row_lower, here.row_upper, places.whole)
        columns = (*sizes, *by_column, *long_columns, here.rows.indptr, *changes, *self._boxes)
        rows = (*sizes, *by_row, *sides, *changes, *self._boxes)
        return (*columns, self.control), (*rows, self.control)

    def _rounds_since(self, control: npt.NDArray[np.int32]) -> int:
        """Return the rounds with something to do since the last propagation."""
        return (int(control[Control.ROUNDS]) - self._rounds_before) % 2**32


def signed(word: int) -> int:
    """Return a word of lanes as the signed integer of 32 bits that kernels take."""
    return word - 2**LANES if word >= 2 ** (LANES - 1) else word


def lanes_of(word: int) -> npt.NDArray[np.int64]:
    """Return the lanes of a word, rising."""
    return np.flatnonzero(_bits(word))


def _bits(word: int) -> npt.NDArray[np.bool_]:
    """Return which lanes a word holds, (32,)."""
    return np.asarray((word >> np.arange(LANES, dtype=np.int64)) & 1, dtype=np.bool_)
