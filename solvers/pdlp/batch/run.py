"""From a batch to the launches of its slices; see ``solvers.kernels.batch.slices``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from solvers.device import Device
from solvers.kernels.batch.check import DeviceCheck
from solvers.kernels.batch.inputs import SLICE_BYTES, Inputs
from solvers.kernels.batch.limits import gpu_limits
from solvers.kernels.batch.results import SliceResults, answer_arrays
from solvers.kernels.batch.slices import Lane, Pace, make_lanes, solve_slices
from solvers.kernels.batch.watched import run_watched
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
    answer = BatchAnswer(**answer_arrays(device, data.count, *data.pattern.shape, check=check))
    launcher = _Launcher(prepared, device, options, settings, progress)
    if answer.figures is not None:
        launcher.check = DeviceCheck(device, data.pattern, (Ending.CONVERGED, Ending.VERTEX))
    solve_slices(
        answer,
        launcher.launch,
        make_lanes(device, launcher.most, launcher.make_scratch),
        Pace(launcher.most, FIRST_WATCHED, settings.seconds_unwatched),
        device,
        progress,
        make_results=lambda first, last: SliceResults(device, answer, first, last),
    )
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
        self.prepared = prepared
        self.device = device
        self.progress = progress
        data = prepared.data
        self.inputs = Inputs(device, {name: getattr(data, name) for name in VARYING})
        self.check: DeviceCheck | None = None
        entries = SLICE_ENTRIES[device.kind] // data.pattern.nnz
        own = self.inputs.most_in_slice(SLICE_BYTES)
        self.most = max(1, min(data.count, entries, own, MOST_IN_SLICE))
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
        device.synchronize()

    def launch(self, results: SliceResults, lane: Lane) -> None:
        """Bring the data of a slice in and start on it."""
        arrays = self.inputs.bring(results.first, results.last, lane.parcel)
        layout, there = self.layout, results.there
        queue = self.device.xp.zeros(1, dtype=np.int32)
        values = (
            results.last - results.first,
            *self.prepared.data.pattern.shape,
            *self.pattern,
            self.inputs.varying_of(VARYING),
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
            lane.scratch,
            queue,
            there["x"],
            there["row_dual"],
            there["ending"],
            there["iterations"],
        )
        if self.device.kind == "cpu":
            run = partial(FAMILY["solve"], *values, threads=self.threads)
            run_watched(run, queue, self.progress)
        else:
            FAMILY["solve"](*values, threads=self.threads)
        if self.check is not None:
            self.check.launch(results, self.inputs, arrays, self.pattern[:2])

    def _layout(self) -> Layout:
        data = self.prepared.data
        m, n = data.pattern.shape
        if self.device.kind != "cuda":
            return Layout(0, n, min(m, n, LARGEST_VERTEX), False, 1, 1, 0, 0)
        limits = gpu_limits(self.device)
        return find_layout(
            m,
            n,
            data.pattern.nnz,
            own_matrix=self.inputs.is_own("values"),
            count=self.most,
            processors=limits.processors,
            shared_memory=limits.shared_memory,
        )

    def make_scratch(self) -> Any:
        """Return the blocks' memory with, behind it, a matrix that all share, scaled."""
        layout, xp = self.layout, self.device.xp
        own = layout.blocks * layout.scratch_step
        if layout.storage < MIXED or self.inputs.is_own("values"):
            return xp.empty(max(1, own))
        data, prepared = self.prepared.data, self.prepared
        row_of = np.repeat(np.arange(data.pattern.shape[0]), np.diff(data.pattern.indptr))
        scaled = data.values[0] * prepared.row_scale[row_of]
        scaled *= prepared.column_scale[data.pattern.indices]
        scratch = xp.empty(own + 2 * scaled.size)
        scratch[own : own + scaled.size] = self.device.to_device(scaled)
        scratch[own + scaled.size :] = self.device.to_device(scaled[prepared.column_entries])
        return scratch
