"""Setting walkers to other points: those of better walkers, or points from outside, perturbed."""

from __future__ import annotations

from enum import IntEnum, auto

from solvers.kernels.family import Argument, Family, Kernel, Launch
from solvers.mip.heuristics.local_search.gpu.kernels.walk import BLOCK


class Weights(IntEnum):
    """What becomes of a walker's weights."""

    RESET = 0
    KEEP = auto()
    HALVE = auto()


RESTART = Kernel(
    name="restart",
    arguments=(
        Argument("rows", "int"),
        Argument("columns", "int"),
        Argument("binaries", "int"),
        Argument("integers", "int"),
        Argument("bounds", "real[]"),
        Argument("scales", "real[]"),
        Argument("points", "real[]"),
        Argument("origins", "index[]"),
        Argument("weights", "index[]"),
        Argument("shares", "real[]"),
        Argument("values", "real[]", "inout"),
        Argument("cells", "real[]", "inout"),
        Argument("records", "packed[]", "inout"),
        Argument("walkers", "int"),
        Argument("seed", "int"),
        Argument("epoch", "int"),
    ),
    contract="Walker w with origins[w] >= 0 takes the values of that walker, or of point "
    "origins[w] - walkers, and a share shares[w] of them changes at random; its weights become 1, "
    "or those of the walker it follows, or half of them, as weights[w] says, and its record asks "
    "for a refresh. No walker that is followed restarts itself. Device and twin agree exactly.",
    launch=lambda values: Launch(int(values["walkers"]), BLOCK),
    work=lambda values: int(values["walkers"]) * (int(values["columns"]) + int(values["rows"])),
    bytes_moved=lambda values: (
        32 * int(values["walkers"]) * (int(values["columns"]) + int(values["rows"]))
    ),
)

RESTARTS = Family(
    "solvers.mip.heuristics.local_search.gpu.kernels",
    "restart",
    (RESTART,),
    foreseen=[{"real": real, "records": "float64"} for real in ("float32", "float64")],
)
