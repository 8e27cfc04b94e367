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
from solvers.progress import Progress
from solvers.simplex.batch.answer import BatchAnswer, Ending
from solvers.simplex.batch.kernels.simplex import FAMILY, VARYING
from solvers.simplex.batch.layout import Layout, find_layout
from solvers.simplex.batch.prepare import Prepared
from solvers.simplex.batch.settings import Settings

MOST_IN_SLICE = 16_384
"""LPs in a launch at most: an interruption waits for it."""

SLICE_STEPS = {"cuda": 1e11, "cpu": 2e9}
"""Steps of a launch at most, about, for the same reason: entries of the dictionary times rows and
columns, which the pivots of an LP grow with."""

FIRST_WATCHED = 64
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
        basis=np.zeros((data.count, n + m), dtype=np.int8),
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
        *results, ray = launched.results
        arrays: tuple[Any, ...] = (
            answer.x,
            answer.row_dual,
            answer.basis,
            answer.ending,
            answer.iterations,
        )
        for whole, found in zip(arrays, results, strict=True):
            whole[part] = device.to_host(found).reshape(whole[part].shape)
        unbounded = np.flatnonzero(answer.ending[part] == Ending.UNBOUNDED).tolist()
        if unbounded:
            directions = device.to_host(ray).reshape(answer.x[part].shape)
            answer.rays.update({launched.first + k: directions[k].copy() for k in unbounded})


class _Launcher:
    """Launches slices; what all LPs share is brought to the device once."""

    def __init__(
        self, prepared: Prepared, device: Device, options: EngineOptions, settings: Settings
    ) -> None:
        self.device = device
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
        steps = max(1, m * n * (m + n))
        self.most = max(
            1,
            min(
                data.count,
                int(SLICE_STEPS[device.kind] // steps),
                SLICE_BYTES // max(1, 8 * width),
            ),
        )
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
        m, n = self.shape
        count = last - first
        arrays = {name: self._bring(name, first, last, upload) for name in self.own}
        arrays |= self.common
        x, y, ray = xp.empty(count * n), xp.empty(count * m), xp.empty(count * n)
        basis = xp.empty(count * (n + m), dtype=np.int32)
        ending = xp.empty(count, dtype=np.int32)
        iterations = xp.empty(count, dtype=np.int32)
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
            xp.zeros(1, dtype=np.int32),
            x,
            y,
            ray,
            basis,
            ending,
            iterations,
            threads=self.threads,
        )
        return x, y, basis, ending, iterations, ray

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
