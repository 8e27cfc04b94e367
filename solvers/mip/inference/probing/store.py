"""What probing has found so far, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.inference.cliques import Cliques
from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.native.mip_inference_probing import choose
from solvers.native.mip_inference_probing_store import merge

# What probing found: implications of both halves of a column's range, and what follows globally.
#
# Each probed column j is split in two: side 0 is ``x_j <= first_upper[j]``, side 1 is ``x_j >=
# second_lower[j]``; together they hold every integer of its range, so that what both imply holds
# everywhere.


Choice = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""First values, second values, lower bounds, upper bounds."""


@dataclass(frozen=True, eq=False)
class Probes:
    """What the sides of k columns imply for other integer columns, side s of column c at 2 c + s.

    Parameters
    ----------
    infeasible : (2k,) uint8
        1 where a side holds no feasible point.
    start : (2k+1,) int64
        A side's entries are ``start[2*c+s]:start[2*c+s+1]`` of the next three; none where it is
        infeasible.
    column, low, high : (entries,) int32, float64, float64
        Integer columns other than the probed one, and the bounds they then have.
    """

    infeasible: ByteArray
    start: np.ndarray
    column: IndexArray
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return self.infeasible.size // 2


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


CAPACITY = 2_000_000
"""Entries kept in all: 40 MB, and conflicts are put together from them in about a second."""


class _Merged(NamedTuple):
    """What both sides of columns imply, as ``merge.cpp`` has it."""

    hull: IndexArray
    hull_low: FloatArray
    hull_high: FloatArray
    of: IndexArray
    constant: FloatArray
    factor: FloatArray
    kept: npt.NDArray[np.int64]
    kept_start: npt.NDArray[np.int64]


def _room_for(columns: int, entries: int) -> _Merged:
    return _Merged(
        hull=np.empty(entries + columns, dtype=np.int32),
        hull_low=np.empty(entries + columns),
        hull_high=np.empty(entries + columns),
        of=np.full(entries, -1, dtype=np.int32),
        constant=np.zeros(entries),
        factor=np.zeros(entries),
        kept=np.empty(entries, dtype=np.int64),
        kept_start=np.zeros(2 * columns + 1, dtype=np.int64),
    )


class Store:
    """Collects implications, aggregations and splits of a model with n columns."""

    def __init__(self, num_columns: int) -> None:
        self.singletons = 0
        """Entries so far that fix a column on a side of another."""
        self.determined = np.zeros(num_columns, dtype=np.bool_)
        """Columns (n,) for which there is an aggregation."""
        self._place = np.full(num_columns, -1, dtype=np.int64)
        self._first_upper = np.full(num_columns, np.nan)
        self._second_lower = np.full(num_columns, np.nan)
        self._side_size = np.zeros(2 * num_columns, dtype=np.int64)
        self._entries: list[tuple[IndexArray, IndexArray, FloatArray, FloatArray]] = []
        self._aggregations: list[tuple[IndexArray, IndexArray, FloatArray, FloatArray]] = []
        self._size = 0
        self._probed = 0

    @property
    def is_full(self) -> bool:
        """Whether no more entries should be added."""
        return self._size >= CAPACITY

    def add(
        self,
        columns: IndexArray,
        first_upper: FloatArray,
        second_lower: FloatArray,
        probes: Probes,
        lower: FloatArray,
        upper: FloatArray,
    ) -> tuple[IndexArray, FloatArray, FloatArray] | None:
        """Take the answers for a batch of columns.

        Returns
        -------
        tuple of arrays, or None
            Columns that are narrower whichever side holds, and their bounds; None if a column has
            no feasible side.
        """
        merged = _room_for(columns.size, probes.column.size)
        found, impossible = merge(
            columns, first_upper, second_lower, probes, np.ascontiguousarray(lower),
            np.ascontiguousarray(upper), self._place, merged,
        )  # fmt: skip
        if impossible:
            return None
        self._probed += columns.size
        self._keep_sides(columns, first_upper, second_lower, probes, merged)
        self._aggregate(probes.column, merged)
        return merged.hull[:found], merged.hull_low[:found], merged.hull_high[:found]

    def _keep_sides(
        self,
        columns: IndexArray,
        first_upper: FloatArray,
        second_lower: FloatArray,
        probes: Probes,
        merged: _Merged,
    ) -> None:
        both = (probes.infeasible[0::2] == 0) & (probes.infeasible[1::2] == 0)
        self._first_upper[columns[both]] = first_upper[both]
        self._second_lower[columns[both]] = second_lower[both]
        kept = merged.kept[: merged.kept_start[-1]]
        sizes = np.diff(merged.kept_start)
        sides = (2 * columns[:, None] + np.arange(2)).ravel()
        low, high = probes.low[kept], probes.high[kept]
        self._side_size[sides] = sizes
        self._entries.append((np.repeat(sides, sizes), probes.column[kept], low, high))
        self._size += kept.size
        self.singletons += int(np.count_nonzero(low == high))

    def _aggregate(self, column: IndexArray, merged: _Merged) -> None:
        """Keep the first aggregation of each column, unless its other column has one itself."""
        of, constant, factor = merged.of, merged.constant, merged.factor
        new = np.flatnonzero(of >= 0)
        new = new[~self.determined[column[new]] & ~self.determined[of[new]]]
        new = new[np.unique(column[new], return_index=True)[1]]
        new = new[~np.isin(of[new], column[new])]
        self.determined[column[new]] = True
        self._aggregations.append((column[new], of[new], constant[new], factor[new]))

    def cache(
        self, model: MipModel, cliques: Cliques, lower: FloatArray, upper: FloatArray
    ) -> ProbingCache:
        """Return all of it, with the bounds found, in the arrays of a cache."""
        empty = empty_cache(model, cliques)
        fixed = (lower == upper) & (model.lower < model.upper) & (model.is_integer == 1)
        start = np.concatenate(([0], np.cumsum(self._side_size))).astype(np.int32)
        entries = [
            (np.zeros(0, dtype=np.int32), empty.column, empty.low, empty.high),
            *self._entries,
        ]
        side, column, low, high = (np.concatenate(part) for part in zip(*entries, strict=True))
        order = np.argsort(side, kind="stable")
        known = empty.aggregations
        aggregations = [
            (known.column, known.of, known.constant, known.factor),
            *self._aggregations,
        ]
        return replace(
            empty,
            lower=np.array(lower),
            upper=np.array(upper),
            fixed=np.flatnonzero(fixed).astype(np.int32),
            aggregations=Aggregations(
                *(np.concatenate(part) for part in zip(*aggregations, strict=True))
            ),
            first_upper=self._first_upper,
            second_lower=self._second_lower,
            start=start,
            column=column[order],
            low=low[order],
            high=high[order],
            num_probed=self._probed,
        )
