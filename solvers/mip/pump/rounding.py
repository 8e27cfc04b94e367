"""How a projection is rounded: a callable, of which these are the plain ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.model import MipModel
from solvers.problem import FloatArray


@dataclass(frozen=True, eq=False)
class Rounded:
    """A point (n,) with whole integer columns, within its bounds.

    ``is_consistent`` says that propagation met no contradiction on the way, so that an LP over
    the continuous columns is worth its time.
    """

    x: FloatArray
    is_consistent: bool = False


Rounder = Callable[[FloatArray, Budget, int], Rounded]
"""Takes a point (n,) within its bounds, what it may spend and a seed."""


def nearest(model: MipModel) -> Rounder:
    """Return the rounder to the nearest integer."""

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        budget.charge(model.num_columns)
        return Rounded(model.rounded(x))

    return rounder


def randomised(model: MipModel) -> Rounder:
    """Return the rounder that is nearly random in the middle between two integers.

    With w uniform, the point is moved by ``2 w (1 - w)``, or one minus that if w exceeds 1/2,
    and rounded down (Bertacco, Fischetti and Lodi 2007).
    """

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        budget.charge(model.num_columns)
        w = np.random.default_rng(seed).random(model.integers.size)
        part = 2.0 * w * (1.0 - w)
        shift = np.where(w > 0.5, 1.0 - part, part)
        point = x.copy()
        point[model.integers] = np.floor(x[model.integers] + shift)
        return Rounded(model.rounded(point))

    return rounder
