"""The whole GPU's walker, launched and steered as a fleet of one."""

from __future__ import annotations

from solvers.core.device import Device
from solvers.mip.heuristics.local_search.gpu.fleet import Fleet
from solvers.mip.heuristics.local_search.gpu.layout import Layout
from solvers.mip.heuristics.local_search.gpu.plan import Plan
from solvers.mip.heuristics.local_search.grid_wide.kernels.grid_walk import GRID_WALK
from solvers.mip.heuristics.local_search.grid_wide.state import TEAMS, GridWideState, make_grid_wide

BLOCKS_PER_PROCESSOR = 2
"""Blocks that run at once on a multiprocessor; the kernel's registers allow as many."""


class GridWideFleet(Fleet):
    """One walker with its state and the model on one device, for one thread.

    Parameters
    ----------
    layout : Layout
    device : Device
        Active in the calling thread.
    plan : Plan
    seed : int
    teams : int
        Groups of 32 candidates in a round. The walk depends on it, on the blocks it does not.
    """

    def __init__(
        self, layout: Layout, device: Device, plan: Plan, seed: int, teams: int = TEAMS
    ) -> None:
        self._teams = teams
        self._blocks = _blocks(device)
        super().__init__(layout, device, plan, seed)

    def _allocate(self, walkers: int) -> GridWideState:
        return make_grid_wide(self.layout, self.device, self._teams, self._seed)

    def _walk(self, steps: int, walkers: int) -> None:
        arguments = (*self._state.arguments, self._blocks, steps, self._seed)
        GRID_WALK["walk_grid"](*self._model, *arguments, threads=1)


def _blocks(device: Device) -> int:
    """Return the blocks of a launch, all of which have to run at once."""
    if device.kind == "cpu":
        return 1
    processors = device.xp.cuda.Device(device.index).attributes["MultiProcessorCount"]
    return BLOCKS_PER_PROCESSOR * int(processors)
