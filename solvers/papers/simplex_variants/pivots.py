"""What the four variants have in common: pivots on one basis."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis


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


def positions(basic: Basis, count: int) -> Basis:
    """Return (count,) the position of each variable in the basis; -1 outside."""
    position = np.full(count, -1, dtype=np.int64)
    position[basic] = np.arange(basic.size)
    return position
