"""Sweeps over all rows: a first point of a huge model in time linear in its size."""

from solvers.mip.sweeps.construct import SOURCE, Swept, sweep

__all__ = ["SOURCE", "Swept", "sweep"]
