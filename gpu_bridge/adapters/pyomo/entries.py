"""From collected terms to arrays: coefficients, variables, constants and rows, in bulk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any

import numpy as np
import numpy.typing as npt
from pyomo.common.numeric_types import native_numeric_types, value

from gpu_bridge.adapters.pyomo.collect import NUMBERS, PLAIN_VARIABLES, Scaled, factor_pairs
from gpu_bridge.adapters.pyomo.interface import ParamData, VarData
from solvers.core.errors import ProblemError
from solvers.core.problem import BoolArray, FloatArray

IndexArray = npt.NDArray[np.int64]
RowArray = npt.NDArray[np.int32]
"""Row of each entry: as long as the entries, so half the memory counts."""


class Numbers:
    """Numbers and parameters (k,), of which only the parameters are evaluated at each look.

    Parameters
    ----------
    values : list
        Numbers, and whatever has a value by now or later.
    what : callable
        Names the k-th value in an error.
    """

    def __init__(self, values: list[Any], what: Callable[[int], str]) -> None:
        self._what = what
        self._places: list[int] = []
        self._items: list[Any] = []
        if not set(map(type, values)) <= native_numeric_types:
            kinds = native_numeric_types
            self._places = [k for k, item in enumerate(values) if item.__class__ not in kinds]
            self._keep_items([values[k] for k in self._places])
            values = [item if item.__class__ in kinds else 0.0 for item in values]
        try:
            self._last = np.fromiter(values, np.float64, len(values))
        except OverflowError as error:
            raise ProblemError(f"A number of the model is too large: {error}.") from error

    def _keep_items(self, given: list[Any]) -> None:
        """Keep what has to be evaluated, each once, with the number of each place's."""
        self._scales: FloatArray | float = 1.0
        self._number_of: IndexArray | slice = slice(None)
        if Scaled in set(map(type, given)):
            parts = [item if item.__class__ is Scaled else Scaled(1.0, item) for item in given]
            self._scales = np.array([part.by for part in parts], dtype=np.float64)
            given = [part.item for part in parts]
        keys = list(map(id, given))
        distinct = dict(zip(keys, given, strict=True))
        self._items = list(distinct.values())
        if len(distinct) < len(keys):
            number = dict(zip(distinct, range(len(distinct)), strict=True))
            self._number_of = np.fromiter(map(number.__getitem__, keys), np.int64, len(keys))
        self._are_parameters = set(map(type, self._items)) == {ParamData}

    @property
    def are_fixed(self) -> bool:
        """Whether none of them can change."""
        return not self._items

    def read(self) -> FloatArray:
        """Return all values; the very array of the last look where none has changed.

        Raises
        ------
        ProblemError
            A value that is not a real number, such as a parameter without a value.
        """
        if not self._items:
            return self._last
        places = self._places
        found = self._evaluated()[self._number_of] * self._scales
        if not np.array_equal(self._last[places], found):
            self._last = self._last.copy()  # somebody may have the one before
            self._last[places] = found
        return self._last

    def _evaluated(self) -> FloatArray:
        """Return the value of each item."""
        if self._are_parameters:
            numbers = [parameter._value for parameter in self._items]
            if set(map(type, numbers)) <= NUMBERS:
                return np.array(numbers, dtype=np.float64)
        return np.array([self._value(k) for k in range(len(self._items))])

    def _value(self, k: int) -> float:
        item = self._items[k]
        try:
            return float(value(item))
        except (ArithmeticError, TypeError, ValueError) as error:
            number_of = np.arange(len(self._places))[self._number_of]
            place = self._places[int(np.flatnonzero(number_of == k)[0])]
            raise ProblemError(
                f"{self._what(place)} is {item}, which has no usable value: {error}"
            ) from error


class Terms:
    """Terms of several rows, split into coefficients and variables.

    Parameters
    ----------
    terms : list
        Terms of several rows one after the other.
    lengths : sequence of int
        How many of the terms belong to each of ``rows``.
    rows : (k,) array of int32
        Row numbers.
    label : callable
        Name of a row, for messages.

    Attributes
    ----------
    variables, rows
        Variable and row of each entry.
    unusual : set of int
        Rows with a term that is not linear in the usual way, whose entries here do not count.
    """

    def __init__(
        self,
        terms: list[Any],
        lengths: Sequence[int],
        rows: RowArray,
        label: Callable[[int], str],
    ) -> None:
        self._label = label
        pairs, lengths, meanings = factor_pairs(terms, lengths)
        self._meanings = [meaning._replace(row=int(rows[meaning.row])) for meaning in meanings]
        self.rows: RowArray = np.repeat(rows, lengths)
        flat = list(chain.from_iterable(pairs))
        self._factors: list[Any] | FloatArray = flat[0::2]
        self.variables = flat[1::2]
        self._constants: list[tuple[int, Any]] = []
        self.unusual: set[int] = set()
        kinds = set(map(type, self.variables)) - PLAIN_VARIABLES
        odd = {kind for kind in kinds if not issubclass(kind, VarData)}
        if odd:
            self._take_out_constants(odd)

    def leave_out(self, rows: set[int]) -> None:
        """Drop everything that belongs to ``rows``."""
        if rows:
            self._keep(~np.isin(self.rows, list(rows)))
            self._constants = [pair for pair in self._constants if pair[0] not in rows]
            self._meanings = [meaning for meaning in self._meanings if meaning.row not in rows]
            for read_already in ("coefficients", "_constant_rows", "constants"):
                self.__dict__.pop(read_already, None)

    def outdated(self) -> set[int]:
        """Return the rows with a named expression that stands for something else by now."""
        return {meaning.row for meaning in self._meanings if not meaning.holds}

    @property
    def are_fixed(self) -> bool:
        """Whether no number and no named expression of theirs can change."""
        return not self._meanings and self.coefficients.are_fixed and self.constants.are_fixed

    @cached_property
    def coefficients(self) -> Numbers:
        """Coefficient of each entry."""
        factors = self._factors
        listed = factors if isinstance(factors, list) else factors.tolist()
        numbers = Numbers(listed, lambda k: f"A coefficient of {self._label(int(self.rows[k]))}")
        if numbers.are_fixed:
            self._factors = numbers.read()  # and not a list as long beside it
        return numbers

    def add_constants(self, to: FloatArray, sign: float) -> None:
        """Add the constant terms of each row, or subtract them."""
        if self._constants:
            np.add.at(to, self._constant_rows, sign * self.constants.read())

    @cached_property
    def _constant_rows(self) -> list[int]:
        return [row for row, _ in self._constants]

    @cached_property
    def constants(self) -> Numbers:
        """The constant terms."""
        rows = self._constant_rows
        return Numbers(
            [item for _, item in self._constants],
            lambda k: f"A constant of {self._label(rows[k])}",
        )

    def _take_out_constants(self, odd: set[type]) -> None:
        """Move numbers and parameters to the constants; mark rows with anything else as unusual."""
        keep = np.ones(len(self.variables), dtype=bool)
        kinds = list(map(type, self.variables))
        for k in [k for k, kind in enumerate(kinds) if kind in odd]:
            keep[k] = False
            term, kind, row = self.variables[k], kinds[k], int(self.rows[k])
            if kind in native_numeric_types or kind is Scaled or not term.is_potentially_variable():
                self._constants.append((row, term))
            else:
                self.unusual.add(row)
        self._keep(keep)

    def _keep(self, kept: BoolArray) -> None:
        self.rows = self.rows[kept]
        self.variables = list(compress(self.variables, kept))
        factors = self._factors
        listed = isinstance(factors, list)
        self._factors = list(compress(factors, kept)) if listed else factors[kept]


def sides(values: list[Any], infinite: float, what: Callable[[int], str]) -> Numbers:
    """Return sides or bounds as numbers, None becoming ``infinite``."""
    return Numbers([infinite if item is None else item for item in values], what)
