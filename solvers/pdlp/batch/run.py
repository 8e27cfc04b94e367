"""Launches: slices of the batch, one or two on their way at a time.

Slices exist so that data that has to travel overlaps with computing, and so that a time limit and
an interruption are heeded; an LP is never split.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.device import Device
from solvers.kernels.upload import Upload
from solvers.options import EngineOptions
from solvers.pdlp.batch.answer import BatchAnswer, Ending
from solvers.pdlp.batch.kernels.solve import FAMILY, MIXED, VARYING
from solvers.pdlp.batch.layout import LARGEST_VERTEX, Layout, find_layout
from solvers.pdlp.batch.prepare import POWER_ITERATIONS, Prepared
from solvers.pdlp.batch.settings import Settings
from solvers.progress import Progress

MOST_IN_SLICE = 16_384
"""LPs in a launch at most: an interruption waits for it."""

SLICE_ENTRIES = {"cuda": 100_000_000, "cpu": 2_000_000}
"""Matrix entries in a launch at most, of all its LPs together, for the same reason."""

FIRST_WATCHED = 512
"""LPs in the first launch where there is a time limit; the next ones follow from its time."""

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""

STREAMS = 2


@dataclass(eq=False)
class _Launched:
    """A slice on its way: its place in the batch, its results, and its stream."""

    first: int
    last: int
    results: tuple[Any, ...]
    stream: Any


def run(
    prepared: Prepared,
    device: Device,
    options: EngineOptions,
    progress: Progress,
    settings: Settings,
) -> BatchAnswer:
    """Solve slice after slice until the end of the batch or of the time."""
    data = prepared.data
    m, n = data.pattern.shape
    answer = BatchAnswer(
        x=np.zeros((data.count, n)),
        row_dual=np.zeros((data.count, m)),
        ending=np.full(data.count, Ending.NOT_REACHED, dtype=np.int32),
        iterations=np.zeros(data.count, dtype=np.int32),
        device=device.kind,
    )
    launcher = _Launcher(prepared, device, options, settings)
    watched = np.isfinite(progress.time_limit)
    size = min(launcher.most, FIRST_WATCHED if watched else MOST_IN_SLICE)
    on_their_way: deque[_Launched] = deque()
    first = 0
    while first < data.count and progress.should_stop() is None:
        began = time.perf_counter()
        last = min(data.count, first + size)
        on_their_way.append(launcher.launch(first, last))
        if watched or len(on_their_way) == STREAMS:
            _collect(on_their_way.popleft(), device, answer)
        first = last
        if watched:
            allowed = min(settings.seconds_unwatched, 0.1 * progress.time_left)
            growth = allowed / max(1e-6, time.perf_counter() - began)
            size = int(np.clip(size * min(4.0, growth), 1, min(launcher.most, MOST_IN_SLICE)))
    while on_their_way:
        _collect(on_their_way.popleft(), device, answer)
    return answer


def _collect(launched: _Launched, device: Device, answer: BatchAnswer) -> None:
    """Wait for a slice and put its results where they belong."""
    part = slice(launched.first, launched.last)
    with launched.stream:
        x, y, status, iterations = map(device.to_host, launched.results)
    answer.x[part] = x.reshape(answer.x[part].shape)
    answer.row_dual[part] = y.reshape(answer.row_dual[part].shape)
    answer.ending[part] = status
    answer.iterations[part] = iterations


class _Launcher:
    """Launches slices; what all LPs share is brought to the device once."""

    def __init__(
        self, prepared: Prepared, device: Device, options: EngineOptions, settings: Settings
    ) -> None:
        self.prepared = prepared
        self.device = device
        data = prepared.data
        arrays = {name: getattr(data, name) for name in VARYING}
        self.own = {name: array for name, array in arrays.items() if array.shape[0] != 1}
        self.shared = {
            name: device.to_device(array.reshape(-1))
            for name, array in arrays.items()
            if name not in self.own
        }
        self.varying = sum(1 << bit for bit, name in enumerate(VARYING) if name in self.own)
        width = sum(array.shape[1] for array in self.own.values())
        entries = SLICE_ENTRIES[device.kind] // data.pattern.nnz
        self.most = max(1, min(data.count, entries, SLICE_BYTES // max(1, 8 * width)))
        limit = settings.iteration_limit
        if options.iteration_limit is not None:
            limit = min(options.iteration_limit, np.iinfo(np.int32).max)
        self.limits = (settings.ruiz_passes, POWER_ITERATIONS, limit, settings.check_interval)
        self.threads = options.threads
        self.layout = self._layout()
        self.pattern = [
            device.to_device(array)
            for array in (
                data.pattern.indptr,
                data.pattern.indices,
                prepared.column_starts,
                prepared.column_rows,
                prepared.column_entries,
            )
        ]
        self.scales = [
            device.to_device(array)
            for array in (
                prepared.row_scale,
                prepared.column_scale,
                prepared.parameters.as_array(),
            )
        ]
        on_gpu = device.kind == "cuda"
        self.streams = [
            device.xp.cuda.Stream(non_blocking=True) if on_gpu else None for _ in range(STREAMS)
        ]
        self.scratch = [self._scratch() for _ in range(STREAMS if on_gpu else 1)]
        self.uploads = [Upload(device, self.most) for _ in range(STREAMS)]
        device.synchronize()
        self.launches = 0

    def launch(self, first: int, last: int) -> _Launched:
        """Bring the data of the LPs from ``first`` to ``last`` in and start on them."""
        turn = self.launches % STREAMS
        self.launches += 1
        stream = self.streams[turn]
        context: AbstractContextManager[Any] = nullcontext() if stream is None else stream
        with context:
            scratch = self.scratch[turn % len(self.scratch)]
            results = self._launch(first, last, scratch, self.uploads[turn])
        return _Launched(first, last, results, context)

    def _launch(self, first: int, last: int, scratch: Any, upload: Upload) -> tuple[Any, ...]:
        xp = self.device.xp
        m, n = self.prepared.data.pattern.shape
        count = last - first
        arrays = {name: upload.bring(name, array[first:last]) for name, array in self.own.items()}
        arrays |= self.shared
        results = (
            xp.empty(count * n),
            xp.empty(count * m),
            xp.empty(count, dtype=np.int32),
            xp.empty(count, dtype=np.int32),
        )
        layout = self.layout
        FAMILY["solve"](
            count,
            m,
            n,
            *self.pattern,
            self.varying,
            *(arrays[name] for name in VARYING),
            *self.scales,
            *self.limits,
            layout.vertex_limit,
            layout.storage,
            layout.leading,
            int(layout.vertex_shared),
            layout.block,
            layout.blocks,
            layout.shared,
            layout.scratch_step,
            scratch,
            xp.zeros(1, dtype=np.int32),
            *results,
            threads=self.threads,
        )
        return results

    def _layout(self) -> Layout:
        data = self.prepared.data
        m, n = data.pattern.shape
        if self.device.kind != "cuda":
            return Layout(0, n, min(m, n, LARGEST_VERTEX), False, 1, 1, 0, 0)
        attributes = self.device.xp.cuda.Device().attributes
        return find_layout(
            m,
            n,
            data.pattern.nnz,
            own_matrix="values" in self.own,
            count=self.most,
            processors=attributes["MultiProcessorCount"],
            shared_memory=attributes["MaxSharedMemoryPerBlockOptin"],
        )

    def _scratch(self) -> Any:
        """Return the blocks' memory with, behind it, a matrix that all share, scaled."""
        layout, xp = self.layout, self.device.xp
        own = layout.blocks * layout.scratch_step
        if layout.storage < MIXED or "values" in self.own:
            return xp.empty(max(1, own))
        data, prepared = self.prepared.data, self.prepared
        row_of = np.repeat(np.arange(data.pattern.shape[0]), np.diff(data.pattern.indptr))
        scaled = data.values[0] * prepared.row_scale[row_of]
        scaled *= prepared.column_scale[data.pattern.indices]
        scratch = xp.empty(own + 2 * scaled.size)
        scratch[own : own + scaled.size] = self.device.to_device(scaled)
        scratch[own + scaled.size :] = self.device.to_device(scaled[prepared.column_entries])
        return scratch
