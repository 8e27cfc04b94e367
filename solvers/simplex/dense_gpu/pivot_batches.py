"""Running iterations until one of them has something to say, or a batch of them is through.

The host reads once for dozens of iterations. On a GPU, where that pays, blocks that stay make a
whole batch of dual iterations in one launch. Of others some are recorded as a graph, which a batch
launches several times over; its kernels do nothing once the status word says so. That still takes
them time, for which there are short batches where the end is near.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solvers.simplex.dense_gpu.arrays import MOST_LANES, Arrays
from solvers.simplex.dense_gpu.control import RUNNING, STATUS
from solvers.simplex.dense_gpu.nucleus import Nucleus
from solvers.simplex.dense_gpu.steps import (
    Step,
    dual_iteration,
    dual_iterations,
    first_dual,
    first_primal,
    primal_iteration,
)

UNIT = 8
"""Iterations of a graph. Recording takes the host some microseconds for each launch, and launching
a graph less than its iterations take."""

LONG, SHORT = 64, 8
"""Iterations of a batch, and of one after a factorisation, when
often there is nothing left to do but to confirm a claim."""

STAY_ROWS = 2500
"""Rows up to which dual iterations are made by blocks that stay, if columns are short. With 8
entries a column they took 20.0 us on an H200 with 500 rows and 19.2 with 2,000, graphs 19.6 and
20.6, but they stop when there is nothing left to do. Graphs took 25 us instead of 29 with 10,000
rows, and with 400 entries a column 4 to 32 % less at any size: memory and arithmetic take the time
there, which single kernels keep more threads busy with."""


class Batches:
    """Runs batches of dual or primal iterations on the current stream."""

    def __init__(self, arrays: Arrays, nucleus: Nucleus) -> None:
        self._arrays, self._nucleus = arrays, nucleus
        self._graphs: dict[str, Any] = {}
        self._stays = arrays.device.kind != "cpu" and _stay_pays(arrays)
        self._loop: Any = None
        self._generation = nucleus.generation

    def size(self, kind: str, *, at_start: bool) -> int:
        """Return the iterations of a batch; ``at_start`` says that it follows a factorisation."""
        if kind == "dual" and self._stays:
            return self._arrays.most  # iterations that are not made take no time
        return SHORT if at_start else LONG

    def prepare(self, kind: str) -> None:
        """Run what has to run before the first iteration after a change of values or duals."""
        if kind == "primal":
            first_primal(self._arrays).run()
        elif not self._stays:
            first_dual(self._arrays).run()

    def run(self, kind: str, count: int) -> None:
        """Run at least so many iterations, 'dual' or 'primal', unless there is something to say."""
        if kind == "dual" and self._stays:
            self._stay(count)
        elif self._arrays.device.kind == "cpu":
            steps, control = self._steps(kind), self._arrays.control
            for _ in range(count):
                for step in steps:
                    step.run()
                if control[STATUS] != RUNNING:
                    return
        else:
            graph = self._graph(kind)
            for _ in range(-(-count // UNIT)):
                graph.launch()

    def _steps(self, kind: str) -> tuple[Step, ...]:
        make = dual_iteration if kind == "dual" else primal_iteration
        return make(self._arrays, self._nucleus)

    def _stay(self, count: int) -> None:
        """Launch the blocks that make so many dual iterations."""
        self._forget()
        if self._loop is None:
            step = dual_iterations(self._arrays, self._nucleus, count)
            self._loop = step.family.bind(step.name, *step.arguments)
        self._loop.ending(count)()

    def _forget(self) -> None:
        """Let go of launches prepared for arrays that have been replaced."""
        if self._generation != self._nucleus.generation:
            self._graphs.clear()
            self._loop = None
            self._generation = self._nucleus.generation

    def _graph(self, kind: str) -> Any:
        """Return the graph of some iterations, recorded again when arrays have been replaced."""
        self._forget()
        if kind not in self._graphs:
            # Compiles, which a capture forbids.
            launches = [step.bound() for step in self._steps(kind)]
            self._graphs[kind] = self._record(launches)
        return self._graphs[kind]

    def _record(self, launches: list[Callable[[], None]]) -> Any:
        stream = self._arrays.device.xp.cuda.get_current_stream()
        stream.begin_capture()
        try:
            for _ in range(UNIT):
                for launch in launches:
                    launch()
        finally:
            graph = stream.end_capture()
        return graph


def _stay_pays(arrays: Arrays) -> bool:
    return arrays.rows <= STAY_ROWS and arrays.columns.lanes < MOST_LANES
