"""A basis of a linear program, factorised again and again in the same memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.errors import EngineError
from solvers.problem import FloatArray
from solvers.simplex.factor import pivots as sizes
from solvers.simplex.factor.arrays import (
    ENTRIES,
    FACTOR_WORK,
    SOLVE_WORK,
    UPDATES,
    FactorArrays,
    Int64Array,
    empty_arrays,
    with_room,
)
from solvers.simplex.factor.pivots import Pivots, empty_pivots
from solvers.simplex.form import SlackForm

MOST_UPDATES = 200
"""Updates that arrays have room for; most bases are factorised again before, for accuracy or
because the work of solves has grown."""

SPIKE_ENTRIES = 64
"""Entries for which each update has room, beside three times those of the fresh factors: spikes
are mostly shorter, and rows of U that move leave their place empty."""


@dataclass(frozen=True)
class Repaired:
    """Which positions of a singular basis had their variable replaced by a logical.

    ``logicals[k]`` is the variable now at ``positions[k]``: n + i for the logical of row i.
    """

    positions: tuple[int, ...] = ()
    logicals: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.positions)


class BasisFactor:
    """Factors of the columns of [A -I] that a basis names.

    Parameters
    ----------
    form : SlackForm
        The problem, whose matrix must not change.
    most_updates : int
        After so many updates the next one asks for a new factorisation.

    Attributes
    ----------
    arrays : FactorArrays
        What compiled solves and updates take; valid until the next ``factorise``.
    """

    def __init__(self, form: SlackForm, most_updates: int = MOST_UPDATES) -> None:
        from solvers.simplex.factor.nucleus import empty_nucleus
        from solvers.simplex.factor.peel import empty_peeling

        m = form.num_rows
        self.form = form
        self.arrays: FactorArrays = empty_arrays(m, most_updates)
        self._pivots = empty_pivots(m, 0, 0)
        self._peeling = empty_peeling(m, 0)
        self._nucleus = empty_nucleus(m, 0)

    @property
    def num_updates(self) -> int:
        """Columns replaced since the factorisation."""
        return int(self.arrays.counters[UPDATES])

    @property
    def factor_entries(self) -> int:
        """Entries of L, U and of the updates, diagonals left out."""
        return int(self.arrays.counters[ENTRIES])

    @property
    def nucleus_size(self) -> int:
        """Rows of the last factorised basis that needed elimination."""
        return int(self.form.num_rows - self._pivots.sizes[sizes.PEELED])

    @property
    def factor_work(self) -> int:
        """Elementary steps of the last factorisation."""
        return int(self.arrays.counters[FACTOR_WORK])

    @property
    def solve_work(self) -> int:
        """Elementary steps of solves and updates since then."""
        return int(self.arrays.counters[SOLVE_WORK])

    def factorise(self, basic: Int64Array) -> Repaired:
        """Factorise a basis; replace columns that depend on others by logicals.

        Parameters
        ----------
        basic : (m,) int64 array
            The variable at each position; changed in place where the basis was singular.

        Returns
        -------
        Repaired
            What was changed, empty for a basis that is not (numerically) singular.
        """
        self._check(basic)
        positions: list[int] = []
        logicals: list[int] = []
        while True:
            self._choose_pivots(basic)
            left = self._pivots.slot_of_position < 0
            if not left.any():
                break
            where = np.flatnonzero(left)
            rows = np.flatnonzero(self._pivots.slot_of_row < 0)
            basic[where] = self.form.num_structurals + rows
            positions.extend(where.tolist())
            logicals.extend(basic[where].tolist())
        self._assemble()
        return Repaired(tuple(positions), tuple(logicals))

    def residual(self, basic: Int64Array, right: FloatArray, solution: FloatArray) -> float:
        """Return the largest entry of ``right`` - B v, for v = ``solution`` by position."""
        return float(np.abs(right - self.product(basic, solution)).max(initial=0.0))

    def product(self, basic: Int64Array, solution: FloatArray) -> FloatArray:
        """Return B v, (m,) by row, for v (m,) by position."""
        form = self.form
        x = np.zeros(form.num_variables)
        np.add.at(x, basic, solution)
        starts, indices, values = form.columns
        owner = np.repeat(np.arange(form.num_structurals), np.diff(starts))
        activity = np.bincount(indices, values * x[owner], minlength=form.num_rows)
        return np.asarray(activity - x[form.num_structurals :])

    def _check(self, basic: Int64Array) -> None:
        form = self.form
        if basic.shape != (form.num_rows,) or basic.dtype != np.int64:
            raise EngineError(
                f"A basis is an int64 array of {form.num_rows} variables, not {basic.dtype} of "
                f"shape {basic.shape}"
            )
        if basic.size and not (basic.min() >= 0 and basic.max() < form.num_variables):
            raise EngineError(
                f"A basis names variable {basic.min()} or {basic.max()}, but there are "
                f"{form.num_variables}, counted from 0"
            )

    def _choose_pivots(self, basic: Int64Array) -> None:
        """Run the stages, with more room whenever one of them has run out of it."""
        from solvers.simplex.factor.dense import empty_rest, factorise_dense
        from solvers.simplex.factor.stages import choose_pivots

        starts = self.form.columns.starts
        variables = basic[basic < self.form.num_structurals]
        entries = int((starts[variables + 1] - starts[variables]).sum())
        self._reserve(entries)
        while True:
            full = choose_pivots(
                self.form.columns,
                self.form.num_structurals,
                basic,
                self._pivots,
                self._peeling,
                self._nucleus,
            )
            if full == sizes.FILLED_UP:
                full = factorise_dense(self._nucleus, self._pivots, empty_rest(self._nucleus))
            if full == sizes.DONE:
                return
            self._grow(full)

    def _reserve(self, entries: int) -> None:
        """Make room for a basis with so many entries and some fill."""
        from solvers.simplex.factor.nucleus import with_files
        from solvers.simplex.factor.peel import with_positions

        m = self.form.num_rows
        if self._peeling.row_positions.size < entries:
            self._peeling = with_positions(self._peeling, 2 * entries)
        self._pivots = _with_lower(self._pivots, entries)
        self._pivots = _with_upper(self._pivots, entries)
        if self._nucleus.column_rows.size < 2 * entries:
            self._nucleus = with_files(self._nucleus, 4 * entries + m)

    def _grow(self, full: int) -> None:
        from solvers.simplex.factor.nucleus import with_files

        p = self._pivots
        if full == sizes.LOWER_FULL:
            self._pivots = _with_lower(p, int(p.sizes[sizes.NEEDED]))
        elif full == sizes.UPPER_FULL:
            self._pivots = _with_upper(p, int(p.sizes[sizes.NEEDED]))
        else:
            self._nucleus = with_files(self._nucleus, 2 * self._nucleus.column_rows.size + 16)

    def _assemble(self) -> None:
        from solvers.simplex.factor.assemble import ROW_ROOM, assemble

        m = self.form.num_rows
        lower = int(self._pivots.sizes[sizes.LOWER_USED])
        upper = int(self._pivots.sizes[sizes.UPPER_USED])
        spikes = min(m, SPIKE_ENTRIES) * self.arrays.eta_row.size
        upper += ROW_ROOM * m + 3 * (lower + upper) + spikes
        self.arrays = with_room(self.arrays, lower, upper)
        assemble(self._pivots, self.arrays)


def _with_lower(pivots: Pivots, room: int) -> Pivots:
    """Return pivots with at least so much room for L; contents of the file are lost if it grew."""
    if pivots.lower_indices.size >= room:
        return pivots
    return pivots._replace(
        lower_indices=np.empty(2 * room, dtype=np.int32), lower_values=np.empty(2 * room)
    )


def _with_upper(pivots: Pivots, room: int) -> Pivots:
    """Return pivots with at least so much room for U; contents of the file are lost if it grew."""
    if pivots.upper_row.size >= room:
        return pivots
    return pivots._replace(
        upper_row=np.empty(2 * room, dtype=np.int32),
        upper_position=np.empty(2 * room, dtype=np.int32),
        upper_value=np.empty(2 * room),
    )
