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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpu_bridge.options import Options
from solvers.core.problem import BoolArray, FloatArray
from solvers.core.progress import Progress
from solvers.simplex.batch.data import BatchAnswer, BatchData
from solvers.simplex.batch.kernels import check as figure

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
    answer : BatchAnswer
    claimed : (K,) array of bool
        Members that are optimal by the engine's word.
    options, progress
        Of the call.
    """
    from gpu_bridge.batch.check import find_figures

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
    from gpu_bridge.batch.check import find_figures, members_of

    few = np.linspace(0, max(0, len(optimal) - 1), min(len(optimal), LOOKED_AT_AGAIN))
    members = optimal[few.astype(np.int64)]
    all_of_them = np.ones(len(members), dtype=np.bool_)
    x, row_dual = answer.x[members], answer.row_dual[members]
    figures = find_figures(members_of(data, members), x, row_dual, all_of_them, options.threads)
    return bool(are_optimal(figures, options.tolerance).all())
