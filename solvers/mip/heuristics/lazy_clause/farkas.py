"""Sides that follow from an infeasible LP: Farkas' lemma makes one of all its rows."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel

NOTHING = 1e-9
"""Coefficients of continuous columns below this, relative to the largest, are rounding errors."""

Side = tuple[IndexArray, FloatArray, float]
"""Codes, coefficients above zero, and the right-hand side; see ``sides``."""


def aggregated(model: MipModel, rows: IndexArray, ray: FloatArray) -> list[Side]:
    """Return the sides that the rows of an LP make when added with the weights of a Farkas ray.

    Both signs of the ray are tried, as solvers do not agree on it; a sign that needs a side which a
    row does not have gives nothing. Every feasible point of the model keeps a returned side, up to
    rounding errors.

    Parameters
    ----------
    model : MipModel
    rows : (k,) int32
    ray : (k,) float64
    """
    if not ray.size or rows.size != ray.size:
        return []
    sides = []
    for weights in (ray, -ray):
        ends = np.where(weights > 0.0, model.row_upper[rows], model.row_lower[rows])
        if not np.isfinite(ends).all():
            continue
        total = np.asarray(weights @ model.problem.matrix[rows])
        right = float(np.sum(weights * ends))
        size = np.abs(total)
        rounding = (model.is_integer == 0) & (size <= NOTHING * np.max(size, initial=0.0))
        columns = np.flatnonzero((size > 0.0) & ~rounding)
        codes = (2 * columns + (total[columns] < 0.0)).astype(np.int32)
        sides.append((codes, size[columns], right))
    return sides
