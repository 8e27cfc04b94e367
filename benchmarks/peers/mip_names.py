"""The mixed-integer solvers by short name; a module is imported when its solver is asked for."""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.mip_solver import MipSolver

_PLACES = {
    "ours": ("mip_ours", "Ours"),
    "ours-heuristics": ("mip_ours", "OursHeuristics"),
    "highs": ("mip_highs", "HighsMip"),
    "localmip": ("mip_localmip", "LocalMip"),
    "cuopt": ("mip_cuopt", "CuOptMip"),
    "cuopt-heuristics": ("mip_cuopt", "CuOptHeuristics"),
}

NAMES = tuple(_PLACES)


def find(name: str) -> MipSolver:
    """Return a solver by its short name.

    Raises
    ------
    KeyError
        There is no such solver.
    """
    if name not in _PLACES:
        raise KeyError(f"There is no solver '{name}'; known are {', '.join(NAMES)}.")
    module, kind = _PLACES[name]
    solver: MipSolver = getattr(import_module(f"benchmarks.peers.{module}"), kind)()
    return solver
