"""A box on its way to a point: its random numbers, its share of the budget, and the last steps."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.choose import Guide
from solvers.mip.heuristics.fix_and_propagate.dive_stack import CURSOR, FULL, RUNNING, Search
from solvers.mip.heuristics.fix_and_propagate.repair_state import MAX_SHIFTS, Walk
from solvers.mip.heuristics.fix_and_propagate.strategy import Mode, Value
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.domain.state import WORK
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_heuristics_fix_and_propagate_dive import (
    collect,
    dive_leniently,
    release,
    repair,
)

SLICE = 1_000_000
"""Entries visited between two looks at the budget: ten to twenty milliseconds."""


CALLS_PER_LOOK = 8
"""Steps of some tenths of a millisecond between two looks at the budget."""


class Attempt:
    """What dives and bulk rounding share: a domain of their own, repair, the continuous columns.

    Parameters
    ----------
    model : MipModel
    domain : Domain
        Changed from here on.
    guide : Guide
    walk : Walk
        Scratch arrays of the repair.
    search : Search
        Order, stack and random numbers.
    budget : Budget
        Charged with the work done.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        guide: Guide,
        walk: Walk,
        search: Search,
        budget: Budget,
    ) -> None:
        self.model = model
        self.domain = domain
        self.guide = guide
        self.walk = walk
        self.search = search
        self.budget = budget
        walk.last[:] = -MAX_SHIFTS
        walk.clock[:] = 0
        self.base = domain.mark()
        self._begin = self._charged = domain.work
        self._calls = 0
        self.is_complete = True
        self.is_consistent = False

    @property
    def work(self) -> int:
        """Entries visited by this attempt."""
        return self.domain.work - self._begin

    def fix_all(self, search: Search, rule: int, mode: int) -> None:
        """Fix the columns of an order, passing contradictions over."""
        domain = self.domain
        while True:
            domain.reserve()
            status = dive_leniently(
                domain.model,
                domain.box,
                self.guide,
                search,
                self.walk,
                rule,
                mode,
                self.slice_end(),
                domain.cap,
            )
            if not self.goes_on(status):
                return

    def fix_continuous(self, columns: IndexArray, by_reference: bool) -> None:
        """Fix the continuous columns one by one where propagation leaves them."""
        self.search.counts[CURSOR] = 0
        rule = Value.REFERENCE if by_reference else Value.GOOD_OBJECTIVE
        search = self.search._replace(order=columns)
        self.fix_all(search, rule.value, Mode.DIVE_PROPAGATE.value)

    def settle(self) -> int:
        """Check and mend the box where all integers are fixed; return how many rows stay broken."""
        matrix, search = self.domain.model, self.search
        self.domain.reserve()
        box, cap = self.domain.box, self.domain.cap
        if self.is_complete:
            self.is_consistent = release(matrix, box, search.root, cap)
            if not self.is_consistent:
                self.is_consistent = self.repair(SLICE)
        self.charge()
        return collect(box, self.walk)

    def repair(self, work: int) -> bool:
        """Shift columns of the box until nothing is broken; whether that worked."""
        box, search = self.domain.box, self.search
        mended = repair(
            self.domain.model,
            box,
            search.root,
            self.walk,
            search.random,
            MAX_SHIFTS,
            int(box.counts[WORK]) + work,
            self.domain.cap,
        )
        self.charge()
        return mended

    def point(self) -> FloatArray:
        """Read the point off the box: the lower bounds, where there are any."""
        low, high = self.domain.box.bounds
        return self.model.rounded(np.where(np.isfinite(low), low, np.minimum(high, 0.0)))

    def slice_end(self) -> int:
        """Return the reading of the work counter at which to look at the budget."""
        return self.domain.work + int(min(SLICE, self.budget.work_left)) + 1

    def goes_on(self, status: int) -> bool:
        """Charge the work done and say whether to call the loop again."""
        self.charge()
        if status == RUNNING and self.budget.spent():
            self.is_complete = False
            return False
        return status in (RUNNING, FULL)

    def is_spent(self) -> bool:
        """Charge the work done and, every few calls, say whether the budget is spent."""
        self.charge()
        self._calls += 1
        return self._calls % CALLS_PER_LOOK == 1 and self.budget.spent()

    def charge(self) -> None:
        """Charge the work done since the last time."""
        self.budget.charge(self.domain.work - self._charged)
        self._charged = self.domain.work
