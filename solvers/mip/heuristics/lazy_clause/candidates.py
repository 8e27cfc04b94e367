"""Candidates, whose integers are all decided: whether one is feasible, and what follows if not.

From an infeasible LP follows a side: Farkas' lemma makes one of all its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lazy_clause.grid import Sides
from solvers.mip.heuristics.lazy_clause.state import SliceEnd, State
from solvers.mip.model import IndexArray, MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.polish import Polished, PolishStatus
from solvers.mip.solutions.pool import Submit
from solvers.native.mip_heuristics_lazy_clause import learn_decisions, learn_row

NOTHING = 1e-9
"""Coefficients of continuous columns below this, relative to the largest, are rounding errors."""

Side = tuple[IndexArray, FloatArray, float]
"""Codes, coefficients above zero, and the right-hand side; see ``sides``."""


def aggregated(model: MipModel, rows: IndexArray, ray: FloatArray) -> list[Side]:
    """Return the sides that the rows of an LP make when added with the weights of a Farkas ray.

    Both signs of the ray are tried, as solvers do not agree on it; a sign that needs a side which a
    row does not have gives nothing. Every feasible point of the model keeps a returned side, up to
    rounding errors.

    Parameters
    ----------
    model : MipModel
    rows : (k,) int32
    ray : (k,) float64
    """
    if not ray.size or rows.size != ray.size:
        return []
    sides = []
    for weights in (ray, -ray):
        ends = np.where(weights > 0.0, model.row_upper[rows], model.row_lower[rows])
        if not np.isfinite(ends).all():
            continue
        total = np.asarray(weights @ model.problem.matrix[rows])
        right = float(np.sum(weights * ends))
        size = np.abs(total)
        rounding = (model.is_integer == 0) & (size <= NOTHING * np.max(size, initial=0.0))
        columns = np.flatnonzero((size > 0.0) & ~rounding)
        codes = (2 * columns + (total[columns] < 0.0)).astype(np.int32)
        sides.append((codes, size[columns], right))
    return sides


WORK_PER_ITERATION = 1.0
"""Visits of each entry of the continuous part that an iteration of the simplex counts for."""

SOURCE = "lazy clause"

Settle = Callable[[FloatArray, str, float], Polished]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What came of a candidate.

    Parameters
    ----------
    status : int
        How the search is to go on; see :class:`SliceEnd`.
    point : (n,) float64, optional
        A feasible point with these integers.
    is_refuted : bool
        Whether an LP has shown that no values of the continuous columns go with them.
    """

    status: int
    point: FloatArray | None = None
    is_refuted: bool = False


class Candidates:
    """Judges the candidates of one search.

    Parameters
    ----------
    model : MipModel
    sides, state : Sides, State
        Of the search; what a candidate teaches becomes a clause there.
    submit, settle : callable
        See ``ClauseSearch``.
    """

    def __init__(
        self, model: MipModel, sides: Sides, state: State, submit: Submit, settle: Settle | None
    ) -> None:
        self._model = model
        self._sides = sides
        self._state = state
        self._submit = submit
        continuous = model.is_integer == 0
        self._settle = settle if continuous.any() else None
        self._continuous_entries = int(np.count_nonzero(continuous[model.rows.indices]))

    def judge(self, budget: Budget) -> Verdict:
        """Submit the point at which the search stands, and learn from what comes of it."""
        low, high = self._state.bound[0::2], -self._state.bound[1::2]
        values = np.where(np.isfinite(low), low, np.minimum(high, 0.0))
        point = self._model.rounded(values[:-1])
        if self._settle is None:
            feasible = is_feasible(self._model, point)
            self._submit(point, SOURCE)
            return Verdict(SliceEnd.RUNNING, point) if feasible else Verdict(self._refuse())
        return self._judge_by_lp(self._settle, point, budget)

    def _judge_by_lp(self, settle: Settle, point: FloatArray, budget: Budget) -> Verdict:
        """Let an LP find the values of the continuous columns, or a row that excludes them."""
        polished = settle(point, SOURCE, budget.seconds_left if budget.is_timed else np.inf)
        budget.charge(WORK_PER_ITERATION * polished.iterations * self._continuous_entries)
        if polished.x is not None:
            status = self._refuse()  # these integers have nothing better
            return Verdict(status) if status == SliceEnd.EXHAUSTED else Verdict(SliceEnd.RUNNING, polished.x)
        if polished.status is PolishStatus.LIMIT:
            return Verdict(SliceEnd.RUNNING)
        for codes, coefficients, right in aggregated(self._model, polished.conflict, polished.ray):
            status = learn_row(self._sides, self._state, codes, coefficients, right)
            if status >= 0:
                return Verdict(status, is_refuted=True)
        return Verdict(self._refuse(), is_refuted=True)

    def _refuse(self) -> int:
        """Learn that the present decisions lead nowhere."""
        return int(learn_decisions(self._sides, self._state))
