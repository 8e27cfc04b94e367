"""What is done once for all LPs: the pattern by columns, and the scaling of a shared matrix.

A matrix that all LPs share is scaled here, on the CPU, and its norm found; where coefficients
differ the kernel does both for each LP, on top of the geometric passes that the mean magnitudes
of a badly scaled batch get here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.options import EngineOptions
from solvers.pdlp.batch.data import BatchData
from solvers.pdlp.batch.settings import Parameters, Settings
from solvers.problem import FloatArray

IndexArray = npt.NDArray[np.int32]

GEOMETRIC_PASSES = 12
POWER_ITERATIONS = 30

SAMPLED = 32
"""About how many members tell whether coefficients are badly scaled."""

INSIDE_TOLERANCE = 0.98
"""Part of the tolerance that the kernel aims at, for what scaling back and forth rounds."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A batch with all that the kernel reads beside it.

    ``column_entries`` (nnz,) are the places in the order of rows of the entries in the order of
    columns; ``row_scale`` and ``column_scale`` are where the kernel's scaling starts, or the
    scaling itself where ``parameters.norm`` is known.
    """

    data: BatchData
    column_starts: IndexArray
    column_rows: IndexArray
    column_entries: IndexArray
    row_scale: FloatArray
    column_scale: FloatArray
    parameters: Parameters


def prepare(data: BatchData, options: EngineOptions, settings: Settings) -> Prepared:
    """Order the pattern by columns and scale what all LPs share."""
    pattern = data.pattern
    m, n = pattern.shape
    row_of = np.repeat(np.arange(m, dtype=np.int32), np.diff(pattern.indptr))
    order = np.argsort(pattern.indices, kind="stable").astype(np.int32)
    column_starts = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(pattern.indices, minlength=n), out=column_starts[1:])
    row_scale, column_scale, norm = np.ones(m), np.ones(n), 0.0
    shared = data.values.shape[0] == 1
    sample = data.values[:: max(1, data.values.shape[0] // SAMPLED)]
    magnitudes = np.abs(sample).mean(axis=0)
    A = sp.csr_array((magnitudes, pattern.indices, pattern.indptr), shape=(m, n))
    _scale_by_means(A, row_of, row_scale, column_scale, settings)
    if shared:
        _scale_by_sizes(A, row_of, row_scale, column_scale, settings.ruiz_passes)
        scaled = data.values[0] * row_scale[row_of] * column_scale[pattern.indices]
        norm = _norm(sp.csr_array((scaled, pattern.indices, pattern.indptr), shape=(m, n)))
    return Prepared(
        data=data,
        column_starts=column_starts,
        column_rows=row_of[order],
        column_entries=order,
        row_scale=row_scale,
        column_scale=column_scale,
        parameters=Parameters(tolerance=INSIDE_TOLERANCE * options.tolerance, norm=norm),
    )


def _scale_by_means(
    A: sp.csr_array,
    row_of: IndexArray,
    row_scale: FloatArray,
    column_scale: FloatArray,
    settings: Settings,
) -> None:
    """Divide by the geometric means of the extremes, rows and columns in turn, in place."""
    used = A.data[A.data > 0]
    if not used.size or used.max() <= settings.geometric_spread * used.min():
        return
    for _ in range(GEOMETRIC_PASSES):
        for own, own_of, other, other_of in (
            (row_scale, row_of, column_scale, A.indices),
            (column_scale, A.indices, row_scale, row_of),
        ):
            sizes = A.data * own[own_of] * other[other_of]
            least, most = np.full(own.size, np.inf), np.zeros(own.size)
            np.minimum.at(least, own_of, np.where(sizes > 0, sizes, np.inf))
            np.maximum.at(most, own_of, sizes)
            own *= _inverse_root(np.where(most > 0, least, 0.0) * most)


def _scale_by_sizes(
    A: sp.csr_array,
    row_of: IndexArray,
    row_scale: FloatArray,
    column_scale: FloatArray,
    passes: int,
) -> None:
    """Ruiz passes, and one of Pock and Chambolle, rows and columns at once, in place."""
    m, n = A.shape
    for number in range(passes + 1):
        sizes = A.data * row_scale[row_of] * column_scale[A.indices]
        if number < passes:
            of_rows, of_columns = np.zeros(m), np.zeros(n)
            np.maximum.at(of_rows, row_of, sizes)
            np.maximum.at(of_columns, A.indices, sizes)
        else:
            of_rows = np.bincount(row_of, sizes, m)
            of_columns = np.bincount(A.indices, sizes, n)
        row_scale *= _inverse_root(of_rows)
        column_scale *= _inverse_root(of_columns)


def _norm(A: sp.csr_array) -> float:
    """Return ||A||_2 by a few power iterations with a margin, at most the 1 that scaling grants."""
    At = A.T.tocsr()
    number = np.arange(1, A.shape[0] + 1, dtype=np.int64)
    q = (number * 2654435761 % 4294967296) / 4294967296.0 - 0.5
    eigenvalue = 0.0
    for _ in range(POWER_ITERATIONS):
        length = float(np.sqrt(q @ q))
        if not length > 0.0:
            return 1.0
        q /= length
        image = A @ (At @ q)
        eigenvalue, q = float(q @ image), image
    margin = Parameters(0.0, 0.0).norm_margin
    return min(1.0, margin * float(np.sqrt(eigenvalue))) if eigenvalue > 0.0 else 1.0


def _inverse_root(sizes: FloatArray) -> FloatArray:
    """Return 1 / sqrt(size), and 1 where the size is zero or has overflowed."""
    usable = (sizes > 0) & np.isfinite(sizes)
    roots: FloatArray = 1.0 / np.sqrt(np.where(usable, sizes, 1.0))
    return roots
