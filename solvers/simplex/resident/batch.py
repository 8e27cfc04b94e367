"""Running iterations until one of them has something to say, or a batch of them is through.

On a GPU a batch is a recorded graph, so that the host launches once and reads once for dozens of
iterations; kernels do nothing once the status word says so. That still takes them time, for which
there are short batches where the end is near.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solvers.simplex.resident.arrays import Arrays
from solvers.simplex.resident.control import RUNNING, STATUS
from solvers.simplex.resident.nucleus import Nucleus
from solvers.simplex.resident.steps import Step, dual_iteration, primal_iteration

LONG, SHORT = 64, 8
"""Iterations of a batch (lp-algorithms.md, 3.3: 50 to 100), and of one after a factorisation, when
often there is nothing left to do but to confirm a claim."""


class Batches:
    """Runs batches of dual or primal iterations on the current stream."""

    def __init__(self, arrays: Arrays, nucleus: Nucleus) -> None:
        self._arrays, self._nucleus = arrays, nucleus
        self._graphs: dict[tuple[str, int], Any] = {}
        self._generation = nucleus.generation

    def run(self, kind: str, count: int) -> None:
        """Run so many iterations, 'dual' or 'primal', or fewer if there is something to say."""
        steps = self._steps(kind)
        if self._arrays.device.kind == "cpu":
            control = self._arrays.control
            for _ in range(count):
                for step in steps:
                    step.run()
                if control[STATUS] != RUNNING:
                    return
        else:
            self._graph(kind, steps, count).launch()

    def _steps(self, kind: str) -> tuple[Step, ...]:
        make = dual_iteration if kind == "dual" else primal_iteration
        return make(self._arrays, self._nucleus)

    def _graph(self, kind: str, steps: tuple[Step, ...], count: int) -> Any:
        """Return the graph of a batch, recorded again when arrays have been replaced."""
        if self._generation != self._nucleus.generation:
            self._graphs.clear()
            self._generation = self._nucleus.generation
        if (kind, count) not in self._graphs:
            launches = [step.bound() for step in steps]  # compiles, which a capture forbids
            self._graphs[kind, count] = self._record(launches, count)
        return self._graphs[kind, count]

    def _record(self, launches: list[Callable[[], None]], count: int) -> Any:
        stream = self._arrays.device.xp.cuda.get_current_stream()
        stream.begin_capture()
        try:
            for _ in range(count):
                for launch in launches:
                    launch()
        finally:
            graph = stream.end_capture()
        return graph
