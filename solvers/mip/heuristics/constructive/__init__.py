"""Sweeps over all rows: a first point of a huge model in time linear in its size."""

from solvers.mip.heuristics.constructive.construct import SOURCE, Swept, sweep

__all__ = ["SOURCE", "Swept", "sweep"]
