"""Launches: slices of the batch, one or two on their way at a time.

Slices exist so that data that has to travel overlaps with computing, and so that a time limit and
an interruption are heeded; an LP is never split.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.device import Device
from solvers.kernels.upload import Upload
from solvers.options import EngineOptions
from solvers.progress import Progress
from solvers.simplex.batch.answer import BatchAnswer
from solvers.simplex.batch.kernels.simplex import FAMILY, VARYING
from solvers.simplex.batch.layout import Layout, find_layout
from solvers.simplex.batch.prepare import Prepared
from solvers.simplex.batch.results import (
    SliceResults,
    empty_answer,
    leave_out,
    put_down,
    send_home,
    slice_results,
)
from solvers.simplex.batch.settings import Settings

SLICES = 6
"""Launches on a GPU at least, so that checks and transfers have something to run beside."""

FEWEST_IN_SLICE = 2048
"""LPs in such a launch at least: fewer leave a GPU's multiprocessors without work."""

SLICE_STEPS = {"cuda": 1e11, "cpu": 2e9}
"""Steps of a launch at most, about, since an interruption waits for it: entries of the dictionary
times rows and columns, which the pivots of an LP grow with."""

FIRST_WATCHED = 64
"""LPs in the first launch where there is a time limit; the next ones follow from its time."""

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""

STREAMS = 2


Watch = Callable[[BatchAnswer, int, int], None]
"""Called with the answer and the numbers of LPs, from and to, that have just been solved."""


@dataclass(eq=False)
class _Launched:
    """A slice on its way: its results, and its stream."""

    results: SliceResults
    stream: Any

    def arrive(self, device: Device, answer: BatchAnswer) -> None:
        """Wait for the slice, and put its results where they belong."""
        with self.stream:
            device.synchronize()
            put_down(device, self.results, answer)


def run(
    prepared: Prepared,
    device: Device,
    options: EngineOptions,
    progress: Progress,
    settings: Settings,
    watch: Watch | None = None,
) -> BatchAnswer:
    """Solve slice after slice until the end of the batch or of the time.

    While ``watch`` looks at a slice, the next ones are on their way.
    """
    data = prepared.data
    m, n = data.pattern.shape
    answer = empty_answer(device, data.count, m, n)
    launcher = _Launcher(prepared, device, options, settings, answer)
    watched = np.isfinite(progress.time_limit)
    size = min(launcher.most, FIRST_WATCHED) if watched else launcher.most
    on_their_way: deque[_Launched] = deque()
    first = 0

    def launch_more() -> None:
        nonlocal first
        while first < data.count and len(on_their_way) < (1 if watched else STREAMS):
            if progress.should_stop() is not None:
                return
            last = min(data.count, first + size)
            on_their_way.append(launcher.launch(first, last))
            first = last

    launch_more()
    while on_their_way:
        began = time.perf_counter()
        launched = on_their_way.popleft()
        launched.arrive(device, answer)
        if watched:
            allowed = min(settings.seconds_unwatched, 0.1 * progress.time_left)
            growth = allowed / max(1e-6, time.perf_counter() - began)
            size = int(np.clip(size * min(4.0, growth), 1, launcher.most))
        launch_more()
        if watch is not None:
            watch(answer, launched.results.first, launched.results.last)
    leave_out(answer, first)
    return answer


class _Launcher:
    """Launches slices; what all LPs share is brought to the device once."""

    def __init__(
        self,
        prepared: Prepared,
        device: Device,
        options: EngineOptions,
        settings: Settings,
        answer: BatchAnswer,
    ) -> None:
        self.device = device
        self.answer = answer
        data = prepared.data
        self.shape = m, n = data.pattern.shape
        arrays = {name: getattr(data, name) for name in VARYING[:-1]}
        arrays["given"] = prepared.given
        self.own = {name: array for name, array in arrays.items() if array.shape[0] != 1}
        self.common = {
            name: device.to_device(
                array.reshape(-1).astype(np.int32 if name == "given" else np.float64, copy=False)
            )
            for name, array in arrays.items()
            if name not in self.own
        }
        self.varying = sum(1 << bit for bit, name in enumerate(VARYING) if name in self.own)
        width = sum(array.shape[1] for array in self.own.values())
        self.most = self._largest_slice(data.count, max(1, m * n * (m + n)), 8 * width)
        limit = settings.most_pivots(m, n)
        if options.iteration_limit is not None:
            limit = min(options.iteration_limit, limit)
        self.settings = (
            device.to_device(prepared.row_scale),
            device.to_device(prepared.column_scale),
            device.to_device(prepared.dictionary),
            device.to_device(prepared.heads),
            prepared.start,
            device.to_device(settings.parameters.as_array()),
            limit,
        )
        self.threads = options.threads
        self.layout = self._layout()
        self.pattern = [
            device.to_device(array.astype(np.int32, copy=False))
            for array in (data.pattern.indptr, data.pattern.indices)
        ]
        on_gpu = device.kind == "cuda"
        self.streams = [
            device.xp.cuda.Stream(non_blocking=True) if on_gpu else None for _ in range(STREAMS)
        ]
        scratch = max(1, self.layout.blocks * self.layout.scratch_step)
        self.scratch = [device.xp.empty(scratch) for _ in range(STREAMS if on_gpu else 1)]
        self.uploads = [Upload(device, self.most) for _ in range(STREAMS)]
        device.synchronize()
        self.launches = 0

    def _largest_slice(self, count: int, steps: int, own_bytes: int) -> int:
        """Return the LPs of a launch at most, of so many steps and bytes of its own each."""
        kind = self.device.kind
        most = min(count, int(SLICE_STEPS[kind] // steps), SLICE_BYTES // max(1, own_bytes))
        if kind == "cuda":
            most = min(most, max(FEWEST_IN_SLICE, -(-count // SLICES)))
        return max(1, most)

    def launch(self, first: int, last: int) -> _Launched:
        """Bring the data of the LPs from ``first`` to ``last`` in and start on them."""
        turn = self.launches % STREAMS
        self.launches += 1
        stream = self.streams[turn]
        context: AbstractContextManager[Any] = nullcontext() if stream is None else stream
        with context:
            scratch = self.scratch[turn % len(self.scratch)]
            results = self._launch(first, last, scratch, self.uploads[turn])
            send_home(self.device, results, self.answer)
        return _Launched(results, context)

    def _launch(self, first: int, last: int, scratch: Any, upload: Upload) -> SliceResults:
        m, n = self.shape
        count = last - first
        arrays = {name: self._bring(name, first, last, upload) for name in self.own}
        arrays |= self.common
        found = slice_results(self.device, self.answer, first, last)
        layout = self.layout
        FAMILY["simplex_held" if layout.held else "simplex"](
            count,
            m,
            n,
            *self.pattern,
            self.varying,
            *(arrays[name] for name in VARYING),
            *self.settings,
            layout.leading,
            layout.place,
            layout.held,
            layout.block,
            layout.blocks,
            layout.shared,
            layout.scratch_step,
            scratch,
            self.device.xp.zeros(1, dtype=np.int32),
            found.x,
            found.y,
            found.ray,
            found.basis,
            found.ending,
            found.iterations,
            threads=self.threads,
        )
        return found

    def _bring(self, name: str, first: int, last: int, upload: Upload) -> Any:
        rows = self.own[name][first:last]
        if name == "given":  # not numbers of eight bytes, and few: the driver's own way
            return self.device.to_device(rows.reshape(-1).astype(np.int32))
        return upload.bring(name, rows)

    def _layout(self) -> Layout:
        m, n = self.shape
        if self.device.kind != "cuda":
            return Layout(0, m, 0, 1, 1, 0, 0)
        attributes = self.device.xp.cuda.Device().attributes
        return find_layout(
            m,
            n,
            count=self.most,
            processors=attributes["MultiProcessorCount"],
            shared_memory=attributes["MaxSharedMemoryPerBlockOptin"],
        )
