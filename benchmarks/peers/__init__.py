"""Solvers side by side: one small module each, all with the interface in ``solver.py``.

``find`` imports a solver's module only when it is asked for, so that a benchmark runs with
whatever is installed.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.solver import Answer, Solver, Task

__all__ = ["NAMES", "Answer", "Solver", "Task", "find"]

_PLACES = {
    "ours": ("ours", "Pdlp"),
    "ours-auto": ("ours", "Auto"),
    "highs-simplex": ("highs", "Simplex"),
    "highs-ipm": ("highs", "InteriorPoint"),
    "highs-pdlp": ("highs", "Pdlp"),
    "ortools": ("ortools_pdlp", "OrToolsPdlp"),
    "cupdlpx": ("cupdlpx", "CuPdlpx"),
    "hprlp": ("hprlp", "HprLp"),
    "cuopt": ("cuopt", "CuOpt"),
    "cuopt-barrier": ("cuopt", "Barrier"),
    "cuopt-concurrent": ("cuopt", "Concurrent"),
}

NAMES = tuple(_PLACES)


def find(name: str, device: str = "auto") -> Solver:
    """Return a solver by its short name; ``device`` is where ours runs.

    Raises
    ------
    KeyError
        There is no such solver.
    """
    if name not in _PLACES:
        raise KeyError(f"There is no solver '{name}'; known are {', '.join(NAMES)}.")
    module, kind = _PLACES[name]
    solver: Solver = getattr(import_module(f"benchmarks.peers.{module}"), kind)(device)
    return solver
