"""Points, duals, activities and reduced costs of a batch, the last two when somebody asks.

Those follow from the others and the data, so that whoever reads points and objectives does not
wait for them. Until somebody has asked, neither the arrays of the ``Batch`` nor the points and
duals may be written to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from solvers.core.outcome import Outcome
from solvers.core.problem import BoolArray, FloatArray
from solvers.simplex.batch.data import BatchData

NOW = ("x", "row_dual")
LATER = ("row_activity", "reduced_cost")
ARRAYS = NOW + LATER

FEW = 8
"""Members that may be asked about one by one before all are computed at once."""


class MemberArrays(Mapping[str, FloatArray]):
    """The arrays of :data:`ARRAYS` over all members, in the model's sense.

    Parameters
    ----------
    data : BatchData
        The batch as it was given.
    x, row_dual : (K, n) and (K, m) arrays
        Verified points and duals of the optimal members, in the minimised sense. They are kept,
        and changed: to the model's sense, and to what others found.
    optimal : (K,) array of bool
    others : mapping from members to their outcomes, in the model's sense
        Of all that are not optimal here; what they have not becomes NaN.
    maximize : bool
    """

    def __init__(
        self,
        data: BatchData,
        x: FloatArray,
        row_dual: FloatArray,
        optimal: BoolArray,
        others: Mapping[int, Outcome],
        *,
        maximize: bool,
    ) -> None:
        self._data = data
        self._optimal = optimal
        self._others = others
        self._maximize = maximize
        if maximize:
            np.subtract(0.0, row_dual, out=row_dual)
        self._found = {"x": x, "row_dual": row_dual}
        self._asked = 0
        for name in NOW:
            self._put_others(name, self._found[name])

    def __getitem__(self, name: str) -> FloatArray:
        if name in LATER and name not in self._found:
            later = self._compute(self._data, self._optimal, slice(None))
            for key, array in later.items():
                self._put_others(key, array)
            self._found |= later
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(ARRAYS)

    def __len__(self) -> int:
        return len(ARRAYS)

    def of(self, k: int) -> dict[str, FloatArray]:
        """Return what the arrays hold of the k-th member, which is optimal."""
        from gpu_bridge.batch.verify import members_of

        self._asked += 1
        if LATER[0] in self._found or self._asked > FEW:
            return {name: self[name][k] for name in ARRAYS}
        alone = members_of(self._data, np.array([k]))
        later = self._compute(alone, np.ones(1, dtype=np.bool_), slice(k, k + 1))
        now = {name: self._found[name][k] for name in NOW}
        return now | {name: array[0] for name, array in later.items()}

    def _compute(self, data: BatchData, wanted: BoolArray, rows: slice) -> dict[str, FloatArray]:
        """Return what is computed later, of the LPs of ``data``, which are those in ``rows``."""
        from gpu_bridge.batch.verify import fill_in

        x, row_dual = (self._found[name][rows] for name in NOW)
        minimised = np.subtract(0.0, row_dual) if self._maximize else row_dual
        activity, reduced_cost = fill_in(data, x, minimised, wanted)
        if self._maximize:
            np.subtract(0.0, reduced_cost, out=reduced_cost)
        return {"row_activity": activity, "reduced_cost": reduced_cost}

    def _put_others(self, name: str, array: FloatArray) -> None:
        for k, outcome in self._others.items():
            value = getattr(outcome, name)
            array[k] = np.nan if value is None else value
