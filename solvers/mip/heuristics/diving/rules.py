"""Which fractional columns of the relaxation a dive decides first, and which way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.fix_and_propagate.strategy import Guide, guide_of
from solvers.mip.model import INTEGRALITY_TOLERANCE, IndexArray, MipModel


class Rule(Enum):
    """What comes first (Berthold 2006, section 3.1)."""

    UPWARD = "the largest fraction, upward: settles most where columns exclude each other"
    LOCKS = "the fewest rows that rounding can break, in that direction"
    LENGTH = "the least loss for each row of the column: long columns settle much"
    NEAREST = "the least distance to a whole number, in that direction"


RULES = (Rule.UPWARD, Rule.LENGTH, Rule.LOCKS, Rule.NEAREST)
"""The rules by turns."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """Columns (k,) in the order in which they are decided, and whether each goes up."""

    columns: IndexArray
    goes_up: BoolArray


def fractional_columns(model: MipModel, x: FloatArray) -> IndexArray:
    """Return the integer columns that are not whole at ``x`` (n,), rising."""
    values = x[model.integers]
    found: IndexArray = model.integers[np.abs(values - np.round(values)) > INTEGRALITY_TOLERANCE]
    return found


class Ranking:
    """Orders fractional columns by the rules; what it takes of the model is counted once."""

    def __init__(self, model: MipModel) -> None:
        self._guide: Guide = guide_of(model, None)
        self._length = model.columns.lengths.astype(np.float64)

    def order(
        self,
        rule: Rule,
        x: FloatArray,
        columns: IndexArray,
        cost: FloatArray,
        failures: FloatArray,
    ) -> Decisions:
        """Return fractional columns in the order of a rule, after how often each has failed.

        Parameters
        ----------
        x : (n,) float64
            The relaxation's point.
        columns : (k,) int32
        cost : (n,) float64
            Of that relaxation.
        failures : (k,) float64
            How often deciding each of the columns came to nothing; the most comes first.
        """
        fraction = x[columns] - np.floor(x[columns])
        up_locks, down_locks = self._guide.up_locks[columns], self._guide.down_locks[columns]
        if rule is Rule.UPWARD:
            goes_up = np.ones(columns.size, dtype=bool)
            key = -fraction
        elif rule is Rule.LOCKS:
            goes_up = (up_locks < down_locks) | ((up_locks == down_locks) & (fraction >= 0.5))
            key = np.minimum(up_locks, down_locks) + np.where(goes_up, 1.0 - fraction, fraction)
        elif rule is Rule.LENGTH:
            own = cost[columns]
            goes_up = (own > 0.0) | ((own == 0.0) & (fraction >= 0.5))
            distance = np.where(goes_up, 1.0 - fraction, fraction)
            # where nothing has a price, those that are nearly there already come first
            key = (np.abs(own) + 1.0) * distance / (1.0 + self._length[columns])
        else:
            goes_up = fraction >= 0.5
            key = np.where(goes_up, 1.0 - fraction, fraction)
        order = np.lexsort((key, -failures))
        return Decisions(columns[order], goes_up[order])
