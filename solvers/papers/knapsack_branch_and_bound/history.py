"""Where the nodes of every level came from: two bits for each, and the way back along them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.papers.knapsack_branch_and_bound.kernels.nodes import (
    AT,
    CONTROL_SIZE,
    FAMILY,
    LEFT_OUT,
)


@dataclass(frozen=True, eq=False)
class Step:
    """What ``gather`` noted of a level, and the places of those that merging kept, if it merged."""

    chunk_count: Any
    tile_place: Any
    kept: Any
    tiles: int
    order: Any = None

    @property
    def on_gpu(self) -> bool:
        """Whether the arrays are CuPy's."""
        return not isinstance(self.kept, np.ndarray)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(values.nbytes) for values in self._arrays().values())

    def on_host(self) -> Step:
        """Return the same with NumPy arrays."""
        if not self.on_gpu:
            return self
        return replace(self, **{name: values.get() for name, values in self._arrays().items()})

    def ancestor(self, node: int) -> tuple[int, bool]:
        """Return which node of the level before a node was or came from, and which of the two."""
        if self.order is not None:
            node = int(self.order[node])
        control = np.zeros(CONTROL_SIZE, dtype=self.chunk_count.dtype)
        control[AT] = node
        if self.on_gpu:
            import cupy

            there = cupy.asarray(control)
        else:
            there = control
        FAMILY["ancestor"](self.chunk_count, self.tile_place, self.kept, there, self.tiles)
        found = there.get() if self.on_gpu else there
        return int(found[AT]), bool(found[LEFT_OUT])

    def _arrays(self) -> dict[str, Any]:
        arrays = {
            "chunk_count": self.chunk_count,
            "tile_place": self.tile_place,
            "kept": self.kept,
            "order": self.order,
        }
        return {name: values for name, values in arrays.items() if values is not None}


class History:
    """The steps of all levels so far; on a GPU up to ``most_bytes``, beyond that on the host."""

    def __init__(self, most_bytes: float) -> None:
        self._most, self._held = most_bytes, 0
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Note a level."""
        if step.on_gpu:
            if self._held + step.nbytes > self._most:
                step = step.on_host()
            else:
                self._held += step.nbytes
        self._steps.append(step)

    def left_out(self, level: int, node: int, count: int) -> npt.NDArray[np.bool_]:
        """Return which items the way to a new node of a level leaves out, of those up to its own.

        ``node`` counts behind the ``count`` old nodes of that level.
        """
        found = np.zeros(level + 1, dtype=np.bool_)
        found[level] = True
        node -= count
        for before in range(level - 1, -1, -1):
            node, found[before] = self._steps[before].ancestor(node)
        return found
