"""The linear program that every projection of a pump solves, with one matrix for all of them.

A projection minimises the distance of the integer columns to a rounded point. Where that point is
at a bound of the column, the distance is the column itself, with cost +1 or -1. Elsewhere it is a
column of its own, ``d_j >= |x_j - xhat_j|``, with two rows::

    d_j + x_j >= xhat_j          d_j - x_j >= -xhat_j

Both stand there for every integer column that has values between its bounds, and are switched off
by their bounds and sides, so that from projection to projection the matrix never changes. A row
``c'x <= target`` is there for the improvement of a known point (Fischetti, Glover and Lodi 2005;
Bertacco, Fischetti and Lodi 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.vectors import euclidean
from solvers.mip.model import IndexArray, MipModel

TOLERANCE = 1e-6
"""Relative tolerance of a projection whose point is to be submitted, and of the relaxation."""


@dataclass(frozen=True, eq=False)
class Request:
    """The vectors of one projection: (n + k,) for columns, (rows,) for rows."""

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    tolerance: float = TOLERANCE
    x: FloatArray | None = None
    y: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Augmented:
    """A model's relaxation with room for distances and a cut-off.

    Columns n to n + k are the distances of the columns ``general``. Rows from m on are: the
    cut-off, if the model has an objective (``has_cutoff``); k rows ``d + x``; k rows ``d - x``.
    """

    model: MipModel
    problem: Problem
    general: IndexArray
    has_cutoff: bool

    @classmethod
    def of(cls, model: MipModel) -> Augmented:
        """Lay the program out, all of it switched off."""
        n, m = model.num_columns, model.num_rows
        wide = (model.is_integer == 1) & (model.upper - model.lower > 1.0)
        general = np.flatnonzero(wide).astype(np.int32)
        k = general.size
        has_cutoff = bool(model.cost.any())
        pick = sp.csr_array((np.ones(k), (np.arange(k), general)), shape=(k, n))
        own = sp.csr_array(sp.identity(k)) if k else sp.csr_array((0, 0))
        blocks = [[model.problem.matrix, sp.csr_array((m, k))]]
        if has_cutoff:
            blocks.append([sp.csr_array(model.cost[None, :]), sp.csr_array((1, k))])
        blocks += [[pick, own], [-pick, own]]
        extra = int(has_cutoff) + 2 * k
        problem = Problem(
            cost=np.concatenate([model.cost, np.zeros(k)]),
            matrix=sp.csr_array(sp.vstack([sp.hstack(block) for block in blocks])),
            row_lower=np.concatenate([model.row_lower, np.full(extra, -np.inf)]),
            row_upper=np.concatenate([model.row_upper, np.full(extra, np.inf)]),
            lower=np.concatenate([model.lower, np.zeros(k)]),
            upper=np.concatenate([model.upper, np.zeros(k)]),
            integrality=np.zeros(n + k, dtype=bool),
            offset=model.offset,
        )
        return cls(model, problem, general, has_cutoff)

    @property
    def movable(self) -> BoolArray:
        """Integer columns (n,) that may take more than one value."""
        model = self.model
        found: BoolArray = (model.is_integer == 1) & (model.lower < model.upper)
        return found

    @property
    def binary(self) -> BoolArray:
        """Movable integer columns (n,) with two values."""
        found = self.movable
        found[self.general] = False
        return found

    def projection(
        self, rounded: FloatArray, active: BoolArray, alpha: float, target: float
    ) -> Request:
        """Return the projection of a rounded point.

        The cost is ``(1 - alpha) distance + alpha sqrt(|active|) c / ||c||``: the objective with
        the length that the distance has (Achterberg and Berthold 2007, as scaled by Mexi et al.
        2023).

        Parameters
        ----------
        rounded : (n,) float64
            Where to; only the ``active`` columns count, which are whole there.
        active : (n,) bool
        alpha : float
            Share of the objective, from 0 to 1.
        target : float
            Largest c'x, without the offset; inf for any.
        """
        model, k = self.model, self.general.size
        n, m = model.num_columns, model.num_rows
        at_lower = active & (rounded <= model.lower)
        at_upper = active & ~at_lower & (rounded >= model.upper)
        between = (active & ~at_lower & ~at_upper)[self.general]
        cost = np.zeros(n + k)
        cost[:n] = self.objective_scale(active, alpha) * model.cost
        cost[:n] += (1.0 - alpha) * np.where(at_lower, 1.0, np.where(at_upper, -1.0, 0.0))
        cost[n:] = np.where(between, 1.0 - alpha, 0.0)
        upper = self.problem.upper.copy()
        value = rounded[self.general]
        reach = np.maximum(value - model.lower[self.general], model.upper[self.general] - value)
        upper[n:] = np.where(between, reach, 0.0)
        row_lower, row_upper = self.problem.row_lower.copy(), self.problem.row_upper.copy()
        if self.has_cutoff:
            row_upper[m] = target
        row_lower[row_lower.size - 2 * k : row_lower.size - k] = np.where(between, value, -np.inf)
        row_lower[row_lower.size - k :] = np.where(between, -value, -np.inf)
        return Request(cost, self.problem.lower, upper, row_lower, row_upper)

    def objective_scale(self, active: BoolArray, alpha: float) -> float:
        """Return the factor on c in the cost of a projection."""
        size = euclidean(self.model.cost)
        return alpha * math.sqrt(max(1, int(np.count_nonzero(active)))) / size if size else 0.0

    def start(
        self, x: FloatArray, row_dual: FloatArray, rounded: FloatArray, scale: float
    ) -> tuple[FloatArray, FloatArray]:
        """Extend a point (n,) and duals (m,) of the relaxation to a start for a projection.

        Distances are those of x; the duals, of cost c, are scaled by the factor on c.
        """
        distance = np.abs(x - rounded)[self.general]
        y = np.zeros(self.problem.num_rows)
        y[: row_dual.size] = scale * row_dual
        return np.concatenate([x, distance]), y
