"""The check of a batched engine's claims, all at once or slice by slice as they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.many_outcomes import ARRAYS
from gpu_bridge.options import Options
from solvers.kernels.batch.answer import LpAnswers
from solvers.problem import BoolArray, FloatArray

if TYPE_CHECKING:
    from solvers.pdlp.batch import BatchData

STEPS_PER_ENTRY = 8
"""What checking a member costs, in elementary steps for each entry of its matrix."""


class Gate:
    """The check of an engine's claims on a batch, all at once or slice by slice as they come.

    ``arrays`` are those of all members, the engine's own where it has them: the duals of those
    that are checked are clipped in place. ``figures`` are those of ``many_check`` and ``optimal``
    says who passed.
    """

    def __init__(self, data: BatchData, options: Options) -> None:
        from gpu_bridge.many_check import FIGURES

        m, n = data.pattern.shape
        self._data = data
        self._options = options
        self.arrays: dict[str, FloatArray] = {
            "row_activity": np.zeros((data.count, m)),
            "reduced_cost": np.zeros((data.count, n)),
        }
        self.optimal = np.zeros(data.count, dtype=np.bool_)
        self._figures = np.full((data.count, len(FIGURES)), np.nan)

    @property
    def figures(self) -> Mapping[str, FloatArray]:
        """What was found out about each member, by the names of ``FIGURES``."""
        from gpu_bridge.many_check import FIGURES

        return {name: self._figures[:, place] for place, name in enumerate(FIGURES)}

    def check(self, answer: LpAnswers, claimed: BoolArray, first: int, last: int) -> None:
        """Check those of the members from ``first`` to ``last`` who are optimal by claim.

        Parameters
        ----------
        answer : LpAnswers
        claimed : (last - first,) array of bool
        first, last : int
        """
        from gpu_bridge.many_check import check
        from solvers.kernels.twin import run_twin, threads_for

        self.arrays["x"], self.arrays["row_dual"] = answer.x, answer.row_dual
        data, part = self._data, slice(first, last)
        self.optimal[part], self._figures[part] = False, np.nan  # whatever was there before
        names = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "offset")
        given = [getattr(data, name) for name in names]
        run_twin(
            check,
            (
                data.pattern.indptr,
                data.pattern.indices,
                *(array if array.shape[0] == 1 else array[part] for array in given),
                self._options.tolerance,
                claimed,
                *(self.arrays[name][part] for name in ARRAYS),
                self._figures[part],
                self.optimal[part],
            ),
            threads_for(STEPS_PER_ENTRY * (last - first) * data.pattern.nnz, self._options.threads),
        )
