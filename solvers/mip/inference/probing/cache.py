"""What probing found: implications of both halves of a column's range, and what follows globally.

Each probed column j is split in two: side 0 is ``x_j <= first_upper[j]``, side 1 is
``x_j >= second_lower[j]``; together they hold every integer of its range, so that what both imply
holds everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.inference.cliques import Cliques
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_probing import choose

Choice = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""First values, second values, lower bounds, upper bounds."""


@dataclass(frozen=True, eq=False)
class Aggregations:
    """Columns that one of two values determines: ``x[column] = constant + factor * x[of]``."""

    column: IndexArray
    of: IndexArray
    constant: FloatArray
    factor: FloatArray


@dataclass(frozen=True, eq=False)
class ProbingCache:
    """Implications of probed columns. No array may be written to.

    Parameters
    ----------
    lower, upper : (n,) float64
        Bounds that every feasible point keeps, at least as tight as the model's.
    fixed : (f,) int32
        Integer columns that these bounds fix and the model's do not, rising.
    aggregations : Aggregations
    first_upper, second_lower : (n,) float64
        Where the range of a probed column was split; NaN where a column was not probed.
    start : (2n+1,) int32
        What side s of column j implies is ``start[2*j+s]:start[2*j+s+1]`` of the next three.
    column, low, high : (entries,) int32, float64, float64
        Another integer column and the bounds it then has.
    conflicts : (p, 2) int32
        Pairs of literals ``2 j + v`` that exclude each other and share no clique of the rows.
    cliques : Cliques
        Those of the rows and those put together from conflicts.
    num_probed : int
        Columns of which both sides were propagated.
    is_infeasible : bool
        Whether a sequential propagation has proven that there is no feasible point.
    """

    lower: FloatArray
    upper: FloatArray
    fixed: IndexArray
    aggregations: Aggregations
    first_upper: FloatArray
    second_lower: FloatArray
    start: IndexArray
    column: IndexArray
    low: FloatArray
    high: FloatArray
    conflicts: IndexArray
    cliques: Cliques
    num_probed: int = 0
    is_infeasible: bool = False

    def implied(self, column: int, side: int) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Return the columns that a side of a column bounds, and their lower and upper bounds."""
        place = 2 * column + side
        part = slice(int(self.start[place]), int(self.start[place + 1]))
        return self.column[part], self.low[part], self.high[part]

    def choose(
        self,
        columns: IndexArray,
        first_values: FloatArray,
        second_values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> Choice:
        """Choose values for a bulk of columns so that what they imply conflicts least.

        For one column after the other, the entries of the cached side that holds its first value
        are compared with the bounds so far. Without a conflict the value stands and the bounds are
        intersected with the entries; otherwise the second value, or one of the other side if both
        draws are equal, is tried likewise; if both conflict, the one with fewer conflicts stands
        and its entries are left out. Section 2.3 of arXiv 2510.20499.

        Parameters
        ----------
        columns : (k,) int32
            Integer columns, none twice.
        first_values, second_values : (k,) float64
            Two draws for each.
        lower, upper : (n,) float64
            Bounds at present; not changed.

        Returns
        -------
        tuple of arrays
            Values (k,) of the bulk, those of a second bulk (k,), the other choice wherever there
            is one, and bounds (n,) that hold where the columns have the first bulk's values:
            with these fixed, as far as the bounds allow them, and tightened by what they imply.
        """
        first = np.array(first_values, dtype=np.float64)
        second = np.array(second_values, dtype=np.float64)
        low = np.array(lower, dtype=np.float64)
        high = np.array(upper, dtype=np.float64)
        choose(
            np.ascontiguousarray(columns, dtype=np.int32), first, second, low, high,
            self.first_upper, self.second_lower, self.start, self.column, self.low, self.high,
        )  # fmt: skip
        return first, second, low, high


def empty_cache(model: MipModel, cliques: Cliques) -> ProbingCache:
    """Return what is known before any probe."""
    n = model.num_columns
    none, nothing = np.zeros(0, dtype=np.int32), np.zeros(0)
    return ProbingCache(
        lower=model.lower.copy(),
        upper=model.upper.copy(),
        fixed=none,
        aggregations=Aggregations(none, none, nothing, nothing),
        first_upper=np.full(n, np.nan),
        second_lower=np.full(n, np.nan),
        start=np.zeros(2 * n + 1, dtype=np.int32),
        column=none,
        low=nothing,
        high=nothing,
        conflicts=np.zeros((0, 2), dtype=np.int32),
        cliques=cliques,
    )
