"""Entries to a sparse matrix over the free variables, the fixed ones folded into constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.adapters.arrays import places_of
from gpu_bridge.adapters.pyomo.entries import IndexArray, RowArray
from gpu_bridge.adapters.pyomo.rows import ModelRows
from solvers.core.errors import ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class FreeMatrix:
    """Rows over free variables: (m, n) canonical, its n variables, and constants (m,)."""

    matrix: SparseRows
    columns: list[Any]
    constants: FloatArray


class MatrixReader:
    """Gives variables numbers in order of appearance; folds the fixed ones into constants.

    Variables without a nonzero coefficient get no column (so their values stay untouched),
    except those in ``always`` that are not fixed. Where rows are read again, numbers are given only
    to other variables, and the matrix is made only of other coefficients.
    """

    def __init__(self, always: Iterable[Any] = ()) -> None:
        self._forced = {id(variable): variable for variable in always}
        self._numbered: _Numbered | None = None
        self._matrix: _Matrix | None = None

    def read(self, rows: ModelRows) -> FreeMatrix:
        """Return the rows over the variables that are free now.

        Raises
        ------
        ProblemError
            A variable is fixed but has no value.
        """
        numbered, last = self._numbered, self._matrix
        matrix: _Matrix | None = None
        if numbered is not None and numbered.entries is rows.variables:
            variables = list(numbered.known.values())
            fixed = list(map(attrgetter("_fixed"), variables))
            if last is not None and fixed == last.fixed:
                matrix = last.with_coefficients(rows.coefficients)
            last = None
        else:
            if numbered is None or numbered.entries is not rows.before or self._forced:
                numbered, last = _Numbered.of(rows.variables, self._forced), None
            else:  # as with cuts, which come at the end
                numbered = numbered.with_entries(rows.variables, rows.same)
            self._numbered = numbered
            variables = list(numbered.known.values())
            fixed = list(map(attrgetter("_fixed"), variables))
        if matrix is None:
            matrix = _Matrix.of(numbered, rows, fixed, self._forced, last)
        self._matrix = matrix
        constants = rows.constants
        if matrix.settled.size:
            values = np.zeros(len(variables))
            values[matrix.settled] = _values([variables[j] for j in matrix.settled.tolist()])
            constants = constants + matrix.whole.times(values)
        return FreeMatrix(matrix.free, matrix.columns, constants)


@dataclass(frozen=True, eq=False)
class _Numbered:
    """The variables of the entries, each once and by ``id``, and the number of each entry's."""

    entries: list[Any]
    known: dict[int, Any]
    indices: npt.NDArray[np.int32]

    @classmethod
    def of(cls, entries: list[Any], forced: dict[int, Any]) -> _Numbered:
        known = dict(zip(map(id, entries), entries, strict=True)) | forced
        return cls(entries, known, _numbers(entries, known))

    def with_entries(self, entries: list[Any], same: int) -> _Numbered:
        """Return it for other entries, of which the first ``same`` ones are its own."""
        others = entries[same:]
        known = self.known | dict(zip(map(id, others), others, strict=True))
        numbers = np.concatenate((self.indices[:same], _numbers(others, known)))
        return _Numbered(entries, known, numbers)


def _numbers(entries: list[Any], known: dict[int, Any]) -> npt.NDArray[np.int32]:
    """Return the place of each entry's variable among those known."""
    number = dict(zip(known, range(len(known)), strict=True))
    # a list of the ids would take three times the memory of all that is made of them
    return np.fromiter(map(number.__getitem__, map(id, entries)), np.int32, len(entries))


@dataclass(eq=False)
class _Places:
    """Where the entries (k,) of a model stand in its matrices, looked for at the second look."""

    _row_of: RowArray
    _column_of: npt.NDArray[np.int32]
    _whole: SparseRows
    _used: BoolArray

    @cached_property
    def in_whole(self) -> IndexArray | None:
        """The place of each entry over all variables; None where an entry has none, being zero."""
        places, found = places_of(self._whole, self._row_of.astype(np.int64), self._column_of)
        return places if found.size and found.all() else None

    @cached_property
    def in_free(self) -> BoolArray:
        """Which entries over all variables are those of free ones, too."""
        entries: BoolArray = self._used[self._whole.indices]
        return entries


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The matrix over all variables and over the free ones, and what it was made of.

    ``settled`` has the numbers of the fixed variables that count.
    """

    coefficients: FloatArray
    fixed: list[bool]
    whole: SparseRows
    free: SparseRows
    columns: list[Any]
    settled: IndexArray
    places: _Places

    @classmethod
    def of(
        cls,
        numbered: _Numbered,
        rows: ModelRows,
        flags: list[bool],
        forced: dict[int, Any],
        last: _Matrix | None,
    ) -> _Matrix:
        """Make it; ``last`` is that of the last look, whose variables have the same numbers."""
        variables = list(numbered.known.values())
        fixed = np.array(flags, dtype=bool)
        head = None if last is None else last._unchanged(rows)
        k, m = (0, 0) if head is None else (rows.same, rows.same_rows)
        shape = (len(rows.rows) - m, len(variables))
        row_of = rows.row_of[k:] - m
        entries = SparseRows.of_entries(rows.coefficients[k:], row_of, numbered.indices[k:], shape)
        whole = entries.canonical()
        if head is not None:
            whole = head.above(whole)
        used = np.bincount(whole.indices, minlength=len(variables)) > 0
        settled = np.flatnonzero(used & fixed)
        for place, variable in enumerate(variables) if forced else ():
            used[place] |= id(variable) in forced
        kept = used & ~fixed
        free, columns = whole, variables
        if not kept.all():
            free = whole.select(columns=kept)
            columns = list(compress(variables, kept))
        places = _Places(rows.row_of, numbered.indices, whole, kept)
        return cls(rows.coefficients, flags, whole, free, columns, settled, places)

    def _unchanged(self, rows: ModelRows) -> SparseRows | None:
        """Return the rows at the top that are the same now, None without any."""
        k, m = rows.same, rows.same_rows
        if not m or not np.array_equal(rows.coefficients[:k], self.coefficients[:k]):
            return None
        return self.whole.first(m)

    def with_coefficients(self, coefficients: FloatArray) -> _Matrix | None:
        """Return it with other coefficients (k,); None where not the same entries are zero."""
        if coefficients is self.coefficients or np.array_equal(coefficients, self.coefficients):
            return self
        places = self.places.in_whole
        if places is None:
            return None
        data = np.bincount(places, coefficients, self.whole.nnz).astype(np.float64, copy=False)
        if not data.all():
            return None
        whole = replace(self.whole, data=data)
        free = whole
        if self.free is not self.whole:
            free = replace(self.free, data=data[self.places.in_free])
        return replace(self, coefficients=coefficients, whole=whole, free=free)


def _values(fixed: list[Any]) -> FloatArray:
    for variable in fixed:
        if variable._value is None:
            raise ProblemError(
                f"Variable '{variable.name}' is fixed but has no value; give it one with "
                "fix(value), or unfix it."
            )
    return np.array([variable._value for variable in fixed], dtype=np.float64)
