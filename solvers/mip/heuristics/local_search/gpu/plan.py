"""How many walkers, of which kind, fit a device and a model."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.device import Device
from solvers.mip.heuristics.local_search.gpu.layout import Layout
from solvers.mip.heuristics.local_search.gpu.state import bytes_per_walker, touched_bytes
from solvers.mip.heuristics.local_search.grid_wide.choose import GRID_KERNEL, suits_grid
from solvers.mip.heuristics.local_search.grid_wide.state import TEAMS, grid_bytes

WARP_LADDER = (132, 264, 528, 1056, 2112, 4224)
"""Numbers of warp walkers to choose from: 1 to 32 on each of an H200's processors."""

BLOCK_LADDER = (132, 264, 528)
"""Numbers of block walkers to choose from."""

CPU_WALKERS = 4
"""Walkers on the CPU: enough for epochs, few enough to get anywhere."""

LONG_MEAN = 200.0
"""Mean entries of rows or columns from which a block walks instead of a warp."""

BLOCK_BYTES = 8 << 20
"""State of one walker from which a block walks: a warp takes too long over it."""

MEMORY_SHARE = 0.25
"""Part of the free memory that walkers may take: other heuristics are at work as well."""

UNKNOWN_MEMORY = 4 << 30
"""Free memory assumed where the device does not say."""

CACHE_BYTES = 50 << 20
"""State that all walkers together read all the time should fit the L2 cache of an H200."""

MODEST = 1056
"""Walkers from which more hardly help small models, and hurt others."""


@dataclass(frozen=True)
class Plan:
    """What to allocate and run.

    Parameters
    ----------
    kernel : str
        ``walk`` (a warp to a walker), ``walk_wide`` (a block) or ``walk_grid`` (all of the GPU).
    ladder : tuple of int
        Numbers of walkers that fit, rising; empty where not even one does.
    first : int
        The number to use where no measurement decides.
    walker_bytes : int
        Memory of one walker.
    """

    kernel: str
    ladder: tuple[int, ...]
    first: int
    walker_bytes: int

    def __str__(self) -> str:
        kind = {"walk": "warp", "walk_wide": "block"}.get(self.kernel, "whole-GPU")
        most = self.ladder[-1] if self.ladder else 0
        memory = most * self.walker_bytes / 2**20
        return f"up to {most} {kind} walkers, {self.walker_bytes} bytes each, {memory:.0f} MiB"

    def halved(self) -> Plan:
        """Return a plan for half the memory."""
        most = self.ladder[-1] // 2
        ladder = tuple(number for number in self.ladder if number <= most) or (most,)
        ladder = ladder if most > 0 else ()
        return Plan(self.kernel, ladder, min(self.first, most), self.walker_bytes)


def plan_for(layout: Layout, device: Device) -> Plan:
    """Choose the kind of walkers and how many of them a device holds."""
    size = bytes_per_walker(layout)
    if device.kind == "cpu":
        return Plan("walk", (CPU_WALKERS,), CPU_WALKERS, size)
    memory = int(MEMORY_SHARE * (device.memory_free or UNKNOWN_MEMORY))
    if suits_grid(layout):
        size = grid_bytes(layout, TEAMS)
        fits = size <= memory
        return Plan(GRID_KERNEL, (1,) if fits else (), int(fits), size)
    mean = layout.entries / max(1, min(layout.rows, layout.columns))
    wide = mean > LONG_MEAN or size > BLOCK_BYTES
    room = memory // size
    ladder = tuple(n for n in (BLOCK_LADDER if wide else WARP_LADDER) if n <= room)
    if not ladder and room > 0:
        ladder = (room,)
    kernel = "walk_wide" if wide else "walk"
    if not ladder:
        return Plan(kernel, (), 0, size)
    in_cache = max(ladder[0], CACHE_BYTES // touched_bytes(layout))
    first = max(n for n in ladder if n <= max(ladder[0], min(MODEST, in_cache)))
    return Plan(kernel, ladder, first, size)
