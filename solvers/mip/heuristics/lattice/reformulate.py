"""A model in the coordinates of a lattice: equations disappear, bounds become rows.

With x0 an integer solution of the equations and the rows of K a short basis of the differences of
solutions, x = x0 + K'z runs through all solutions as z runs through the integers. In z every point
keeps the equations, and a step of one coordinate is a short compound move of x: what no search by
single columns can do on equations of general integers (Aardal, Hurkens and Lenstra 2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.mip.model import IndexArray, MipModel


@dataclass(frozen=True, eq=False)
class Reformulated:
    """The model in z and the columns that are left.

    Columns 0 to k of ``model`` are z, the others ``rest``. The objective is the same.

    Parameters
    ----------
    model : MipModel
    base : (n,) float64
        The point of z = 0, without the columns ``rest``.
    support : (s,) int32
        Columns of the original model that z moves.
    kernel : (k, s) float64
        By how much.
    rest : (q,) int32
        Columns of the original model that are columns here.
    """

    model: MipModel
    base: FloatArray
    support: IndexArray
    kernel: FloatArray
    rest: IndexArray

    def back(self, z: FloatArray) -> FloatArray:
        """Return the point (n,) of the original model."""
        k = self.kernel.shape[0]
        x = self.base.copy()
        x[self.support] += z[:k] @ self.kernel
        x[self.rest] = z[k:]
        return x


def reformulate(
    model: MipModel,
    lower: FloatArray,
    upper: FloatArray,
    base: FloatArray,
    support: IndexArray,
    kernel: FloatArray,
    kept_rows: IndexArray,
    rest: IndexArray,
) -> Reformulated:
    """Write a model in the coordinates of ``kernel``.

    Parameters
    ----------
    model : MipModel
    lower, upper : (n,) float64
        Bounds of its columns.
    base : (n,) float64
        Solves the equations; zero in the columns ``rest``.
    support : (s,) int32
        Columns that the kernel moves; all others but ``rest`` stay at ``base``.
    kernel : (k, s) float64
    kept_rows : (p,) int32
        Rows of the model that are not equations of the kernel.
    rest : (q,) int32
    """
    k = kernel.shape[0]
    moves = sp.csr_array(kernel.T)
    A = model.problem.matrix[kept_rows]
    other_rows = sp.hstack([A[:, support] @ moves, A[:, rest]], format="csr")
    bounds = sp.hstack([moves, sp.csr_array((support.size, rest.size))], format="csr")
    at_base = np.asarray(A @ base)
    problem = Problem(
        cost=np.concatenate([kernel @ model.cost[support], model.cost[rest]]),
        matrix=sp.vstack([bounds, other_rows], format="csr"),
        row_lower=np.concatenate(
            [lower[support] - base[support], model.row_lower[kept_rows] - at_base]
        ),
        row_upper=np.concatenate(
            [upper[support] - base[support], model.row_upper[kept_rows] - at_base]
        ),
        lower=np.concatenate([np.full(k, -np.inf), lower[rest]]),
        upper=np.concatenate([np.full(k, np.inf), upper[rest]]),
        integrality=np.concatenate([np.ones(k, dtype=bool), model.is_integer[rest] == 1]),
        offset=model.objective_at(base),
    )
    return Reformulated(MipModel.of(problem), base, support, kernel, rest)
