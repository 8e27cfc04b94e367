"""Setting walkers to other points: those of better walkers, or points from outside, perturbed."""

from __future__ import annotations

from enum import IntEnum, auto

from solvers.kernels.declaration import BLOCK, Kernel, Launch, arguments, structure
from solvers.kernels.family import Family
from solvers.mip.heuristics.local_search.gpu.kernels.walk import FORESEEN, MODEL


class Weights(IntEnum):
    """What becomes of a walker's weights."""

    RESET = 0
    KEEP = auto()
    HALVE = auto()


RESTART = Kernel(
    name="restart",
    arguments=(
        *MODEL,
        *structure("from", "real[] points; index[] origins, weights; real[] shares", prefix=""),
        *arguments("inout real[] values, cells; inout packed[] records; int walkers, seed, epoch"),
    ),
    contract="Walker w with origins[w] >= 0 takes the values of that walker, or of point "
    "origins[w] - walkers, and a share shares[w] of them changes at random; its weights become 1, "
    "or those of the walker it follows, or half of them, as weights[w] says, and its record asks "
    "for a refresh. No walker that is followed restarts itself. Device and twin agree exactly.",
    launch=lambda values: Launch(int(values["walkers"]), BLOCK),
    work=lambda values: int(values["walkers"]) * (int(values["columns"]) + int(values["rows"])),
)

RESTARTS = Family(
    "solvers.mip.heuristics.local_search.gpu.kernels",
    "restart",
    (RESTART,),
    foreseen=FORESEEN,
)
