"""Verification of the members of a batch, all at once, by :mod:`gpu_bridge.verify.verify`.

The criteria are the same, and so is what they are computed on: the original data, in float64. Only
the easiest and most frequent case is decided here, a point exactly within its bounds that earns
"optimal"; whatever is less than that goes to ``verify.py`` itself.

What an engine found on the CPU is looked at there. On a GPU a kernel of its own
(``solvers.simplex.batch.kernels.check``) computes the figures from data and answers where
they are, so that neither has to pass through the CPU; some members are looked at here all the
same, as their answers have arrived, and if one of those does not hold, nothing that the GPU said
is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.options import Options
from solvers.core.machine import threads_for
from solvers.core.problem import BoolArray, FloatArray
from solvers.core.progress import Progress
from solvers.simplex.batch.data import BatchAnswer, BatchData
from solvers.simplex.batch.kernels import check as figure
from solvers.simplex.batch.kernels.check import FAMILY, FIGURES, STEPS_PER_ENTRY, VARYING
from solvers.simplex.batch.prepare import claims_mask, is_full

# Points and duals of a batch on the original data, on the CPU, and what follows from them.
#
# The figures are those of ``solvers.simplex.batch.kernels.check``, which computes them here; the
# rest of the columns and rows of an answer, activities and reduced costs, is filled in by
# :func:`fill_in` when somebody asks for it.


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
    data: BatchData, x: FloatArray, row_dual: FloatArray, wanted: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the row activities (K, m) and reduced costs (K, n) of those wanted, else zeros.

    Parameters
    ----------
    data, x, row_dual
        As in :func:`find_figures`; nothing is clipped.
    wanted : (K,) array of bool
    """
    from solvers.native.batch_check import price

    activity = np.zeros((data.count, data.pattern.shape[0]))
    reduced = np.zeros((data.count, data.pattern.shape[1]))
    varying, values, cost = _given(data, ("values", "cost"))
    price(
        (data.count, *_pattern(data), int(is_full(data.pattern))),
        varying,
        values,
        cost,
        wanted,
        x.reshape(-1),
        row_dual.reshape(-1),
        activity.reshape(-1),
        reduced.reshape(-1),
        threads_for(STEPS_PER_ENTRY * data.count * data.pattern.nnz),
    )
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


LOOKED_AT_AGAIN = 16
"""Members checked on the CPU of those that a GPU has found to be optimal: more than enough to see
that data or answers did not arrive, and less than a millisecond."""


@dataclass(frozen=True, eq=False)
class Checked:
    """Members (K,) that are optimal, and the figures (K, 8) of those that claimed to be."""

    optimal: BoolArray
    _figures: FloatArray

    @property
    def figures(self) -> Mapping[str, FloatArray]:
        """What was found out about each member, by the names of ``FIGURES``."""
        return {name: self._figures[:, place] for place, name in enumerate(figure.FIGURES)}

    @staticmethod
    def nothing(count: int) -> Checked:
        """Return what is known where nothing was checked."""
        return Checked(np.zeros(count, dtype=bool), np.full((count, len(figure.FIGURES)), np.nan))


def check_claims(
    data: BatchData,
    answer: BatchAnswer,
    claimed: BoolArray,
    options: Options,
    progress: Progress,
) -> Checked:
    """Check an engine's claims of optima; duals of those claimed are clipped to allowed signs.

    Parameters
    ----------
    data : BatchData
        The batch as it was given.
    claimed : (K,) array of bool
        Members that are optimal by the engine's word.
    options, progress
        Of the call.
    """
    if answer.figures is not None:
        optimal = claimed & are_optimal(answer.figures, options.tolerance)
        if _hold_here(data, answer, np.flatnonzero(optimal), options):
            return Checked(optimal, answer.figures)
        progress.log("What the GPU found out about the answers does not hold on the CPU.")
    figures = find_figures(data, answer.x, answer.row_dual, claimed, options.threads)
    return Checked(claimed & are_optimal(figures, options.tolerance), figures)


def are_optimal(figures: FloatArray, tolerance: float) -> BoolArray:
    """Whether figures (K, 8) earn "optimal"; what is not a number earns nothing."""
    relative = figures[:, [figure.PRIMAL_RELATIVE, figure.DUAL_RELATIVE, figure.GAP_RELATIVE]]
    earned: BoolArray = (relative <= tolerance).all(axis=1) & (figures[:, figure.INSIDE] == 1.0)
    return earned


def _hold_here(
    data: BatchData, answer: BatchAnswer, optimal: npt.NDArray[np.int64], options: Options
) -> bool:
    """Whether some of the optimal members are optimal by the CPU's arithmetic, too."""
    few = np.linspace(0, max(0, len(optimal) - 1), min(len(optimal), LOOKED_AT_AGAIN))
    members = optimal[few.astype(np.int64)]
    all_of_them = np.ones(len(members), dtype=np.bool_)
    x, row_dual = answer.x[members], answer.row_dual[members]
    figures = find_figures(members_of(data, members), x, row_dual, all_of_them, options.threads)
    return bool(are_optimal(figures, options.tolerance).all())
