"""The stored inverse: which of its columns are stored, its factorisation, folding pivots in.

The column of row i is a unit column, -e_p, while the logical of row i is basic, at position p; so
only columns of rows whose logical is nonbasic are stored, m x k numbers for k basic structurals
(slots of which are kept free for those to come). The host mirrors which row has which slot, and
follows the pivots through their log.

The whole of these columns is kept, not the k x k nucleus alone: a pivot row at a logical's position
would otherwise cost a product of its row of A with the nucleus, all of it where A is dense. The
dense inverse of the nucleus comes from its LU, which also says which columns depend on others.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.kernels.family import Bound
from solvers.simplex.dense_gpu.arrays import Arrays, check_fits
from solvers.simplex.dense_gpu.kernels.refresh import REFRESH

# Which row has which stored column of the inverse, as the host follows it through the pivots.


Indices = npt.NDArray[np.int64]


class StoredColumns:
    """Slots of the rows whose logical is nonbasic, and positions of the logicals of all others.

    A slot is the number of a stored column.

    Attributes
    ----------
    maps : (3, m) array
        The next three, one after the other.
    unit_row : (m,) array
        Row whose logical is basic at a position, or -1.
    unit_position : (m,) array
        Position at which a row's logical is basic, or -1.
    slot_of_row : (m,) array
        The row's slot, or -1.
    row_of_slot : (count,) array
        The rows that have slots, in the order of these.
    """

    def __init__(self, rows: int, structurals: int) -> None:
        self._structurals = structurals
        self.maps = np.full((3, rows), -1, dtype=np.int32)
        self.unit_row, self.unit_position, self.slot_of_row = self.maps
        self.row_of_slot: Indices = np.zeros(0, dtype=np.int64)

    def restart(self, basic: Indices, units: Indices) -> Indices:
        """Give slots anew, for a basis with logicals at positions ``units``; return their rows."""
        self.maps[:] = -1
        self.unit_row[units] = basic[units] - self._structurals
        self.unit_position[basic[units] - self._structurals] = units
        rows = np.flatnonzero(self.unit_position < 0)
        self.slot_of_row[rows] = np.arange(rows.size)
        self.row_of_slot = rows
        return rows

    def follow(self, log: npt.NDArray[Any], basic: Indices) -> tuple[Indices, Indices, Indices]:
        """Repeat pivots (position, leaving, entering), one to a row of ``log``, on ``basic`` (m,).

        Returns
        -------
        joined, positions : arrays
            Rows whose logical left the basis, ascending, and the positions it had.
        left : array
            Rows whose logical came in, ascending.
        """
        positions, leaving, entering = log.astype(np.int64).T
        basic[positions] = entering  # of equal positions the last one stays
        self.unit_row[positions] = np.maximum(entering - self._structurals, -1)
        rows = np.empty(2 * positions.size, dtype=np.int64)
        places = np.full(2 * positions.size, -1)
        rows[::2], rows[1::2], places[1::2] = leaving, entering, positions
        logical = rows >= self._structurals
        before = self.unit_position.astype(np.int64)
        now = self.unit_position
        now[rows[logical] - self._structurals] = places[logical]
        was, is_now = before >= 0, now >= 0
        joined = np.flatnonzero(was & ~is_now)
        return joined, before[joined], np.flatnonzero(is_now & ~was)

    def open(self, joined: Indices) -> Indices:
        """Give rows that have no unit column any more a slot each; return these."""
        slots = np.arange(self.row_of_slot.size, self.row_of_slot.size + joined.size)
        self.row_of_slot = np.concatenate((self.row_of_slot, joined))
        self.slot_of_row[joined] = slots
        return slots

    def close(self, left: Indices) -> tuple[Indices, Indices]:
        """Take out the slots of rows that have become unit columns; the last ones fill the gaps.

        Returns
        -------
        targets, sources : arrays
            Slots that end, and the slots they move to before that, or -1.
        """
        freed = np.sort(self.slot_of_row[left]).astype(np.int64)
        total = self.row_of_slot.size - left.size
        gaps, ends = freed[freed < total], freed[freed >= total]
        kept = np.ones(left.size, dtype=bool)
        kept[ends - total] = False
        fillers = total + np.flatnonzero(kept)
        rows = self.row_of_slot[fillers]
        self.slot_of_row[left] = -1
        self.row_of_slot[gaps] = rows
        self.slot_of_row[rows] = gaps
        self.row_of_slot = self.row_of_slot[:total]
        targets = np.concatenate((gaps, np.full(ends.size, -1)))
        return targets, np.concatenate((fillers, ends))


SMALLEST_PIVOT = 1e-10
"""Pivot element of the factorisation below which a column counts as dependent (of a scaled
matrix, whose coefficients are near one)."""

SLOTS_AT_ONCE = 32
"""Slots come in multiples of this, so that rows begin where memory lines do."""

WHOLE_UP_TO = 2500
"""Rows up to which all columns of the inverse have room from the start: 50 MB at most. Arrays that
move have to be copied, and iterations to be recorded again."""

SPARE = 1.25
"""Room for growth, so that few folds have to move the inverse."""


Dependent = list[tuple[int, int]]
"""Columns of a nucleus that depend on others, and for each the row that they leave without one."""


class SingularError(ArithmeticError):
    """The factorisation broke down, and does not say at which columns."""


def inverse_of(device: Device, matrix: Any) -> tuple[Any, Dependent]:
    """Invert a dense matrix in its own memory and that of the inverse.

    LAPACK and cuSOLVER count by columns; they are given the transposed matrix and return the
    transposed inverse, so that nothing has to be copied.

    Parameters
    ----------
    device : Device
        Where ``matrix`` is.
    matrix : (k, k) array
        Contiguous by rows; is overwritten.

    Returns
    -------
    inverse : (k, k) array
        Contiguous by rows; of no use if there are dependent columns.
    dependent : list of (column, row)
        Empty for a regular matrix.

    Raises
    ------
    SingularError
        cuSOLVER met a pivot that is exactly zero; ``inverse_on_host`` finds out where.
    """
    k = matrix.shape[0]
    if k == 0:
        return matrix, []
    if device.kind == "cpu":
        return inverse_on_host(matrix)
    from cupyx.scipy import linalg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of singular matrices
        factors, exchanges = linalg.lu_factor(matrix.T, overwrite_a=True, check_finite=False)
    diagonal = device.to_host(device.xp.diagonal(factors).copy())
    if np.isnan(diagonal).any():
        raise SingularError
    dependent = _dependent(diagonal, device.to_host(exchanges))
    if dependent:
        return matrix, dependent
    identity = device.xp.eye(k).T
    solution = linalg.lu_solve((factors, exchanges), identity, overwrite_b=True, check_finite=False)
    return solution.T, []


def inverse_on_host(matrix: npt.NDArray[np.float64]) -> tuple[Any, Dependent]:
    """Do the same with a host array, whose factorisation does not break down."""
    from scipy.linalg import lapack

    factors, exchanges, _ = lapack.dgetrf(matrix.T, overwrite_a=1)
    dependent = _dependent(np.diagonal(factors), exchanges)
    if dependent:
        return matrix, dependent
    identity = np.eye(matrix.shape[0]).T
    solution, _ = lapack.dgetrs(factors, exchanges, identity, overwrite_b=1)
    return solution.T, []


def _dependent(diagonal: npt.NDArray[Any], exchanges: npt.NDArray[Any]) -> Dependent:
    """Return the columns that found no pivot element, and the rows left for them."""
    small = np.flatnonzero(~(np.abs(diagonal) > SMALLEST_PIVOT))
    if not small.size:
        return []
    column = np.arange(diagonal.size)  # of the matrix, which is a row of the transposed one
    for place, other in enumerate(exchanges):
        column[place], column[other] = column[other], column[place]
    return [(int(column[row]), int(row)) for row in small]


class Nucleus:
    """The stored columns of the inverse of a basis.

    ``inverse`` (m, capacity), ``unit_row`` (m,), ``slot_of_row`` (m,) and ``row_of_slot``
    (capacity,) are what ``kernels/row.py`` says; ``unit_position`` (m,) is the position at which a
    row's logical is basic, or -1. ``generation`` counts the times that arrays were replaced.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        m = arrays.rows
        self.slots = 0
        self.generation = 0
        self.basic: Indices = np.full(m, -1, dtype=np.int64)
        self._host = StoredColumns(m, arrays.structurals)
        self._allocate(0)

    def factorise(self, basic: Indices) -> list[tuple[int, int]]:
        """Invert the basis of these variables by position.

        Returns
        -------
        list of (position, variable)
            Where dependent columns were replaced by logicals.

        Raises
        ------
        DeviceError
            The inverse does not fit.
        """
        arrays, n = self._arrays, self._arrays.structurals
        self.basic = basic.astype(np.int64)
        replaced: list[tuple[int, int]] = []
        while True:
            positions = np.flatnonzero(self.basic < n)
            units = np.flatnonzero(self.basic >= n)
            rows = self._host.restart(self.basic, units)
            place_of_row = np.empty(arrays.rows, dtype=np.int64)
            place_of_row[rows] = np.arange(rows.size)
            place_of_row[self.basic[units] - n] = -1 - np.arange(units.size)
            check_fits(arrays, rows.size)
            inner, outer, dependent = self._parts(self.basic[positions], place_of_row)
            if not dependent:
                break
            for column, place in dependent:
                position, logical = int(positions[column]), n + int(rows[place])
                self.basic[position] = logical
                replaced.append((position, logical))
        if rows.size > self.capacity or self.inverse is None:
            self._allocate(rows.size)
        self._spread(positions, units, inner, outer)
        self._publish()
        return replaced

    def fold(self, log: npt.NDArray[Any]) -> None:
        """Multiply delayed pivots (position, leaving, entering), one to a row, into the inverse."""
        count = len(log)
        if count == 0:
            return
        arrays = self._arrays
        host = self._host
        joined, positions, left = host.follow(log, self.basic)
        if self.slots + joined.size > self.capacity:
            self._grow(self.slots + joined.size)
        opened = host.open(joined)
        slots = host.row_of_slot.size
        self._folding[:slots] = host.row_of_slot
        targets, sources = host.close(left)
        for list_of, values in zip(
            self._host_lists, (opened, positions, targets, sources), strict=True
        ):
            list_of[: values.size] = values
        self._publish()
        if opened.size:
            self._change("open_slots", opened.size)
        self._change("gather_eta_rows", count, slots)
        if arrays.device.kind == "cpu":
            self.inverse[:, :slots] += arrays.etas[:, :count] @ self._by_slot[:count, :slots]
        else:
            from cupy import cublas

            cublas.gemm("N", "N", arrays.etas, self._by_slot, out=self.inverse, alpha=1.0, beta=1.0)
        if sources.size:
            self._change("close_slots", sources.size)

    def _change(self, name: str, *counts: int) -> None:
        """Run a kernel of the fold for so many columns or rows; launches are made once."""
        a = self._arrays
        opened, positions, targets, sources = self._lists
        arguments = {
            "open_slots": (opened, positions, self.inverse),
            "gather_eta_rows": (a.most, self._row_while_folding, a.eta_rows, self._by_slot),
            "close_slots": (targets, sources, self.inverse),
        }[name]
        if a.device.kind == "cpu":
            REFRESH[name](a.rows, self.capacity, *arguments, *counts)
            return
        if name not in self._launches:
            most = (a.most, self.capacity)[: len(counts)]
            self._launches[name] = REFRESH.bind(name, a.rows, self.capacity, *arguments, *most)
        self._launches[name].ending(*counts)()

    def _parts(self, variables: Indices, place_of_row: Indices) -> tuple[Any, Any, Any]:
        """Return the inverse of the nucleus, the rows below it, and dependent columns."""
        arrays = self._arrays
        nucleus, rest = self._gather(variables, place_of_row)
        try:
            inner, dependent = inverse_of(arrays.device, nucleus)
        except SingularError:
            nucleus, _ = self._gather(variables, place_of_row)
            on_host, dependent = inverse_on_host(arrays.host(nucleus))
            inner = arrays.device.to_device(on_host)
        if dependent:
            return None, None, dependent
        return inner, arrays.product(rest, inner), []

    def _gather(self, variables: Indices, place_of_row: Indices) -> tuple[Any, Any]:
        """Return the columns of these structurals as the nucleus and the rows below it."""
        arrays, k = self._arrays, variables.size
        nucleus, rest = arrays.numbers(k, k), arrays.numbers(arrays.rows - k, k)
        if k:
            matrix = arrays.columns
            REFRESH["gather_basis"](
                k, matrix.starts, matrix.indices, matrix.values,
                arrays.device.to_device(variables.astype(np.int32)),
                arrays.device.to_device(place_of_row.astype(np.int32)),
                nucleus, rest,
            )  # fmt: skip
        return nucleus, rest

    def _spread(self, positions: Indices, units: Indices, inner: Any, outer: Any) -> None:
        arrays = self._arrays
        place = np.empty(arrays.rows, dtype=np.int32)
        place[positions] = np.arange(positions.size)
        place[units] = -1 - np.arange(units.size)
        REFRESH["spread_inverse"](
            arrays.rows, self.capacity, positions.size,
            arrays.device.to_device(place), inner, outer, self.inverse,
        )  # fmt: skip

    def _publish(self) -> None:
        """Send what the host knows of units and slots to the device, all of it at once."""
        host = self._host
        self._host_maps[:] = host.maps
        self.slots = host.row_of_slot.size
        self._host_row_of_slot[: self.slots] = host.row_of_slot
        self._arrays.write(self._words, self._host_words)

    def _allocate(self, slots: int) -> None:
        """Make room for so many stored columns and some more; what was stored is lost."""
        arrays = self._arrays
        wanted = min(arrays.rows, int(SPARE * slots) + 2 * arrays.most)
        if arrays.rows <= WHOLE_UP_TO:
            wanted = arrays.rows
        self.capacity = SLOTS_AT_ONCE * -(-max(1, wanted) // SLOTS_AT_ONCE)
        self.inverse: Any = None  # given back before the next is asked for
        self.inverse = arrays.numbers(arrays.rows, self.capacity)
        self._allocate_words()
        self._launches: dict[str, Bound] = {}
        self.row_slots = arrays.numbers(self.capacity)
        self._by_slot = arrays.numbers(arrays.most, self.capacity)
        self.column_slots, self.flip_slots = (arrays.numbers(self.capacity) for _ in range(2))
        self.generation += 1

    def _allocate_words(self) -> None:
        """Make one array of all indices, so that one copy brings it up to date."""
        arrays, m, most = self._arrays, self._arrays.rows, self._arrays.most
        size = 3 * m + 2 * self.capacity + 4 * most
        self._host_words = np.zeros(size, dtype=np.int32)
        self._words = arrays.integers(size)
        views: list[Any] = []
        for words in (self._host_words, self._words):
            ends = (3 * m, 3 * m + self.capacity, 3 * m + 2 * self.capacity)
            views.append((
                words[: ends[0]].reshape(3, m), words[ends[0] : ends[1]],
                words[ends[1] : ends[2]], words[ends[2] :].reshape(4, most),
            ))  # fmt: skip
        self._host_maps, self._host_row_of_slot, self._folding, self._host_lists = views[0]
        maps, self.row_of_slot, self._row_while_folding, self._lists = views[1]
        self.unit_row, self.unit_position, self.slot_of_row = maps

    def _grow(self, slots: int) -> None:
        check_fits(self._arrays, slots)
        old, before = self.inverse, self.capacity
        self._allocate(slots)
        self.inverse[:, :before] = old
