"""Points and duals of a batch on the original data, on the CPU, and what follows from them.

The figures are those of ``solvers.simplex.batch.kernels.check``, which computes them
here; the rest of the columns and rows of an answer, activities and reduced costs, is filled in by
:func:`fill_in` when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.kernels.sharing import threads_for
from solvers.simplex.batch.check import claims_mask, is_full
from solvers.simplex.batch.data import BatchData
from solvers.simplex.batch.kernels.check import FAMILY, FIGURES, STEPS_PER_ENTRY, VARYING

NO_COLUMNS = np.zeros(1, dtype=np.int32)
"""In the place of a pattern by columns, which is of no use on the CPU."""

CLAIMED = 1
"""Ending of those that are to be checked, in a batch of which each is or is not."""


def find_figures(
    data: BatchData, x: FloatArray, row_dual: FloatArray, claimed: BoolArray, threads: int = 0
) -> FloatArray:
    """Return the figures (K, 8) of those claimed, NaN for the others.

    Parameters
    ----------
    data : BatchData
        Of K LPs.
    x : (K, n) array
    row_dual : (K, m) array
        Those of the claimed are clipped, in place, to the signs that finite sides allow.
    claimed : (K,) array of bool
    threads : int
        At most; 0 stands for all cores.
    """
    figures = np.empty((data.count, len(FIGURES)))
    FAMILY["check"](
        data.count,
        *_pattern(data),
        *(NO_COLUMNS,) * 3,
        int(is_full(data.pattern)),
        *_given(data, VARYING),
        claims_mask((CLAIMED,)),
        claimed.astype(np.int32),
        x.reshape(-1),
        row_dual.reshape(-1),
        figures.reshape(-1),
        threads=threads,
    )
    return figures


def fill_in(
    data: BatchData, x: FloatArray, row_dual: FloatArray, wanted: BoolArray, threads: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return the row activities (K, m) and reduced costs (K, n) of those wanted, else zeros.

    Parameters
    ----------
    data, x, row_dual, threads
        As in :func:`find_figures`; nothing is clipped.
    wanted : (K,) array of bool
    """
    from solvers.native.batch_check import price

    activity = np.zeros((data.count, data.pattern.shape[0]))
    reduced = np.zeros((data.count, data.pattern.shape[1]))
    arguments = (
        data.count,
        *_pattern(data),
        int(is_full(data.pattern)),
        *_given(data, ("values", "cost")),
        wanted,
        x.reshape(-1),
        row_dual.reshape(-1),
        activity.reshape(-1),
        reduced.reshape(-1),
        threads_for(STEPS_PER_ENTRY * data.count * data.pattern.nnz, threads),
    )
    price(*arguments)
    return activity, reduced


def members_of(data: BatchData, members: npt.NDArray[np.int64]) -> BatchData:
    """Return some of the LPs, in that order."""
    given = {name: getattr(data, name) for name in VARYING}
    return BatchData(
        count=len(members),
        pattern=data.pattern,
        **{k: array if array.shape[0] == 1 else array[members] for k, array in given.items()},
    )


def _pattern(data: BatchData) -> tuple[Any, ...]:
    starts, indices = data.pattern.indptr, data.pattern.indices
    return (
        *data.pattern.shape,
        starts.astype(np.int32, copy=False),
        indices.astype(np.int32, copy=False),
    )


def _given(data: BatchData, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the bits of what varies, and flat arrays."""
    arrays = [getattr(data, name) for name in names]
    varying = sum(1 << bit for bit, array in enumerate(arrays) if array.shape[0] != 1)
    return varying, *(array.reshape(-1) for array in arrays)
