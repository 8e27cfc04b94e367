"""The walkers of one run on their device: launched in slices, read and steered between them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.mip.heuristics.local_search.gpu.kernels.fields import RECORD, Field
from solvers.mip.heuristics.local_search.gpu.kernels.restart import RESTARTS
from solvers.mip.heuristics.local_search.gpu.kernels.walk import WALKS
from solvers.mip.heuristics.local_search.gpu.layout import Layout
from solvers.mip.heuristics.local_search.gpu.plan import Plan
from solvers.mip.heuristics.local_search.gpu.state import State, make_state
from solvers.mip.heuristics.local_search.grid_wide.state import GridWideState

REFRESH_STEPS = 1000
"""Steps after which slack is computed anew where it can drift."""


class Fleet:
    """Walkers with their state and the model on one device, for one thread.

    Parameters
    ----------
    layout : Layout
    device : Device
        Active in the calling thread.
    plan : Plan
    seed : int
    """

    def __init__(self, layout: Layout, device: Device, plan: Plan, seed: int) -> None:
        self.layout = layout
        self.device = device
        self.kernel = plan.kernel
        self._seed = seed % 2**31
        self._model = layout.on(device)
        self._bounds = self._model[6 + list(layout.arrays).index("bounds")]
        self._scales = self._model[6 + list(layout.arrays).index("scales")]
        self._state = self._allocate(plan.ladder[-1])
        self._points: Any = None
        self._epoch = 0
        self._since_refresh = 0
        self._clock = _Clock(device)

    def _allocate(self, walkers: int) -> State | GridWideState:
        return make_state(self.layout, self.device, walkers, self._seed)

    @property
    def walkers(self) -> int:
        """Number of walkers W."""
        return self._state.walkers

    def launch(self, steps: int, walkers: int | None = None) -> None:
        """Let the first ``walkers`` (all of them by default) make so many steps each.

        On a GPU it returns at once; :meth:`records` waits.
        """
        self._clock.start()
        self._walk(steps, self.walkers if walkers is None else walkers)
        self._clock.stop()
        self._since_refresh += steps

    def _walk(self, steps: int, walkers: int) -> None:
        arguments = (*self._state.arguments[:-1], walkers, steps, self._seed)
        WALKS[self.kernel](*self._model, *arguments, threads=1)

    def seconds(self) -> float:
        """Return how long the last slice took on the device; waits for it."""
        return self._clock.seconds()

    def records(self) -> npt.NDArray[np.float64]:
        """Return the walkers' records (W, RECORD); waits for the slice."""
        every: npt.NDArray[np.float64] = self.device.to_host(self._state.records)
        return np.array(every.reshape(-1, RECORD)[: self.walkers])

    def steer(self, records: npt.NDArray[np.float64]) -> None:
        """Set the records (W, RECORD); where slack can drift, ask for a refresh in time."""
        if self._since_refresh >= REFRESH_STEPS and not self.layout.is_exact:
            records[:, Field.REFRESH] = 1.0
            self._since_refresh = 0
        self._state = replace(self._state, records=self.device.to_device(records.ravel()))

    def kept(self, walker: int) -> npt.NDArray[np.float64]:
        """Return the best point (n,) that a walker kept, in the model's order."""
        n = self.layout.columns
        return self.layout.point_of(
            self.device.to_host(self._state.kept[walker * n : (walker + 1) * n])
        )

    def point(self, walker: int) -> npt.NDArray[np.float64]:
        """Return the point (n,) where a walker stands, in the model's order."""
        n = self.layout.columns
        values = self.device.to_host(self._state.values[2 * walker * n : 2 * (walker + 1) * n])
        return self.layout.point_of(values[0::2])

    def set_points(self, points: npt.NDArray[Any]) -> None:
        """Set the points (P, n), in the layout's order, that walkers may take."""
        self._points = self.device.to_device(points.ravel())

    def restart(
        self,
        origins: npt.NDArray[Any],
        weights: npt.NDArray[Any],
        shares: npt.NDArray[Any],
    ) -> None:
        """Set walkers to other points, as ``epochs.restarts`` says it."""
        layout, place = self.layout, self.device.to_device
        RESTARTS["restart"](
            layout.rows,
            layout.columns,
            layout.binaries,
            layout.integers,
            self._bounds,
            self._scales,
            self._points,
            place(origins.astype(np.int32)),
            place(weights.astype(np.int32)),
            place(shares.astype(layout.real)),
            self._state.values,
            self._state.cells,
            self._state.records,
            self.walkers,
            self._seed,
            self._epoch,
            threads=1,
        )
        self._epoch += 1

    def keep_first(self, walkers: int) -> None:
        """Go on with the first walkers only."""
        self._state = replace(self._state, walkers=walkers)


class _Clock:
    """Seconds of a launch, by events on a GPU and by the clock on a CPU."""

    def __init__(self, device: Device) -> None:
        self._events: tuple[Any, Any] | None = None
        self._began = self._ended = 0.0
        if device.kind == "cuda":
            event = device.xp.cuda.Event
            self._events = (event(), event())
        self._device = device

    def start(self) -> None:
        if self._events is None:
            self._began = time.perf_counter()
        else:
            self._events[0].record()

    def stop(self) -> None:
        if self._events is None:
            self._ended = time.perf_counter()
        else:
            self._events[1].record()

    def seconds(self) -> float:
        if self._events is None:
            return self._ended - self._began
        self._events[1].synchronize()
        elapsed = self._device.xp.cuda.get_elapsed_time(*self._events)
        return float(elapsed) / 1000.0
