"""What a model looks like in numbers: sizes, kinds, coefficient ranges and memory needed.

Pure functions of a :class:`~solvers.core.problem.Problem`; the log's header and ``gpu-bridge info``
show what they return.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_bridge.classify import is_binary
from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import size_range

Range = tuple[float, float]

PDLP_COLUMN_VECTORS = 16
"""Vectors of length n that the first-order engine keeps: iterates, averages, steps, data."""

PDLP_ROW_VECTORS = 14
"""Vectors of length m that it keeps."""

HIGHS_BASE_BYTES = 64 * 2**20
"""The library itself and its buffers."""

HIGHS_BYTES_PER_NONZERO = 160
"""Copies of A in HiGHS (by column, by row, scaled, presolve's linked lists) and its LU factors."""

HIGHS_BYTES_PER_LINE = 400
"""Bounds, costs, basis, edge weights and presolve's lists for each row and each column."""


@dataclass(frozen=True)
class LengthStatistics:
    """Distribution of the number of entries in the rows (or columns) of A."""

    shortest: int
    median: float
    longest: int


@dataclass(frozen=True)
class ModelStatistics:
    """Sizes, kinds and ranges of a model."""

    name: str
    maximize: bool
    rows: int
    columns: int
    nonzeros: int
    row_kinds: Mapping[str, int]
    """Numbers of rows: ``equations``, ``one-sided``, ``ranged`` with two different sides, ``free``
    without any, which are all; and ``empty`` ones without entries."""
    column_kinds: Mapping[str, int]
    """Numbers of columns: ``continuous``, ``binary``, other ``integer`` ones, which are all; those
    with bounds that are ``free``, ``fixed`` and ``boxed``; and ``empty`` ones, in no row."""
    ranges: Mapping[str, Range | None]
    """Smallest and largest size of the finite entries other than zero of ``matrix``, ``cost``,
    ``bounds`` and ``sides``; None where there are none."""
    row_length: LengthStatistics
    column_length: LengthStatistics
    """Entries per row and per column."""

    @property
    def density(self) -> float:
        """Share of the entries of A that are not zero."""
        return self.nonzeros / max(1, self.rows * self.columns)


@dataclass(frozen=True)
class MemoryNeed:
    """Estimate of the bytes that one engine needs for a model, on the host and on the GPU."""

    engine: str
    host_bytes: int
    device_bytes: int


def model_statistics(problem: Problem) -> ModelStatistics:
    """Count what a model consists of; linear in its nonzeros."""
    low, high = problem.row_lower, problem.row_upper
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    equations = has_low & has_high & (low == high)
    boxed = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    fixed = boxed & (problem.lower == problem.upper)
    integer = problem.integrality
    binary = is_binary(problem)
    row_lengths = np.diff(problem.entries.indptr)
    column_lengths = problem.entries.column_lengths(0)
    return ModelStatistics(
        name=problem.name,
        maximize=problem.maximize,
        rows=problem.num_rows,
        columns=problem.num_columns,
        nonzeros=problem.num_nonzeros,
        row_kinds={
            "equations": _count(equations),
            "one-sided": _count(has_low ^ has_high),
            "ranged": _count(has_low & has_high & ~equations),
            "free": _count(~has_low & ~has_high),
            "empty": _count(row_lengths == 0),
        },
        column_kinds={
            "continuous": _count(~integer),
            "binary": _count(binary),
            "integer": _count(integer & ~binary),
            "free": _count(np.isneginf(problem.lower) & np.isposinf(problem.upper)),
            "fixed": _count(fixed),
            "boxed": _count(boxed & ~fixed),
            "empty": _count(column_lengths == 0),
        },
        ranges={
            "matrix": coefficient_range(problem.entries.data),
            "cost": coefficient_range(problem.cost),
            "bounds": coefficient_range(problem.lower, problem.upper),
            "sides": coefficient_range(low, high),
        },
        row_length=_lengths(row_lengths),
        column_length=_lengths(column_lengths),
    )


def coefficient_range(*arrays: FloatArray) -> Range | None:
    """Return the smallest and largest size of the finite entries other than zero, if any."""
    smallest, largest = zip(*map(size_range, arrays), strict=True)
    return (min(smallest), max(largest)) if max(largest) > 0.0 else None


def memory_needed(problem: Problem) -> tuple[MemoryNeed, ...]:
    """Estimate the memory of each engine: A twice (by row and by column) and work vectors.

    The first-order engine's figure is a count of its arrays. That of HiGHS is rough, for linear
    programs, since the fill-in of its factors depends on the model; branch and bound takes more,
    and more still as its tree grows.
    """
    m, n, nonzeros = problem.num_rows, problem.num_columns, problem.num_nonzeros
    index_bytes = problem.entries.indices.dtype.itemsize
    matrix = nonzeros * (8 + index_bytes) + (m + 1) * index_bytes
    transposed = nonzeros * (8 + index_bytes) + (n + 1) * index_bytes
    vectors = 8 * (PDLP_COLUMN_VECTORS * n + PDLP_ROW_VECTORS * m)
    own = matrix + transposed + 8 * (3 * n + 2 * m) + n
    first_order = matrix + transposed + vectors
    highs = HIGHS_BASE_BYTES + HIGHS_BYTES_PER_NONZERO * nonzeros + HIGHS_BYTES_PER_LINE * (m + n)
    return (
        MemoryNeed("highs", own + highs, 0),
        MemoryNeed("pdlp on cpu", own + first_order, 0),
        MemoryNeed("pdlp on cuda", own, first_order),
    )


def _count(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int(np.count_nonzero(flags))


def _lengths(lengths: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> LengthStatistics:
    if not lengths.size:
        return LengthStatistics(0, 0.0, 0)
    at_most = np.cumsum(np.bincount(lengths))
    middle = np.searchsorted(at_most, [(lengths.size + 1) // 2, lengths.size // 2 + 1])
    return LengthStatistics(int(lengths.min()), float(middle.mean()), int(lengths.max()))
