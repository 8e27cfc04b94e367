"""From a batch to the launches of its slices; see ``solvers.simplex.batch.slices``.

Where a GPU's memory does not suffice, it goes on on the CPU. A compiled loop of seconds cannot be
interrupted, nor does Python hear Ctrl-C while its main thread is there. So it runs in a thread of
its own; the caller's looks at the clock and sets a flag that it reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device, cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.simplex.batch.data import BatchAnswer, Ending, Settings
from solvers.simplex.batch.kernels.check import FAMILY as CHECK
from solvers.simplex.batch.kernels.simplex import (
    ALL_FAR,
    ALL_NEAR,
    COLUMN_VECTORS,
    FAMILY,
    HELD_COLUMNS,
    HELD_ENTRIES,
    MATRIX_FAR,
    ROW_VECTORS,
    VARIABLE_VECTORS,
    VARYING,
)
from solvers.simplex.batch.prepare import DeviceCheck, Prepared
from solvers.simplex.batch.slices import Lane, Pace, make_lanes, solve_slices
from solvers.simplex.batch.transfer import (
    SLICE_BYTES,
    Inputs,
    SliceResults,
    empty_answer,
    to_device_together,
)

# How LPs are laid out on a GPU: where a block keeps its LP, and how many threads and blocks.


REAL = 8
INT = 4

SHARED_MEMORY = 232_448
"""Bytes of shared memory a block may have on an H100 or H200."""

DECLARED_SHARED = 2 * 1024
"""Bytes of it left for what the kernel itself declares."""

ENTRIES_PER_THREAD = 25
"""Entries of a dictionary for each thread, about: enough of them to hide the waits of a pivot's
choices behind the other blocks of a multiprocessor."""

SMALLEST_BLOCK, LARGEST_BLOCK = 32, 512

WARP = 32

BLOCKS_PER_PROCESSOR = 32
FAR_BLOCKS_PER_PROCESSOR = 2
"""Blocks in the grid for each multiprocessor; those that come later find the queue empty. Where
dictionaries are in global memory, few blocks keep more of them in the cache."""


@dataclass(frozen=True)
class Layout:
    """Launch arguments of the kernel that depend on sizes only; see ``kernels/simplex.py``.

    ``held`` says that it is kernel ``simplex_held``; ``scratch_step`` counts
    the numbers of a block's part of ``scratch``.
    """

    place: int
    leading: int
    held: bool
    block: int
    blocks: int
    shared: int
    scratch_step: int


def find_layout(
    rows: int, columns: int, *, count: int, processors: int, shared_memory: int = SHARED_MEMORY
) -> Layout:
    """Choose by size.

    Parameters
    ----------
    rows, columns : int
        Of each LP.
    count : int
        LPs.
    processors : int
        Multiprocessors of the GPU.
    shared_memory : int
        Bytes of shared memory a block may have on it.
    """
    room = shared_memory - DECLARED_SHARED
    held = _held_layout(rows, columns, room, count, processors)
    if held is not None:
        return held
    block = _threads(rows, columns)
    vectors = vector_bytes(rows, columns, block)
    # an odd number of rows lets the threads that read along a row meet different banks
    leading = rows | 1
    matrix = REAL * leading * columns
    if vectors + matrix <= room:
        place, shared, scratch = ALL_NEAR, vectors + matrix, 0
    else:
        leading = -(-rows // 4) * 4  # whole sectors of 32 bytes
        scratch = leading * columns
        place, shared = MATRIX_FAR, vectors
        if vectors > room:
            place, shared = ALL_FAR, 0
            scratch += vectors // REAL
    most = BLOCKS_PER_PROCESSOR if place == ALL_NEAR else FAR_BLOCKS_PER_PROCESSOR
    blocks = max(1, min(count, most * processors))
    return Layout(place, leading, False, block, blocks, shared, scratch)


def _held_layout(rows: int, columns: int, room: int, count: int, processors: int) -> Layout | None:
    """Return the layout with the dictionary in registers, where it fits."""
    shares = -(-columns // HELD_ENTRIES)
    block = -(-rows * shares // WARP) * WARP
    if not 0 < block <= LARGEST_BLOCK or columns > HELD_COLUMNS:
        return None
    leading = rows | 1
    shared = vector_bytes(rows, columns, block) + held_bytes(columns, block)
    shared += REAL * leading * columns
    if shared > room:
        return None
    blocks = max(1, min(count, BLOCKS_PER_PROCESSOR * processors))
    return Layout(ALL_NEAR, leading, True, block, blocks, shared, 0)


def held_bytes(columns: int, block: int) -> int:
    """Return the bytes of what a block keeps beside a dictionary in registers; see held.cuh."""
    padded = -(-columns // HELD_ENTRIES) * HELD_ENTRIES
    alignment = 1
    return REAL * (alignment + 2 * padded + 2 * block)


def vector_bytes(rows: int, columns: int, block: int) -> int:
    """Return the bytes of all that a block keeps beside the dictionary; see state.cuh."""
    variables = rows + columns
    reals = COLUMN_VECTORS * columns + ROW_VECTORS * rows + VARIABLE_VECTORS * variables
    reals += block  # partial sums
    integers = 2 * variables + columns
    return REAL * (reals + -(-integers * INT // REAL))


def _threads(rows: int, columns: int) -> int:
    """Return threads of a block: whole warps for each 32 rows, with few enough entries each."""
    groups = max(1, -(-rows // WARP))
    block = SMALLEST_BLOCK * groups
    while block < LARGEST_BLOCK and block * ENTRIES_PER_THREAD < rows * columns:
        block *= 2
    return min(block, LARGEST_BLOCK)


STOP = -1
"""What the flag holds once the loop has to end."""

SLICES = 6
"""Launches on a GPU, if there are LPs enough, so that transfers have something to run beside."""

FEWEST_IN_SLICE = 2500
"""LPs in such a launch at least, about. Of 10,000 LPs of 20x40, 50x100 and 100x200 four launches
took 4.8, 12.0 and 63.5 ms in all, two 4.2, 12.2 and 66.7, and eight 6.3, 11.4 and 62.8."""

SLICE_STEPS = {"cuda": 1e11, "cpu": 2e9}
"""Steps of a launch at most, about, since an interruption waits for it: entries of the dictionary
times rows and columns, which the pivots of an LP grow with."""

FIRST_WATCHED = 64
"""LPs in the first launch where there is a time limit; the next ones follow from its time."""


Result = TypeVar("Result")


def solve_where_it_fits(
    wanted: str, progress: Progress, solve_on: Callable[[Device], Result]
) -> Result:
    """Return what ``solve_on`` gives on the wanted device, or on the CPU if that is too small.

    Raises
    ------
    DeviceError
        A GPU was asked for where there is none.
    """
    device = find_device(wanted)
    try:
        with device.activate():
            return solve_on(device)
    except Exception as error:
        if device.kind == "cpu" or not device.is_out_of_memory(error):
            raise
    device.release_memory()
    progress.log(f"{device.name} is out of memory; going on on the CPU.")
    return solve_on(cpu())


def run_watched(work: Callable[[], Any], flag: npt.NDArray[np.int32], progress: Progress) -> None:
    """Run work in a thread; put :data:`STOP` into ``flag`` (1,) once ``progress`` says so.

    Raises
    ------
    BaseException
        What the work raised, or came while it was waited for; the work has ended by then.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # the caller raises it in its own thread
            raised.append(error)
        finally:
            ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=run, name="batch", daemon=True)
    thread.start()
    try:
        while not ended.wait(LOOK_AGAIN):
            if progress.should_stop() is not None:
                flag[0] = STOP
    finally:
        flag[0] = STOP
        while not ended.wait(LOOK_AGAIN):
            pass  # in slices, because a sleeping main thread may miss Ctrl-C
    if raised:
        raise raised[0]


def run(
    prepared: Prepared,
    device: Device,
    options: EngineOptions,
    progress: Progress,
    settings: Settings,
    *,
    check: bool = False,
) -> BatchAnswer:
    """Solve slice after slice until the end of the batch or of the time."""
    data = prepared.data
    m, n = data.pattern.shape
    answer = empty_answer(device, data.count, m, n, check=check)
    launcher = _Launcher(prepared, device, options, settings, progress)
    if answer.figures is not None:
        launcher.check = DeviceCheck(device, data.pattern)
    solve_slices(
        answer,
        launcher.launch,
        make_lanes(device, launcher.make_scratch),
        Pace(launcher.most, FIRST_WATCHED, settings.seconds_unwatched),
        device,
        progress,
    )
    answer.basis[answer.ending == Ending.NOT_REACHED] = 0
    return answer


class _Launcher:
    """Launches slices; what all LPs share is brought to the device once."""

    def __init__(
        self,
        prepared: Prepared,
        device: Device,
        options: EngineOptions,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self.device = device
        self.progress = progress
        data = prepared.data
        self.shape = m, n = data.pattern.shape
        arrays: dict[str, Any] = {
            name: getattr(data, name).astype(np.float64, copy=False) for name in VARYING[:-1]
        }
        arrays["given"] = prepared.given.astype(np.int32)
        arrays["offset"] = data.offset
        self.inputs = Inputs(device, arrays)
        self.check: DeviceCheck | None = None
        self.most = self._largest_slice(data.count, max(1, m * n * (m + n)))
        limit = settings.most_pivots(m, n)
        if options.iteration_limit is not None:
            limit = min(options.iteration_limit, limit)
        row_scale, column_scale, dictionary, parameters, heads, *pattern = to_device_together(
            device,
            [
                prepared.row_scale,
                prepared.column_scale,
                prepared.dictionary,
                settings.parameters.as_array(),
                prepared.heads,
                data.pattern.indptr.astype(np.int32, copy=False),
                data.pattern.indices.astype(np.int32, copy=False),
            ],
        )
        self.pattern = pattern
        self.settings = (
            row_scale, column_scale, dictionary, heads, prepared.start, parameters, limit
        )  # fmt: skip
        self.threads = options.threads
        self.layout = self._layout()
        device.synchronize()

    def make_scratch(self) -> Any:
        """Return global memory for all blocks of a launch."""
        return self.device.xp.empty(max(1, self.layout.blocks * self.layout.scratch_step))

    def launch(self, results: SliceResults, lane: Lane) -> None:
        """Bring the data of a slice in and start on it."""
        arrays = self.inputs.bring(results.first, results.last, lane.parcel)
        layout, there = self.layout, results.there
        queue = self.device.xp.zeros(1, dtype=np.int32)
        values = (
            results.last - results.first,
            *self.shape,
            *self.pattern,
            self.inputs.varying_of(VARYING),
            *(arrays[name] for name in VARYING),
            *self.settings,
            layout.leading,
            layout.place,
            layout.block,
            layout.blocks,
            layout.shared,
            layout.scratch_step,
            lane.scratch,
            queue,
            there["x"],
            there["row_dual"],
            there["ray"],
            there["statuses"],
            there["ending"],
            there["iterations"],
        )
        kernel = FAMILY["simplex_held" if layout.held else "simplex"]
        if self.device.kind == "cpu":
            run_watched(partial(kernel, *values, threads=self.threads), queue, self.progress)
        else:
            kernel(*values, threads=self.threads)
        wide = there["statuses"]
        CHECK["narrow"](wide.size, wide, there["basis"], threads=self.threads)
        if self.check is not None:
            self.check.launch(results, self.inputs, arrays, self.pattern)

    def _largest_slice(self, count: int, steps: int) -> int:
        """Return the LPs of a launch at most, of so many steps each."""
        kind = self.device.kind
        most = min(count, int(SLICE_STEPS[kind] // steps), self.inputs.most_in_slice(SLICE_BYTES))
        if kind == "cuda":
            slices = min(SLICES, max(1, count // FEWEST_IN_SLICE))
            most = min(most, -(-count // slices))
        return max(1, most)

    def _layout(self) -> Layout:
        m, n = self.shape
        if self.device.kind != "cuda":
            return Layout(0, m, False, 1, 1, 0, 0)
        return find_layout(
            m,
            n,
            count=self.most,
            processors=self.device.attribute("MultiProcessorCount"),
            shared_memory=self.device.attribute("MaxSharedMemoryPerBlockOptin"),
        )
