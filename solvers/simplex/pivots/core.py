"""The CPU core: compiled pivots in slices, factorisations and looks at the clock between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.problem import FloatArray
from solvers.simplex.core import Halt
from solvers.simplex.form import SlackForm
from solvers.simplex.pivots import arrays as at
from solvers.simplex.pivots.arrays import (
    FOR_DUAL,
    FOR_LOOKS,
    FOR_PRIMAL,
    Iterate,
    iterate_arrays,
    matrix_arrays,
    update_limit,
    vector_arrays,
)
from solvers.simplex.state import BASIC, SimplexState, nonbasic_status

SLICE_WORK = 5_000_000
"""Elementary steps of a compiled loop between two looks at the clock: hundredths of a second."""

MOST_REPAIRS = 30
"""Singular bases met on the way after which pivots are given up."""

MOST_BANS = 5
"""Times that pivots refused for inaccuracy are tried anew."""


class SparseCore:
    """Dual and primal pivots on a sparse factorisation; see :class:`solvers.simplex.core.Core`.

    Parameters
    ----------
    form : SlackForm
    seed : int
        Of the permutation that settles ties.
    """

    def __init__(self, form: SlackForm, seed: int = 0) -> None:
        from solvers.simplex.factor.basis import BasisFactor

        self.form = form
        self.refactorisations = 0
        self.repairs = 0
        self._seed = seed
        self._factor = BasisFactor(form, update_limit(form.num_rows) + 1)
        self._matrix = matrix_arrays(form)
        self._vectors = vector_arrays(form)
        self._counts = np.zeros(at.SIZE, dtype=np.int64)
        self._counts[at.LIMIT] = update_limit(form.num_rows)
        self._figures = np.zeros(at.FIGURES)
        self._looks_right = False
        self._iterate: Iterate
        self._pivot_row = -1
        self._pivot_column = -1

    @property
    def pivot_row(self) -> int:
        """Position at which the dual found no ratio; -1 if none."""
        return self._pivot_row

    @property
    def pivot_column(self) -> int:
        """Variable for which the primal found no ratio; -1 if none."""
        return self._pivot_column

    @property
    def iterations(self) -> int:
        """Pivots and primal bound flips since the last load."""
        return int(self._counts[at.ITERATIONS])

    @property
    def bound_flips(self) -> int:
        """Variables flipped by dual ratio tests so far."""
        return int(self._counts[at.FLIPS])

    def load(self, state: SimplexState) -> None:
        """Take over a state, factorise its basis unless it just was, and compute it afresh."""
        factorised = self._factorised and np.array_equal(self._iterate.basic, state.basic)
        self._iterate = iterate_arrays(state, self._seed)
        self._figures[at.TOLERANCE] = state.tolerance
        self._counts[at.ITERATIONS] = 0
        self._pivot_row = self._pivot_column = -1
        if not factorised:
            self._factorise()
        self._recompute(FOR_LOOKS)

    def store(self, state: SimplexState) -> None:
        """Copy everything back, computed from a fresh factorisation."""
        here = self._iterate
        if self._counts[at.UPDATES]:
            self._factorise()
        if not self._looks_right:
            self._recompute(FOR_LOOKS)
        for name in ("basic", "status", "x", "reduced_cost", "cost", "lower", "upper"):
            getattr(state, name)[:] = getattr(here, name)
        state.edge_weight[:] = here.weight
        state.iterations += self.iterations
        self._counts[at.ITERATIONS] = 0

    def dual(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run at most ``most`` dual pivots from a dual feasible basis."""
        from solvers.simplex.pivots.dual_loop import dual_slice

        halt = self._pivot(dual_slice, FOR_DUAL, most, should_stop)
        self._pivot_row = int(self._counts[at.ROW]) if halt is Halt.NO_PIVOT else -1
        return halt

    def primal(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run at most ``most`` primal pivots; from an infeasible point with composite costs."""
        from solvers.simplex.pivots.primal_loop import primal_slice

        self._iterate.devex[:] = 1.0
        self._iterate.reference[:] = self._iterate.status != BASIC
        halt = self._pivot(primal_slice, FOR_PRIMAL, most, should_stop)
        self._pivot_column = int(self._counts[at.COLUMN]) if halt is Halt.NO_PIVOT else -1
        self._iterate.weight[:] = 1.0  # steepest edge knows nothing of the new basis
        return halt

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y (m,) by row with B'y = ``right``, (m,) by position."""
        from solvers.simplex.factor.solves import btran

        return self._solve(btran, right)

    def solve_basis(self, right: FloatArray) -> FloatArray:
        """Return v (m,) by position with B v = ``right``, (m,) by row."""
        from solvers.simplex.factor.solves import ftran

        return self._solve(ftran, right)

    def _solve(self, solve: Callable[..., int], right: FloatArray) -> FloatArray:
        vector = np.array(right, dtype=np.float64)
        pattern = np.zeros(vector.size, dtype=np.int32)
        nonzeros = np.flatnonzero(vector)
        pattern[: nonzeros.size] = nonzeros
        solve(self._factor.arrays, vector, pattern, nonzeros.size)
        return vector

    def _pivot(
        self,
        loop: Callable[..., int],
        purpose: int,
        most: int,
        should_stop: Callable[[], bool],
    ) -> Halt:
        """Run slices of a compiled loop until there is a reason to stop."""
        counts = self._counts
        end = counts[at.ITERATIONS] + most
        bans = 0
        self.repairs = 0
        counts[at.STALLED] = 0
        self._refresh(purpose)
        while True:
            counts[at.WORK] = 0
            reason = loop(
                self._factor.arrays,
                self._matrix,
                self._iterate,
                self._vectors,
                counts,
                self._figures,
                end - counts[at.ITERATIONS],
                SLICE_WORK,
            )
            if reason in (at.DONE, at.REFACTOR) and counts[at.BANNED]:
                bans += reason == at.DONE
                if bans > MOST_BANS:
                    return Halt.TROUBLE
                reason = at.REFACTOR
            if reason == at.DONE:
                return Halt.DONE
            if reason == at.NO_PIVOT:
                return Halt.NO_PIVOT
            if reason == at.TROUBLE or self.repairs > MOST_REPAIRS:
                return Halt.TROUBLE
            if should_stop():
                return Halt.STOPPED
            if counts[at.ITERATIONS] >= end:
                return Halt.LIMIT
            if reason == at.REFACTOR:
                self._refresh(purpose)

    def _factorise(self) -> None:
        """Factorise the basis, and repair it by logicals where it is singular."""
        here = self._iterate
        before = here.basic.copy()
        repaired = self._factor.factorise(here.basic)
        self.refactorisations += 1
        self._counts[at.UPDATES] = 0
        self._counts[at.BANNED] = 0
        if not repaired:
            return
        self.repairs += 1
        out = before[list(repaired.positions)]
        here.status[out] = nonbasic_status(here.lower, here.upper, here.reduced_cost)[out]
        here.status[here.basic] = BASIC
        here.weight[:] = 1.0

    def _refresh(self, purpose: int) -> None:
        """Factorise if need be, and compute what pivots of this kind start from."""
        if self._counts[at.UPDATES] or self._counts[at.BANNED]:
            self._factorise()
        self._recompute(purpose)

    def _recompute(self, purpose: int) -> None:
        from solvers.simplex.pivots.refresh import recompute

        recompute(
            self._factor.arrays,
            self._matrix,
            self._iterate,
            self._vectors,
            self._counts,
            self._figures[at.TOLERANCE],
            purpose,
        )
        self._looks_right = purpose == FOR_LOOKS

    @property
    def _factorised(self) -> bool:
        """Whether there are factors without updates."""
        return self.refactorisations > 0 and not self._counts[at.UPDATES]
