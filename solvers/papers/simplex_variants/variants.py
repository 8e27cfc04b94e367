"""Who makes the pivots: the paper's four variants (its section 3.2) behind one face.

========= =========================================================================================
cpu       dense LU of every basis by LAPACK, everything on the host
naive     the same LU on the GPU by cuSOLVER in every iteration, ratio test on the host
resident  an explicit inverse on the device, rank-one updates, ratio test in one block ("GPU-RS")
graphs    iterations in a CUDA graph, x updated, ratio test over the grid, snapshot and stream
          ("GPU-RS+G")
========= =========================================================================================

The last three run on a machine without GPU as well: ``naive`` by NumPy, the others by the twins of
their kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from solvers.core.device import Device
from solvers.core.errors import OptionError
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis
from solvers.papers.simplex_variants.scaling import ScaledForm

VARIANTS = ("cpu", "naive", "resident", "graphs")


class Pivots(Protocol):
    """Pivots on one basis, steered by a control array (``kernels/layout.py``).

    ``control`` is the host's copy: ``run`` takes tolerances and limits from it and leaves what the
    device made of it there. ``batch`` is how many pivots to ask for between two looks at the clock,
    and ``inversions`` counts inverses or LUs made by ``load``.
    """

    control: FloatArray
    batch: int
    inversions: int

    def load(self, basic: Basis, rhs: FloatArray, *, new_weights: bool) -> bool:
        """Take a basis over: its inverse or LU, x, costs and y; return False if it is singular.

        A basis that was loaded before, with no pivot since, is not inverted again.
        """

    def set_phase(self) -> None:
        """Compute costs and y anew for the phase that ``control`` names."""

    def run(self, count: int) -> int:
        """Make up to ``count`` pivots; return the reason to stop."""

    def basic(self) -> Basis:
        """(m,) variables of the basis."""

    def x(self) -> FloatArray:
        """(m,) values of the basic variables."""

    def penalise(self, variable: int) -> None:
        """Let pricing take a variable last."""


PENALTY = 1e30
"""Devex weight of a variable whose pivots were too small."""


def make_pivots(variant: str, form: ScaledForm, device: Device) -> Pivots:
    """Return the pivots of a variant by its name.

    Raises
    ------
    OptionError
        There is no such variant.
    """
    makers: dict[str, Callable[[], Pivots]] = {
        "cpu": lambda: _host(form, None),
        "naive": lambda: _host(form, device),
        "resident": lambda: _on_device(form, device, "resident"),
        "graphs": lambda: _on_device(form, device, "graphs"),
    }
    if variant not in makers:
        raise OptionError(f"There is no variant '{variant}'; there are {', '.join(VARIANTS)}.")
    return makers[variant]()


def _host(form: ScaledForm, device: Device | None) -> Pivots:
    from solvers.papers.simplex_variants.host_pivots import HostPivots

    return HostPivots(form, device)


def _on_device(form: ScaledForm, device: Device, variant: str) -> Pivots:
    from solvers.papers.simplex_variants.device_pivots import GraphsPivots, ResidentPivots

    return (ResidentPivots if variant == "resident" else GraphsPivots)(form, device)


def positions(basic: Basis, count: int) -> Basis:
    """Return (count,) the position of each variable in the basis; -1 outside."""
    position = np.full(count, -1, dtype=np.int64)
    position[basic] = np.arange(basic.size)
    return position
